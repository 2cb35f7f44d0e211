package topk

import "github.com/assay-suite/assay/kernels_test/bench"

// longScenarios are a row of 131,072 keys in 2,048 pages, of which the last is the best, and queries of more requests
// than a byte counts.
func longScenarios() []bench.Scenario {
	keys, requests := shapes("long", 16, 1<<17, 64, 1), shapes("many", 2, 6, 4, 300)
	requests[0].Dims["requests"] = 300
	return []bench.Scenario{
		{
			ID: "long", Why: "131,072 keys in 2,048 pages; the last one counts", Contracts: open, Shapes: keys,
			Change: func(g bench.Gen, p *bench.Problem) error {
				return bench.Each(func(i int, v float64) float64 {
					if i == g.Shape.Dim("width")-1 {
						return 100
					}
					return v
				}, "scores")(g, p)
			},
		},
		{ID: "long-requests", Why: "300 requests of one query", Contracts: open, Shapes: requests},
	}
}
