package dense

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// piece is some queries of some requests of a problem: queries [from, to) of request b.
type piece struct{ b, from, to int }

// cut is the problem of some pieces alone: with causal masks, query i of n with L keys becomes the last but to-1-i of
// the keys up to its piece's end. Without causal masks and windows pieces may only be whole requests.
func cut(p bench.Problem, pieces []piece) bench.Problem {
	out := p.Clone()
	indptr, lens := p.In("qo_indptr").Ints(), lengths(p)
	at, sizes := []int{0}, []int{}
	var rows []int
	for _, c := range pieces {
		n := indptr[c.b+1] - indptr[c.b]
		at = append(at, at[len(at)-1]+c.to-c.from)
		sizes = append(sizes, lens[c.b]-(n-c.to))
		for i := c.from; i < c.to; i++ {
			rows = append(rows, indptr[c.b]+i)
		}
	}
	for _, name := range []string{"q", "q_nope", "q_pe", "workspace"} {
		if o, ok := p.Operands[name]; ok {
			out.Operands[name] = pick(o, rows)
		}
	}
	for name, o := range p.Outputs {
		o.Shape = append([]int{len(rows)}, o.Shape[1:]...)
		out.Outputs[name] = o
	}
	out.Operands["qo_indptr"] = bench.Ints(at, len(at))
	if from, ok := p.Operands["kv_indptr"]; ok {
		var tokens []int
		bounds := []int{0}
		for i, c := range pieces {
			for j := range sizes[i] {
				tokens = append(tokens, int(from.Values[c.b])+j)
			}
			bounds = append(bounds, len(tokens))
		}
		out.Operands["kv_indptr"] = bench.Ints(bounds, len(bounds))
		for _, name := range []string{"k", "v"} {
			out.Operands[name] = pick(p.Operands[name], tokens)
		}
	} else {
		var requests []int
		for _, c := range pieces {
			requests = append(requests, c.b)
		}
		out.Operands["page_table"] = pick(p.Operands["page_table"], requests)
		out.Operands["seq_lens"] = bench.Ints(sizes, len(sizes))
	}
	out.Layout = map[string]bench.Layout{}
	seal(&out)
	return out
}

// pick is an operand with some of its rows.
func pick(o bench.Operand, rows []int) bench.Operand {
	n := perRow(o)
	out := bench.Operand{DType: o.DType, Shape: append([]int{len(rows)}, o.Shape[1:]...)}
	for _, r := range rows {
		out.Values = append(out.Values, o.Values[r*n:(r+1)*n]...)
	}
	return out
}

// parts runs each list of pieces as a call of its own and puts the rows back where they were.
func parts(p bench.Problem, calls ...[]piece) bench.Relation {
	r := bench.Relation{}
	for _, c := range calls {
		r.Parts = append(r.Parts, cut(p, c))
	}
	r.Join = joined(p, calls)
	return r
}

func joined(p bench.Problem, calls [][]piece) func([]bench.Results) (bench.Results, error) {
	indptr := p.In("qo_indptr").Ints()
	return func(parts []bench.Results) (bench.Results, error) {
		out := bench.Results{}
		for name, o := range p.Outputs {
			width := 1
			for _, d := range o.Shape[1:] {
				width *= d
			}
			whole := make([]float64, o.Shape[0]*width)
			for i, pieces := range calls {
				v, at := parts[i][name], 0
				for _, c := range pieces {
					n := (c.to - c.from) * width
					if at+n > len(v) {
						return nil, fmt.Errorf("part %d has %d elements of %q, and its pieces %d", i, len(v), name, at+n)
					}
					copy(whole[(indptr[c.b]+c.from)*width:], v[at:at+n])
					at += n
				}
			}
			out[name] = whole
		}
		return out, nil
	}
}

// whole are all requests of a problem as pieces.
func whole(p bench.Problem) []piece {
	indptr := p.In("qo_indptr").Ints()
	var out []piece
	for b := range len(indptr) - 1 {
		out = append(out, piece{b, 0, indptr[b+1] - indptr[b]})
	}
	return out
}

