package route

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// longGates are sizes beyond every tile, to those that ship.
func longGates() []bench.Scenario {
	return []bench.Scenario{
		{
			ID:     "long",
			Why:    "tokens beyond every tile, and 10 of 512 experts (Qwen3-Next)",
			Shapes: slices.Concat(gates(4, 2, 1, 1, 2600), gates(512, 10, 1, 1, 3)),
			Change: bench.All(set("scoring_func", "softmax"), lastDecides),
		},
		{
			ID:     "long-padded",
			Why:    "counted tokens beyond every tile, and padding behind them",
			Shapes: gates(4, 2, 1, 1, 270),
			Change: paddedFrom(0.96),
		},
	}
}

// lastDecides lets the last expert be chosen: by its logit for the first token, by its bias alone for the others.
func lastDecides(g bench.Gen, p *bench.Problem) error {
	last := g.Shape.Dim("experts") - 1
	return bench.All(each(func(t, e int, v float64) float64 {
		switch {
		case e == last && t == 0:
			return 4
		case e == last:
			return -2
		}
		return v
	}), biased(func(e int, v float64) float64 {
		if e == last {
			return 2
		}
		return v
	}))(g, p)
}
