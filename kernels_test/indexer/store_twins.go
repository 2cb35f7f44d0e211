package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func storeTwins() []bench.Twin {
	on := func(name string, off any) func(bench.Gen, *bench.Problem) bool {
		return func(_ bench.Gen, p *bench.Problem) bool {
			was := p.Attrs[name]
			p.Attrs[name] = off
			return was != off
		}
	}
	return []bench.Twin{
		{Class: "strides", Name: "dense operands", Apply: dense},
		{Class: "pairing", Name: "no rotation", Apply: unrotated},
		{Class: "variant", Name: "no Hadamard transform", Apply: on("hadamard", false)},
		{Class: "loading", Name: "a bias of 0", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			if _, ok := p.Operands["norm_bias"]; !ok {
				return false
			}
			p.Change("norm_bias", func(int, float64) float64 { return 0 })
			return true
		}},
		{Class: "eps", Name: "no norm", Apply: on("norm", "none")},
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

// unrotated takes the rotation away.
func unrotated(_ bench.Gen, p *bench.Problem) bool {
	_, has := p.Operands["inv_freq"]
	delete(p.Operands, "inv_freq")
	delete(p.Layout, "inv_freq")
	return has
}

// tokenPages keeps the slots and cuts the pool into pages of one token.
func tokenPages(p *bench.Problem) bool {
	page := p.Attrs.Int("page_size")
	if page == 1 {
		return false
	}
	o := p.Outputs["pages"]
	o.Shape = []int{o.Shape[0] * page, o.Shape[1] / page}
	p.Outputs["pages"] = o
	p.Attrs["page_size"] = 1.0
	return true
}

// exactly stores given values as they are: no norm, rotation or transform.
func exactly(f func(t, d int, v float64, block int, top float64) float64) func(bench.Gen, *bench.Problem) bool {
	return func(g bench.Gen, p *bench.Problem) bool {
		unrotated(g, p)
		p.Attrs["norm"], p.Attrs["hadamard"] = "none", false
		block, top := p.In("x").Dim(1), 448.0
		if p.Attrs.Word("page_format") == "fp4" {
			block, top = 32, 6
		}
		return onX(func(_ bench.Gen, t, d int, v float64) float64 { return f(t, d, v, block, top) })(g, p) == nil
	}
}