// alone: each request as a batch of one.
func alone(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	var calls [][]piece
	for _, c := range whole(p) {
		calls = append(calls, []piece{c})
	}
	return parts(p, calls...), nil
}

// permuted: the batch in another order.
func permuted(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	w := whole(p)
	g.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
	slices.Reverse(w)
	return parts(p, w), nil
}

// steps: m queries one after the other, each a call of all requests that have one: verify against decode steps.
func steps(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	var calls [][]piece
	for i := 0; ; i++ {
		var now []piece
		for _, c := range whole(p) {
			if i < c.to {
				now = append(now, piece{c.b, i, i + 1})
			}
		}
		if now == nil {
			return parts(p, calls...), nil
		}
		calls = append(calls, now)
	}
}

// chunked cuts the queries at positions one below, at and above every multiple of the edges.
func chunked(edges ...int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		lens := lengths(p)
		var calls [][]piece
		for _, c := range whole(p) {
			start, from := lens[c.b]-c.to, 0
			for i := 1; i <= c.to; i++ {
				if i == c.to || atEdge(start+i, edges) {
					calls = append(calls, []piece{{c.b, from, i}})
					from = i
				}
			}
		}
		return parts(p, calls...), nil
	}
}

func atEdge(position int, edges []int) bool {
	for _, e := range edges {
		if r := position % e; r <= 1 || r == e-1 {
			return true
		}
	}
	return false
}

// contiguous: the same call without padding.
func contiguous(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	return parts(p, whole(p)), nil
}

// moved is a problem whose pages lie elsewhere, in a pool of as many pages; what no table names holds other values.
func moved(g bench.Gen, p bench.Problem) bench.Problem {
	out := p.Clone()
	pages := 0
	for _, name := range caches {
		if o, ok := p.Operands[name]; ok {
			pages = o.Shape[0]
		}
	}
	to := g.Perm(pages)
	named := map[int]bool{}
	table := p.In("page_table").Ints()
	hidden := p.Unread["page_table"]
	for i, id := range table {
		if hidden == nil || !hidden(i) {
			named[id] = true
		}
	}
	out.Change("page_table", func(_ int, v float64) float64 { return float64(to[int(v)]) })
	for _, name := range caches {
		o, ok := out.Operands[name]
		if !ok {
			continue
		}
		n, from := perRow(o), p.Operands[name].Values
		for id := range pages {
			block := o.Values[to[id]*n : (to[id]+1)*n]
			copy(block, from[id*n:(id+1)*n])
			if !named[id] {
				for i := range block {
					block[i] = bench.Round(o.DType, g.NormFloat64())
				}
			}
		}
	}
	seal(&out)
	return out
}

var caches = []string{"k_cache", "v_cache", "ckv_cache", "kpe_cache"}

// shuffled: the same call over pages that lie elsewhere.
func shuffled(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	return parts(moved(g, p), whole(p)), nil
}

// resumed: each request stops halfway, loses its pages and goes on over others: preemption, and defragmentation in the
// middle of a request.
func resumed(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	first, second := []piece{}, []piece{}
	for _, c := range whole(p) {
		half := (c.to + 1) / 2
		first, second = append(first, piece{c.b, 0, half}), append(second, piece{c.b, half, c.to})
	}
	r := parts(p, first, second)
	r.Parts[1] = cut(moved(g, p), second)
	return r, nil
}

// owned: requests that share a prefix's pages, each with pages of its own that hold the same: prefix hit against miss.
func owned(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	out := p.Clone()
	table, page, lens := p.In("page_table"), p.Attrs.Int("page_size"), lengths(p)
	width, entries := table.Dim(1), table.Ints()
	ids := make([]int, len(entries))
	var from []int
	for b, n := range lens {
		for i := range width {
			if i < (n+page-1)/page {
				ids[b*width+i] = len(from)
				from = append(from, entries[b*width+i])
			}
		}
	}
	out.Operands["page_table"] = bench.Ints(ids, len(lens), width)
	for _, name := range caches {
		if o, ok := p.Operands[name]; ok {
			out.Operands[name] = pick(o, from)
		}
	}
	seal(&out)
	return parts(out, whole(p)), nil
}

