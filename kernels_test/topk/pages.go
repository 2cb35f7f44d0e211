package topk

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

var pages = bench.Family{
	Op: opPages, Slug: "topk-pages", Doc: pagesDoc(),
	Claim: "every slot MUST hold the row of the paged cache that its chosen key lies in: the exact best keys of the " +
		"query, ties as declared, then -1",
	Contracts: contracts(), Draw: drawPages, Expect: expectRows, Twins: twins,
	Scenarios: slices.Concat(scoreScenarios(true), lengthScenarios(true), pageScenarios(), relateScenarios(true),
		longScenarios()),
}

// pageScenarios are rows about the transform.
func pageScenarios() []bench.Scenario {
	var sizes []bench.Shape
	for _, size := range []int{1, 2, 4, 16, 64, 128, 256, 512} {
		s := nano(6)[0].With(fmt.Sprintf("nano-p%d-t6", size), "page", size)
		sizes = append(sizes, s)
	}
	return []bench.Scenario{
		{ID: "page-size", Why: "pages of every power of two from 1 to more than the row", Contracts: open, Shapes: sizes},
		{
			ID:        "page-edges",
			Why:       "lengths at the ends of pages, one less and one more",
			Contracts: open,
			Shapes:    join(nano(9), flash(6)),
			Change:    edit(lengths(func(g gen, t int) int { return (g.k/g.page+1+t/3)*g.page - 1 + t%3 })),
		},
		{
			ID:        "short-page-edges",
			Why:       "the same in rows that are not ranked",
			Contracts: open,
			Shapes:    nano(9),
			Change:    edit(lengths(func(g gen, t int) int { return (1+t/3)*g.page - 1 + t%3 })),
		},
		{
			ID:        "high-pages",
			Why:       "pages whose rows need 31 bits",
			Contracts: open,
			Shapes:    join(nano(6), flash(3)),
			Change: edit(func(g gen, p *bench.Problem) {
				p.Change("block_table", func(_ int, v float64) float64 { return float64((1<<31-1)/g.page) - v })
			}),
		},
		{
			ID:        "pages-in-reverse",
			Why:       "pages that lie in memory from the last to the first",
			Contracts: open,
			Shapes:    nano(6),
			Change: edit(func(_ gen, p *bench.Problem) {
				p.Change("block_table", func(i int, _ float64) float64 { return float64(300 - i) })
			}),
		},
		{
			ID:        "shared-prefix",
			Why:       "two requests whose first pages are the same",
			Contracts: open,
			Shapes:    nano(8),
			Change: edit(func(_ gen, p *bench.Problem) {
				width := p.In("block_table").Dim(1)
				own := slices.Clone(p.In("block_table").Data)
				p.Change("block_table", func(i int, v float64) float64 {
					if i/width > 0 && i%width < 4 {
						return own[i%width]
					}
					return v
				})
			}),
		},
		{
			ID:        "one-request",
			Why:       "all queries belong to the last sequence of the table",
			Contracts: open,
			Shapes:    nano(5),
			Change: edit(func(g gen, p *bench.Problem) {
				p.Change("request", func(int, float64) float64 { return float64(g.requests - 1) })
			}),
		},
		{
			ID:        "padded-table",
			Why:       "a table sliced out of a wider one",
			Contracts: open,
			Shapes:    nano(9),
			Layout:    map[string]bench.Layout{"block_table": {Lead: 2, Gap: 9, Tail: 3}},
		},
		{
			ID:        "table-by-page",
			Why:       "a table stored with sequences innermost",
			Contracts: open,
			Shapes:    nano(9),
			Layout:    map[string]bench.Layout{"block_table": {Swap: true, Lead: 1, Tail: 2}},
		},
		{
			ID:        "padded-request",
			Why:       "requests in the middle of a buffer",
			Contracts: open,
			Shapes:    nano(9),
			Layout:    map[string]bench.Layout{"request": {Lead: 5, Tail: 6}},
		},
	}
}
