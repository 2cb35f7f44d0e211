package mhc

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Constants of the model family (V4 config: hc_eps, rms_norm_eps, hc_sinkhorn_iters).
const (
	hcEps      = 1e-6
	normEps    = 1e-6
	iterations = 20
)

func (g gen) attrs() bench.Attrs {
	return bench.Attrs{
		"hc_mult": float64(g.streams), "sinkhorn_iterations": float64(iterations), "hc_eps": hcEps, "norm_eps": normEps,
	}
}

// otherConstants are none of V4's.
var otherConstants = bench.Set(bench.Attrs{"sinkhorn_iterations": 3.0, "hc_eps": 1e-2, "norm_eps": 0.3})

// pre draws the inputs of mhc_pre. Mixes come out with a standard deviation near 1, scales and bases are off their
// neutral values, so that dropping either shows.
func (g gen) pre() bench.Problem {
	t, n, c := g.tokens, g.streams, g.width
	m := (2 + n) * n
	return bench.Problem{
		Attrs: g.attrs(), Outputs: map[string]bench.Output{
			"y": bench.Out(bench.F32, t, c), "post": bench.Out(bench.F32, t, n), "comb": bench.Out(bench.F32, t, n, n),
		},
		Operands: map[string]bench.Operand{
			"x":     bench.Floats(bench.F32, g.Normal(t*n*c, 1), t, n, c),
			"fn":    bench.Floats(bench.F32, g.Normal(m*n*c, 1/math.Sqrt(float64(n*c))), m, n*c),
			"scale": bench.Floats(bench.F32, []float64{0.8125, 1.375, 1.7}, 3),
			"base":  bench.Floats(bench.F32, g.Normal(m, 0.5), m),
		},
	}
}

// head draws the inputs of mhc_head.
func (g gen) head() bench.Problem {
	t, n, c := g.tokens, g.streams, g.width
	return bench.Problem{
		Attrs: g.attrs(), Outputs: map[string]bench.Output{"y": bench.Out(bench.F32, t, c)},
		Operands: map[string]bench.Operand{
			"x":     bench.Floats(bench.F32, g.Normal(t*n*c, 1), t, n, c),
			"fn":    bench.Floats(bench.F32, g.Normal(n*n*c, 1/math.Sqrt(float64(n*c))), n, n*c),
			"scale": bench.Floats(bench.F32, []float64{1.375}, 1),
			"base":  bench.Floats(bench.F32, g.Normal(n, 0.5), n),
		},
	}
}

// post draws the inputs of mhc_post: gates in (0, 2), comb as a Sinkhorn result of Gaussian logits, which is not
// symmetric.
func (g gen) post() bench.Problem {
	t, n, c := g.tokens, g.streams, g.width
	return bench.Problem{
		Attrs: g.attrs(), Outputs: map[string]bench.Output{"out": bench.Out(bench.F32, t, n, c)},
		Operands: map[string]bench.Operand{
			"f":    bench.Floats(bench.F32, g.Normal(t*c, 1), t, c),
			"post": bench.Floats(bench.F32, g.gateValues(t*n), t, n),
			"comb": bench.Floats(bench.F32, g.combs(t, n, 2), t, n, n),
			"x":    bench.Floats(bench.F32, g.Normal(t*n*c, 1), t, n, c),
		},
	}
}

func absolute(_ int, v float64) float64 { return math.Abs(v) }