// shared lets all requests start with the first one's pages, as many as all have in full.
func shared(_ bench.Gen, p *bench.Problem) error {
	table, page := p.In("page_table"), p.Attrs.Int("page_size")
	common := slices.Min(lengths(*p)) / page
	width := table.Dim(1)
	p.Change("page_table", func(i int, v float64) float64 {
		if i%width < common {
			return table.Data[i%width]
		}
		return v
	})
	seal(p)
	return nil
}

// gqaRelated: metamorphic restatements of the same attention.
func gqaRelated() []bench.Scenario {
	batch := []req{{3, 20}, {1, 9}, {4, 4}, {2, 17}}
	long := []req{{21, 21}, {14, 30}}
	rows := []bench.Scenario{
		{
			ID:      "batch-is-alone",
			Why:     "each request gives the same result as alone",
			Phase:   "extend",
			Shapes:  []bench.Shape{shape("odd", 4, batch...), shape("odd", 0, batch...)},
			Relate:  alone,
			Catches: []string{"S9 flashinfer-ai/flashinfer#3047"},
		},
		{
			ID:     "batch-permuted",
			Why:    "the order of the batch does not matter",
			Phase:  "extend",
			Shapes: []bench.Shape{shape("odd", 4, batch...), shape("odd", 0, batch...)},
			Relate: permuted,
		},
		{
			ID:      "chunked-is-one-shot",
			Why:     "prefill in chunks that end one below, at and above every page of 4 and window of 7",
			Phase:   "prefill",
			Shapes:  []bench.Shape{shape("odd", 4, long...), shape("odd", 0, long...)},
			Change:  bench.Set(bench.Attrs{"window_left": 6.0}),
			Relate:  chunked(4, 7),
			Catches: []string{"V4 tenstorrent/vllm#415", "S12 HabanaAI/vllm-hpu-extension#413"},
		},
		{
			ID:     "chunked-tile-edge",
			Why:    "the same around tiles of 16",
			Phase:  "prefill",
			Shapes: []bench.Shape{shape("mha", 16, req{34, 34})},
			Relate: chunked(16),
		},
		{
			ID:     "verify-is-decode",
			Why:    "a verify step of m tokens gives the same result as m decode steps",
			Phase:  "extend",
			Shapes: []bench.Shape{shape("odd", 4, req{4, 20}, req{4, 9}, req{4, 4})},
			Relate: steps,
		},
		{
			ID:      "pages-shuffled",
			Why:     "where pages lie does not matter",
			Phase:   "extend",
			Shapes:  []bench.Shape{shape("odd", 4, batch...)},
			Relate:  shuffled,
			Catches: []string{"V3 tanishqkumar/ssd#23"},
		},
		{
			ID:     "preempt-resume",
			Why:    "a request that continues on other pages, its old ones overwritten",
			Phase:  "extend",
			Shapes: []bench.Shape{shape("odd", 4, batch...)},
			Relate: resumed,
		},
		{
			ID:      "prefix-hit-is-miss",
			Why:     "requests that share the pages of a prefix give the same result as with copies of their own",
			Phase:   "extend",
			Shapes:  []bench.Shape{shape("odd", 4, req{3, 20}, req{1, 13}, req{4, 17})},
			Change:  shared,
			Relate:  owned,
			Catches: []string{"V3 tanishqkumar/ssd#23", "V4 tenstorrent/vllm#415"},
		},
	}
	for i := range rows {
		rows[i].Contracts = []string{"fp8-kv", []string{"fp32", "bf16-p-bf16"}[i%2]}
		if len(rows[i].Shapes) > 1 {
			rows[i].Contracts = rows[i].Contracts[:1]
		}
	}
	return rows
}
