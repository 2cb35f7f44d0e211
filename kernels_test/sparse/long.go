package sparse

import "github.com/assay-suite/assay/kernels_test/bench"

const longWhy = "one dimension at a time beyond every tile, to the extents that ship: "

// longState: tokens, heads and channels.
func longState() bench.Scenario {
	return bench.Scenario{
		ID: "long", Why: longWhy + "tokens, heads and channels",
		Shapes: []bench.Shape{mergeShape(257, 1, 2), mergeShape(1, 128, 2), mergeShape(1, 1, 512)},
	}
}

// longStates: the same, and 64 splits of which the last is the heaviest.
func longStates() bench.Scenario {
	shape := func(states, tokens, heads, dim int) bench.Shape {
		return bench.S(slug("n%d-t%d-h%d-d%d", states, tokens, heads, dim), map[string]int{
			"states": states, "tokens": tokens, "heads": heads, "dim": dim,
		})
	}
	return bench.Scenario{
		ID: "long", Why: longWhy + "splits, tokens, heads and channels; the last split counts",
		Shapes: []bench.Shape{shape(64, 2, 2, 4), shape(2, 257, 1, 2), shape(2, 1, 128, 2), shape(2, 1, 1, 512)},
		Change: func(_ bench.Gen, p *bench.Problem) error {
			s := p.Operands["lse"].Shape
			p.Change("num_states", func(_ int, _ float64) float64 { return float64(s[0]) })
			p.Change("lse", func(i int, v float64) float64 {
				if i >= (s[0]-1)*s[1]*s[2] {
					return v + 6
				}
				return v
			})
			sealStates(p)
			return nil
		},
	}
}

// longRows: a chunk of more queries than a tile, contexts to 131,072 tokens, lists to 2,048 rows, and caches whose rows
// are counted beyond 20 bits.
func longRows() bench.Scenario {
	at := func(name string, requests, context, extend, k, ratio, window int) bench.Shape {
		return bench.S(name, map[string]int{
			"requests": requests, "context": context, "extend": extend, "top_k": k, "ratio": ratio, "window": window, "align": 4,
		})
	}
	return bench.Scenario{
		ID: "long", Why: longWhy + "queries, requests, context and list; rows of the cache beyond 2^20", Phase: "extend",
		Shapes: []bench.Shape{
			at("t257", 1, 40, 257, 4, 4, 8), at("b33", 33, 9, 2, 4, 4, 8), at("k2048", 1, 1<<17, 2, 2048, 2, 128),
		},
		Change: func(_ bench.Gen, p *bench.Problem) error {
			for _, name := range []string{"window_base", "compressed_base"} {
				p.Change(name, func(_ int, v float64) float64 { return v + 1<<20 })
			}
			return nil
		},
	}
}
