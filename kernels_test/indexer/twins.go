package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// positive makes every dot product and every weight positive.
func positive(g bench.Gen, p *bench.Problem) bool {
	return bench.All(coherent, nonNegative)(g, p) == nil
}

// tailless takes the last head and the last channel out of the result.
func tailless(_ bench.Gen, p *bench.Problem) bool {
	shape := p.In("q").Shape
	dim, heads := shape[len(shape)-1], shape[len(shape)-2]
	p.Change("q", func(i int, v float64) float64 {
		if i%dim == dim-1 {
			return 0
		}
		return v
	})
	p.Change("weights", func(i int, v float64) float64 {
		if i%heads == heads-1 {
			return 0
		}
		return v
	})
	return true
}

// dotsOfGrid lets q and k hold small whole numbers that no accumulator rounds, and weights powers of two.
func dotsOfGrid(g bench.Gen, p *bench.Problem) bool {
	p.Change("q", func(_ int, v float64) float64 { return sign(v) })
	p.Change("weights", func(_ int, v float64) float64 { return sign(v) })
	err := redrawn(func(_ bench.Gen, _, _, d int) float64 {
		if d%8 == 0 {
			return 448
		}
		return 0
	})(g, p)
	return err == nil
}

func sign(v float64) float64 {
	if v < 0 {
		return -1
	}
	return 1
}

// equalScales gives all keys one size.
func equalScales(g bench.Gen, p *bench.Problem) bool {
	return redrawn(func(g bench.Gen, _, _, d int) float64 {
		if d == 0 {
			return 448
		}
		return math.Round(60 * (g.NormFloat64() + 0.5*direction(d)))
	})(g, p) == nil
}

func raggedTwins() []bench.Twin {
	return []bench.Twin{
		bench.Dense(),
		{Class: "mask-edge", Name: "every query sees every key", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			if p.Attrs.Int("max_seqlen_k") > 0 {
				return false
			}
			n := float64(p.In("k").Dim(0))
			p.Change("start", func(int, float64) float64 { return 0 })
			p.Change("end", func(int, float64) float64 { return n })
			sealRagged(p)
			return true
		}},
		{Class: "scale", Name: "keys of scale 1", Apply: equalScales},
		bench.Level("layout", "equal head weights", 0.0625, "weights"),
		{Class: "gate", Name: "no negative dot product or weight", Apply: positive},
		{Class: "tile", Name: "a last head and a last channel that count for nothing", Apply: tailless},
		{Class: "accumulation", Name: "values that no accumulator rounds", Apply: dotsOfGrid},
	}
}

func pagedTwins() []bench.Twin {
	return []bench.Twin{
		{Class: "chunk-state", Name: "all keys in one chunk", Apply: oneChunk},
		bench.Dense(),
		{Class: "batch", Name: "the first request alone", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			w := whole(*p)
			if len(w) < 2 {
				return false
			}
			*p, _ = cutPaged(*p, w[:1])
			return true
		}},
		{Class: "paging", Name: "one request on one page", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			*p, _ = cutPaged(*p, whole(*p)[:1])
			repack(p, max(longestOf(*p)[0], 1))
			return true
		}},
		{Class: "paging", Name: "pages of one token", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			was := p.Attrs.Int("page_size")
			repack(p, 1)
			return was > 1
		}},
		bench.Fixed("split", "one split", bench.Attrs{"num_splits": 1.0}),
		{
			Class: "mask-edge",
			Name:  "every query sees every key of its request",
			Apply: func(_ bench.Gen, p *bench.Problem) bool {
				longest := longestOf(*p)
				n := 0
				for _, l := range longest {
					n = max(n, l)
				}
				for b, l := range longest {
					if l != n {
						// requests of other lengths borrow the longest one's pages
						copyRow(p, b, longest, n)
					}
				}
				p.Change("context_lens", func(int, float64) float64 { return float64(n) })
				p.Resize("logits", p.Outputs["logits"].Shape[0], max(n, 1))
				sealPaged(p)
				return n > 0
			},
		},
		{Class: "scale", Name: "keys of scale 1", Apply: equalScales},
		{
			Class: "scale-layout",
			Name:  "keys of scale 1 on pages of one token",
			Apply: func(g bench.Gen, p *bench.Problem) bool {
				repack(p, 1)
				return equalScales(g, p)
			},
		},
		{Class: "encoding", Name: "channels equal in pairs and scales of 1", Apply: equalPairs},
		bench.Level("layout", "equal head weights", 0.0625, "weights"),
		{Class: "gate", Name: "no negative dot product or weight", Apply: positive},
		{Class: "tile", Name: "a last head and a last channel that count for nothing", Apply: tailless},
		{Class: "accumulation", Name: "values that no accumulator rounds", Apply: dotsOfGrid},
	}
}

// copyRow gives request b the table of a request with n keys.
func copyRow(p *bench.Problem, b int, longest []int, n int) {
	table := p.Operands["block_table"]
	width := table.Shape[1]
	for from, l := range longest {
		if l == n {
			copy(table.Values[b*width:(b+1)*width], table.Values[from*width:(from+1)*width])
			return
		}
	}
}

// equalPairs gives keys of scale 1 whose channels 2i and 2i+1 are equal codes.
func equalPairs(g bench.Gen, p *bench.Problem) bool {
	codes := [8]float64{1, 2, -3, 4, 1, 3, -2, 4}
	return redrawn(func(_ bench.Gen, _, j, d int) float64 {
		if d < 2 {
			return 448
		}
		return 64 * codes[(j+d/2)%8] * direction(d/2)
	})(g, p) == nil
}
