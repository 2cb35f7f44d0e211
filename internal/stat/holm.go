package stat

import (
	"fmt"
	"math"
	"slices"
)

// Holm returns the adjusted p-values of Holm's step-down procedure, in the order given: comparing
// each with alpha keeps the chance of any false alarm over the whole family at most alpha, whatever
// the dependence between the tests.
//
// Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70; adjusted form as in
// P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing (1993).
// It fails when a p-value is NaN or outside [0, 1]. An empty family has an empty result.
func Holm(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("Holm correction: p-value %d is %v, want a number from 0 to 1", i, v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	adjusted := make([]float64, len(p))
	worst := 0.0
	for rank, i := range order {
		// A later hypothesis is never easier to reject than an earlier one.
		worst = math.Max(worst, math.Min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = worst
	}
	return adjusted, nil
}
