package route

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// biasInLogit is the other convention of a router's bias.
func biasInLogit() []bench.Scenario {
	return []bench.Scenario{
		{
			ID:     "bias-in-logit",
			Why:    "a bias that is part of the logit counts for the weights as well",
			Shapes: slices.Concat(gates(16, 4, 1, 1, 5, 65), gates(128, 4, 1, 1, 3)),
			Change: bench.All(bench.Set(bench.Attrs{"bias_in": "logit", "scoring_func": "softmax"})),
		},
		{
			ID:     "bias-in-logit-scores",
			Why:    "the same for sigmoid and sqrtsoftplus, with a bias that decides",
			Shapes: gates(16, 4, 1, 1, 6),
			Change: bench.All(bench.Set(bench.Attrs{"bias_in": "logit"}),
				biased(func(_ int, v float64) float64 { return 5 * v })),
		},
	}
}
