package mhc

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

var mixTwins = []bench.Twin{
	bench.Dense(),
	{Class: "accumulation", Name: "operands that bf16 holds", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		narrow(p, "x", 8)
		narrow(p, "fn", 8)
		return true
	}},
	bench.Fixed("eps", "both eps 0", bench.Attrs{"hc_eps": 0.0, "norm_eps": 0.0}),
	{Class: "variant", Name: "logits of comb that are equal and no eps", Apply: func(g bench.Gen, p *bench.Problem) bool {
		h := genOf(g)
		if len(p.In("base").Data) <= 2*h.streams {
			return false
		}
		p.Attrs["hc_eps"] = 0.0
		p.Change("fn", func(i int, v float64) float64 {
			if i/h.k() >= 2*h.streams {
				return 0
			}
			return v
		})
		p.Change("base", func(i int, v float64) float64 {
			if i >= 2*h.streams {
				return 0
			}
			return v
		})
		return true
	}},
}

// narrow keeps n significant bits of an operand and spares the sum: every 32nd element alone stays, so that no order
// and no accumulator of 24 bits rounds.
func narrow(p *bench.Problem, name string, bits int) {
	p.Change(name, func(i int, v float64) float64 {
		if v == 0 || i%32 != 0 {
			return 0
		}
		f, e := math.Frexp(v)
		return math.Ldexp(math.Round(math.Ldexp(f, bits)), e-bits)
	})
}

var postTwins = []bench.Twin{
	bench.Dense(),
	{Class: "layout", Name: "comb symmetric and all streams equal", Apply: func(g bench.Gen, p *bench.Problem) bool {
		n, c := genOf(g).streams, genOf(g).width
		comb, x := p.In("comb").Data, p.In("x").Data
		p.Change("comb", func(i int, _ float64) float64 {
			t, j, k := i/(n*n), i/n%n, i%n
			return comb[t*n*n+min(j, k)*n+max(j, k)]
		})
		p.Change("x", func(i int, _ float64) float64 { return x[i/(n*c)*n*c] })
		return true
	}},
	bench.Level("gate", "gates of 1", 1, "post"),
}
