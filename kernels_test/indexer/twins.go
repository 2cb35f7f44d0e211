package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// dense takes all padding away.
func dense(_ bench.Gen, p *bench.Problem) bool {
	changed := false
	for _, l := range p.Layout {
		changed = changed || l != (bench.Layout{})
	}
	p.Layout = map[string]bench.Layout{}
	return changed
}

// positiveDots makes every dot product positive.
func positiveDots(g bench.Gen, p *bench.Problem) bool {
	return coherent(g, p) == nil
}

// dotsOfGrid lets q and k hold small whole numbers that no accumulator rounds, and weights powers of two.
func dotsOfGrid(g bench.Gen, p *bench.Problem) bool {
	p.Change("q", func(_ int, v float64) float64 { return sign(v) })
	p.Change("weights", func(_ int, v float64) float64 { return sign(v) })
	err := redrawn(func(g bench.Gen, _, _, d int) float64 {
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

func equalWeights(_ bench.Gen, p *bench.Problem) bool {
	p.Change("weights", func(int, float64) float64 { return 0.0625 })
	return true
}

func raggedTwins() []bench.Twin {
	return []bench.Twin{
		{Class: "strides", Name: "dense operands", Apply: dense},
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
		{Class: "layout", Name: "equal head weights", Apply: equalWeights},
		{Class: "gate", Name: "no negative dot product", Apply: positiveDots},
		{Class: "accumulation", Name: "values that no accumulator rounds", Apply: dotsOfGrid},
	}
}

func pagedTwins() []bench.Twin {
	return []bench.Twin{
		{Class: "chunk-state", Name: "all keys in one chunk", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			if _, ok := p.Operands["prefix_lens"]; !ok {
				return false
			}
			p.Change("prefix_lens", func(int, float64) float64 { return 0 })
			return true
		}},
		{Class: "strides", Name: "dense operands", Apply: dense},
		{Class: "paging", Name: "pages in the order of the tables", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			*p = compact(*p)
			return true
		}},
		{Class: "split", Name: "one split", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			was := p.Attrs.Num("num_splits")
			p.Attrs["num_splits"] = 1.0
			return was != 1
		}},
		{Class: "mask-edge", Name: "every query sees every key of its request", Apply: func(_ bench.Gen, p *bench.Problem) bool {
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
			o := p.Outputs["logits"]
			o.Shape = []int{o.Shape[0], max(n, 1)}
			p.Outputs["logits"] = o
			sealPaged(p)
			return n > 0
		}},
		{Class: "batch", Name: "the first request alone", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			w := whole(*p)
			if len(w) < 2 {
				return false
			}
			*p, _ = cutPaged(*p, w[:1])
			return true
		}},
		{Class: "scale", Name: "keys of scale 1", Apply: equalScales},
		{Class: "layout", Name: "equal head weights", Apply: equalWeights},
		{Class: "gate", Name: "no negative dot product", Apply: positiveDots},
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
