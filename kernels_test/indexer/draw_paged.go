package indexer

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// decode is the shape of next_n queries a request, the first of request b at position first[b].
func decode(model string, bits, page, ratio, next int, first ...int) bench.Shape {
	dims := map[string]int{
		"heads": models[model][0], "dim": models[model][1], "bits": bits, "page": page, "ratio": ratio, "next": next,
		"req": len(first),
	}
	most := 0
	for b, p := range first {
		dims[slug("p%d", b)] = p
		most = max(most, p)
	}
	return bench.S(slug("%s-%s-page%d-r%d-b%d-n%d-p%d", model, formats[bits], page, ratio, len(first), next, most), dims)
}

// extend is the same for a chunk of a prefill, where the kernel is told how many keys earlier chunks have stored.
func extend(model string, bits, page, ratio, next int, first ...int) bench.Shape {
	return decode(model, bits, page, ratio, next,
		first...).With(slug("%s-%s-page%d-r%d-b%d-chunk%d-p%d", model, formats[bits], page, ratio, len(first), next,
		slices.Max(first)), "extend", 1)
}

// drawPaged draws keys of every request into pages of a shuffled pool. Entries beyond the last page are stale: they
// name pages that belong to others.
func drawPaged(g bench.Gen) (bench.Problem, error) {
	s := g.Shape
	heads, dim, bits, n, page := s.Dim("heads"), s.Dim("dim"), s.Dim("bits"), s.Dim("next"), s.Dim("page")
	reqs := s.Dim("req")
	var lens, prefix, longest []int
	most, pages := 0, 0
	for b := range reqs {
		first := s.Dim(slug("p%d", b))
		for i := range n {
			lens = append(lens, oracle.Visible(first+i, s.Dim("ratio")))
		}
		last := lens[len(lens)-1]
		longest, prefix = append(longest, last), append(prefix, oracle.Visible(first-1, s.Dim("ratio")))
		most, pages = max(most, last), pages+(last+page-1)/page
	}
	pages += max(3, s.Dim("spare"))
	free := g.Perm(pages)
	if first := s.Dim("first"); first > 0 {
		for i := range free {
			free[i] += first
		}
		pages += first
	}
	table, err := oracle.BuildPageTable(longest, page, free, (most+page-1)/page+1)
	if err != nil {
		return bench.Problem{}, err
	}
	p := bench.Problem{
		Attrs: bench.Attrs{"page_size": float64(page), "page_format": formats[bits], "clean_logits": true, "num_splits": 1.0},
		Operands: map[string]bench.Operand{
			"q":       drawQueries(g, bits, reqs*n, heads, dim, reqs, n, heads, dim),
			"weights": drawWeights(g, reqs*n, heads, dim), "context_lens": bench.Ints(lens, reqs, n),
			"block_table": stale(g, table, pages),
		},
		Outputs: out(g, reqs*n, most+3),
	}
	if s.Dim("extend") == 1 {
		p.Operands["prefix_lens"] = bench.Ints(prefix, reqs)
	}
	var keys []oracle.Mat
	for b, l := range longest {
		if n := s.Dim("shared"); n > 0 { // n pages, which stand in a table again and again
			for i := range p.Operands["block_table"].Values {
				p.Operands["block_table"].Values[i] = float64(i % n)
			}
			table[b], l = bench.Span(0, n), n*page
			pages = n + 2
		}
		keys = append(keys, oracle.Mat{Rows: l, Cols: dim, Data: vectors(g, l, dim, 1)})
	}
	if err := writePages(g, &p, table, keys, pages, dim); err != nil {
		return bench.Problem{}, err
	}
	sealPaged(&p)
	return p, nil
}

// stale fills missing entries of a table with pages of the pool.
func stale(g bench.Gen, table oracle.PageTable, pages int) bench.Operand {
	var flat []int
	width := 1
	for _, row := range table {
		width = len(row)
		for _, id := range row {
			if id < 0 {
				id = g.IntN(pages)
			}
			flat = append(flat, id)
		}
	}
	return bench.Ints(flat, len(table), width)
}

// writePages stores keys in a pool that else holds bytes like those of real keys.
func writePages(g bench.Gen, p *bench.Problem, table oracle.PageTable, keys []oracle.Mat, pages, dim int) error {
	layout, err := pageLayout(p.Attrs.Word("page_format"), p.Attrs.Int("page_size"), dim)
	if err != nil {
		return err
	}
	r, err := recipe(p.Attrs.Word("page_format"), "fp32", dim)
	if err != nil {
		return err
	}
	cache := oracle.NewBytePages(layout, pages, 0)
	for _, page := range cache.Pages {
		for i := range page {
			page[i] = byte(g.IntN(120))
		}
	}
	for b, k := range keys {
		if err := cache.Write(table[b], 0, k, r); err != nil {
			return err
		}
	}
	p.Operands["pages"] = poolOf(cache)
	return nil
}

func poolOf(cache oracle.BytePages) bench.Operand {
	return bench.Bytes(slices.Concat(cache.Pages...), len(cache.Pages), cache.Layout.Size)
}

// owners tells for every byte of a page which token it belongs to, -1 for none.
func owners(name string, page, dim int) []int {
	var out []int
	fill := func(n int, f func(i int) int) {
		for i := range n {
			out = append(out, f(i))
		}
	}
	switch name {
	case "fp8":
		fill(page*dim, func(i int) int { return i / dim })
		fill(page*4, func(i int) int { return i / 4 })
	case "bf16":
		fill(page*dim*2, func(i int) int { return i / (2 * dim) })
	default:
		fill(page*dim/2, func(i int) int { return i / (dim / 2) })
		fill(page*4, func(i int) int {
			if i%4 >= dim/32 {
				return -1
			}
			return i / 4
		})
	}
	return out
}

// longestOf is the longest context of every request.
func longestOf(p bench.Problem) []int {
	lens := p.In("context_lens")
	var out []int
	for b := range lens.Dim(0) {
		n := 0.0
		for _, v := range lens.Row(b) {
			n = max(n, v)
		}
		out = append(out, int(n))
	}
	return out
}

// sealPaged marks what no query reads: tokens beyond contexts, pages of nobody, entries of tables beyond the last page.
func sealPaged(p *bench.Problem) {
	page, dim := p.Attrs.Int("page_size"), p.In("q").Dim(3)
	pool, table := p.In("pages"), p.In("block_table")
	longest, entries, width := longestOf(*p), p.In("block_table").Ints(), table.Dim(1)
	read := make([]bool, pool.Dim(0)*page)
	for b, n := range longest {
		for j := range n {
			if at := entries[b*width+j/page]*page + j%page; at < len(read) {
				read[at] = true
			}
		}
	}
	owner := owners(p.Attrs.Word("page_format"), page, dim)
	size := len(owner)
	p.Unread = map[string]func(int) bool{
		"pages": func(i int) bool { o := owner[i%size]; return o < 0 || !read[i/size*page+o] },
		"block_table": func(i int) bool {
			return i%width >= (longest[i/width]+page-1)/page
		},
	}
}
