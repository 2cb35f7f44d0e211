package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func storeTwins() []bench.Twin {
	return []bench.Twin{
		bench.Dense(),
		bench.Lacking("pairing", "no rotation", "inv_freq"),
		bench.Fixed("variant", "no Hadamard transform", bench.Attrs{"hadamard": false}),
		bench.Level("loading", "a bias of 0", 0, "norm_bias"),
		bench.Fixed("eps", "no norm", bench.Attrs{"norm": "none"}),
		{
			Class: "scale-layout",
			Name:  "pages of one token",
			Apply: func(_ bench.Gen, p *bench.Problem) bool { return tokenPages(p) },
		},
		{
			Class: "paging",
			Name:  "all tokens stored, in order, on pages of one",
			Apply: func(_ bench.Gen, p *bench.Problem) bool {
				tokenPages(p)
				p.Change("slot_mapping", func(i int, _ float64) float64 { return float64(i) })
				sealStore(p)
				return true
			},
		},
		{
			Class: "scale",
			Name:  "amax of the largest code times a power of two",
			Apply: exactly(func(_, d int, v float64, block int, top float64) float64 {
				if d%block == 7 {
					return top
				}
				return math.Max(-1, math.Min(1, v/4)) * top / 2
			}),
		},
		{
			Class: "encoding",
			Name:  "codes as values, equal in pairs",
			Apply: exactly(func(t, d int, _ float64, block int, top float64) float64 {
				if d%block < 2 {
					return top
				}
				return math.Ldexp(top/4, -((t+d/2)%3)) * direction(d/2)
			}),
		},
		{
			Class: "scale-layout",
			Name:  "equal scales",
			Apply: exactly(func(_, d int, v float64, block int, top float64) float64 {
				if d%block == 7 {
					return top
				}
				return v
			}),
		},
	}
}

// tokenPages keeps the slots and cuts the pool into pages of one token.
func tokenPages(p *bench.Problem) bool {
	page := p.Attrs.Int("page_size")
	if page == 1 {
		return false
	}
	shape := p.Outputs["pages"].Shape
	p.Resize("pages", shape[0]*page, shape[1]/page)
	p.Attrs["page_size"] = 1.0
	return true
}

// exactly stores given values as they are: no norm, rotation or transform.
func exactly(f func(t, d int, v float64, block int, top float64) float64) func(bench.Gen, *bench.Problem) bool {
	return func(g bench.Gen, p *bench.Problem) bool {
		p.Drop("inv_freq")
		p.Attrs["norm"], p.Attrs["hadamard"] = "none", false
		block, top := p.In("x").Dim(1), 448.0
		if p.Attrs.Word("page_format") == "fp4" {
			block, top = 32, 6
		}
		return onX(func(_ bench.Gen, t, d int, v float64) float64 { return f(t, d, v, block, top) })(g, p) == nil
	}
}
