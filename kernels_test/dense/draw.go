package dense

import (
	"fmt"
	"maps"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

func slug(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// req is one request of a batch: new tokens (queries) and keys in all.
type req struct{ q, kv int }

// shape is a batch at a model's sizes: page 0 is ragged. Requests are dimensions q0, kv0, q1, kv1, ...
func shape(model string, page int, reqs ...req) bench.Shape {
	dims := map[string]int{"page": page, "requests": len(reqs)}
	var most, tokens int
	for i, r := range reqs {
		dims[slug("q%d", i)], dims[slug("kv%d", i)] = r.q, r.kv
		most, tokens = max(most, r.kv), tokens+r.q
	}
	maps.Copy(dims, models[model])
	name := slug("%s-page%d-b%d-t%d-l%d", model, page, len(reqs), tokens, most)
	if page == 0 {
		name = slug("%s-ragged-b%d-t%d-l%d", model, len(reqs), tokens, most)
	}
	return bench.S(name, dims)
}

// models are sizes: the nano model's four heads, a rank of a grouped model with 8 query heads to a key-value head, odd
// groups with values narrower than keys, sixteen key-value heads as Gemma 2 has, narrow heads for many keys; and latent
// ones, V3.2's with its heads sampled to few.
var models = map[string]map[string]int{
	"nano":     {"heads": 4, "kv-heads": 2, "dim": 64, "values": 64},
	"grouped8": {"heads": 8, "kv-heads": 1, "dim": 128, "values": 128},
	"odd":      {"heads": 6, "kv-heads": 3, "dim": 24, "values": 16},
	"kv16":     {"heads": 16, "kv-heads": 16, "dim": 16, "values": 16},
	"mha":      {"heads": 3, "kv-heads": 3, "dim": 16, "values": 16},
	"narrow":   {"heads": 4, "kv-heads": 1, "dim": 32, "values": 32},
	"mla-nano": {"heads": 4, "rank": 48, "rope": 16, "nope": 32},
	"v32":      {"heads": 3, "rank": 512, "rope": 64, "nope": 128},
}

// batch reads the requests of a shape.
func batch(s bench.Shape) []req {
	out := make([]req, s.Dim("requests"))
	for i := range out {
		out[i] = req{s.Dim(slug("q%d", i)), s.Dim(slug("kv%d", i))}
	}
	return out
}

// running is the running sum of f over requests.
func running(reqs []req, f func(req) int) []int {
	out := []int{0}
	for _, r := range reqs {
		out = append(out, out[len(out)-1]+f(r))
	}
	return out
}

func queries(r req) int { return r.q }
func keys(r req) int    { return r.kv }

// cacheDType is how a contract stores keys and values, dtype how it stores the rest.
func cacheDType(c string) string {
	if c == "fp8-kv" {
		return bench.E4M3
	}
	return dtype(c)
}

func dtype(c string) string {
	if c == "fp32" {
		return bench.F32
	}
	return bench.BF16
}

// stored draws the elements of a cache: a standard deviation near 1 and a mean off 0 after the scale, so that no factor
// and no missing key hides behind zero means.
func stored(g bench.Gen, n int, scale, mean float64) []float64 {
	out := g.Normal(n, 1)
	for i := range out {
		if out[i] += mean; g.Contract.Name == "fp8-kv" {
			out[i] /= scale
		}
	}
	return out
}

// spare is how many pages more than needed a pool has.
const spare = 3

// addPages gives a batch its page table over a shuffled pool. Entries beyond the last page are stale: they name pages
// that belong to others.
func addPages(g bench.Gen, p *bench.Problem, reqs []req, page int) (pages int, err error) {
	lengths := make([]int, len(reqs))
	need, width := 0, 1
	for i, r := range reqs {
		lengths[i] = r.kv
		n := (r.kv + page - 1) / page
		need, width = need+n, max(width, n+1)
	}
	if full(reqs, page) {
		width--
	}
	if pool := g.Shape.Dim("pool"); pool > 0 {
		return pool, sharedPages(g, p, lengths, page, pool, width)
	}
	pages = need
	if !full(reqs, page) {
		pages += spare
	}
	table, err := oracle.BuildPageTable(lengths, page, g.Perm(max(pages, 1)), width)
	if err != nil {
		return 0, err
	}
	tabled(g, p, table, lengths, page, max(pages, 1))
	return max(pages, 1), nil
}

// tabled stores page tables, stale ids in the place of missing ones.
func tabled(g bench.Gen, p *bench.Problem, table oracle.PageTable, lengths []int, page, pages int) {
	var flat []int
	width := 0
	for _, row := range table {
		width = len(row)
		for _, id := range row {
			if id < 0 {
				id = g.IntN(pages)
			}
			flat = append(flat, id)
		}
	}
	p.Operands["page_table"] = bench.Ints(flat, len(lengths), width)
	p.Operands["seq_lens"] = bench.Ints(lengths, len(lengths))
	p.Attrs["page_size"] = float64(page)
}

// sharedPages lets requests share a pool that is smaller than what they hold together, each in its own order.
func sharedPages(g bench.Gen, p *bench.Problem, lengths []int, page, pool, width int) error {
	table := make(oracle.PageTable, len(lengths))
	for b, n := range lengths {
		one, err := oracle.BuildPageTable([]int{n}, page, g.Perm(pool), width)
		if err != nil {
			return err
		}
		table[b] = one[0]
	}
	tabled(g, p, table, lengths, page, pool)
	return nil
}

// largeShape is a decode launch of production size.
func largeShape() bench.Shape {
	reqs := make([]req, 64)
	for i := range reqs {
		reqs[i] = req{1, 8192 - i*37%300}
	}
	reqs[1].kv, reqs[63].kv = 1, 4097
	s := shape("narrow", 16, reqs...)
	s.Dims["pool"] = 1024
	return s
}

// padded adds rows that belong to no request.
func padded(n int) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		for _, name := range []string{"q", "q_nope", "q_pe", "workspace"} {
			if o, ok := p.Operands[name]; ok {
				o.Values = append(o.Values, bench.RoundAll(o.DType, g.Normal(n*perRow(o), 1))...)
				o.Shape = append([]int{o.Shape[0] + n}, o.Shape[1:]...)
				p.Operands[name] = o
			}
		}
		for name, o := range p.Outputs {
			o.Shape = append([]int{o.Shape[0] + n}, o.Shape[1:]...)
			p.Outputs[name] = o
		}
		seal(p)
		return nil
	}
}

