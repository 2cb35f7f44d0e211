package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

// oneChunk drops the history: the keys that earlier chunks stored are not there. A call without any is cut to its last
// queries, so that no relation cuts it into chunks.
func oneChunk(_ bench.Gen, p *bench.Problem) bool {
	if _, ok := p.Operands["prefix_lens"]; !ok {
		return false
	}
	history := false
	prefix := p.In("prefix_lens").Ints()
	for _, n := range prefix {
		history = history || n > 0
	}
	n := p.In("context_lens").Dim(1)
	if !history {
		var last []piece
		for _, x := range whole(*p) {
			last = append(last, piece{x.b, max(n-3, 0), n})
		}
		*p, _ = cutPaged(*p, last)
		p.Change("prefix_lens", func(int, float64) float64 { return 0 })
		return n > 3
	}
	repackFrom(p, p.Attrs.Int("page_size"), prefix)
	p.Change("context_lens", func(i int, v float64) float64 { return v - float64(prefix[i/n]) })
	p.Change("prefix_lens", func(int, float64) float64 { return 0 })
	sealPaged(p)
	return true
}

// repack lays the keys down on pages of another size, request by request and in order.
func repack(p *bench.Problem, page int) {
	repackFrom(p, page, make([]int, p.In("context_lens").Dim(0)))
	p.Attrs["page_size"] = float64(page)
	sealPaged(p)
}

// repackFrom leaves out the first keys of every request; the page size of the problem is not changed.
func repackFrom(p *bench.Problem, page int, first []int) {
	was, name, dim := p.Attrs.Int("page_size"), p.Attrs.Word("page_format"), p.In("q").Dim(3)
	from, to := bytesOf(name, was, dim), bytesOf(name, page, dim)
	pool, table := p.In("pages"), p.In("block_table")
	size := len(owners(name, page, dim))
	width := 1
	longest := longestOf(*p)
	for b, n := range longest {
		width = max(width, (n-first[b]+page-1)/page+1)
	}
	ids := make([]int, len(longest)*width)
	out := make([]float64, len(ids)*size)
	for b, n := range longest {
		for i := range width {
			ids[b*width+i] = b*width + i
		}
		for j := first[b]; j < n; j++ {
			at := j - first[b]
			old := pool.Row(int(table.Row(b)[j/was]))
			fresh := out[(b*width+at/page)*size:]
			for i, where := range from[j%was] {
				fresh[to[at%page][i]] = old[where]
			}
		}
	}
	p.Operands["pages"] = bench.Operand{DType: bench.U8, Shape: []int{len(ids), size}, Values: out}
	p.Operands["block_table"] = bench.Ints(ids, len(longest), width)
	delete(p.Layout, "pages")
	delete(p.Layout, "block_table")
}

// bytesOf lists the offsets of every token's bytes in a page, in order.
func bytesOf(name string, page, dim int) [][]int {
	out := make([][]int, page)
	for at, token := range owners(name, page, dim) {
		if token >= 0 {
			out[token] = append(out[token], at)
		}
	}
	return out
}