// highPages moves the pages in use to the end of a pool of n.
func highPages(n int) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		more := 0
		for _, name := range caches {
			o, ok := p.Operands[name]
			if !ok {
				continue
			}
			more = n - o.Shape[0]
			o.Values = append(bench.RoundAll(o.DType, g.Normal(more*perRow(o), 1)), o.Values...)
			o.Shape = append([]int{n}, o.Shape[1:]...)
			p.Operands[name] = o
		}
		p.Change("page_table", func(_ int, v float64) float64 { return v + float64(more) })
		seal(p)
		return nil
	}
}

// full tells whether every page of a batch is full and all tables are equally long: then the pool has no other page,
// and whatever a kernel reads is somebody's row.
func full(reqs []req, page int) bool {
	for _, r := range reqs {
		if r.kv == 0 || r.kv%page != 0 || r.kv != reqs[0].kv {
			return false
		}
	}
	return len(reqs) > 0
}

// seal marks what no correct kernel reads, from the operands as they are.
func seal(p *bench.Problem) {
	p.Unread = map[string]func(int) bool{}
	indptr := p.In("qo_indptr").Ints()
	for _, name := range []string{"q", "q_nope", "q_pe"} {
		if o, ok := p.Operands[name]; ok && indptr[len(indptr)-1] < o.Shape[0] {
			at := indptr[len(indptr)-1] * perRow(o)
			p.Unread[name] = func(i int) bool { return i >= at }
		}
	}
	if _, ok := p.Operands["workspace"]; ok {
		p.Unread["workspace"] = func(int) bool { return true }
	}
	if kv, ok := p.Operands["kv_indptr"]; ok {
		last := int(kv.Values[len(kv.Values)-1])
		for _, name := range []string{"k", "v"} {
			if o := p.Operands[name]; last < o.Shape[0] {
				at := last * perRow(o)
				p.Unread[name] = func(i int) bool { return i >= at }
			}
		}
		return
	}
	table, lens, page := p.In("page_table"), p.In("seq_lens").Ints(), p.Attrs.Int("page_size")
	width := table.Dim(1)
	entries := table.Ints()
	read := map[int]bool{} // rows of the pool
	for b, n := range lens {
		for j := range n {
			read[entries[b*width+j/page]*page+j%page] = true
		}
	}
	stale := false
	for b, n := range lens {
		stale = stale || (n+page-1)/page < width && b >= 0
	}
	if stale {
		p.Unread["page_table"] = func(i int) bool { return i%width >= (lens[i/width]+page-1)/page }
	}
	for _, name := range []string{"k_cache", "v_cache", "ckv_cache", "kpe_cache"} {
		if o, ok := p.Operands[name]; ok && len(read) < o.Shape[0]*o.Shape[1] {
			n := len(o.Values) / (o.Shape[0] * o.Shape[1])
			p.Unread[name] = func(i int) bool { return !read[i/n] }
		}
	}
}

func perRow(o bench.Operand) int {
	n := 1
	for _, d := range o.Shape[1:] {
		n *= d
	}
	return n
}

// softmaxScale is not the usual D^-1/2, so that a kernel which makes up its own is seen.
func softmaxScale(d int) float64 { return float64(float32(1.3 / math.Sqrt(float64(d)))) }

// captured makes a call one that replays a graph captured with half as long sequences.
func captured(_ bench.Gen, p *bench.Problem) error {
	first := p.Clone()
	short := lengths(first)
	for b, n := range short {
		short[b] = (n + 1) / 2
	}
	shorten(&first, short)
	first.Layout = map[string]bench.Layout{}
	first.Mode = "graph"
	p.Mode, p.CaptureWith = "graph", &first
	return nil
}
