package numerics

import (
	"math"
	"slices"
)

// Quantiles summarises ρ = |got − want| / bound over the judged elements: median, 99th percentile, maximum.
type Quantiles struct {
	Median, P99, Max float64
}

// QuantilesOf takes the nearest-rank quantiles of v (the smallest value that at least a share q of v does not exceed).
// A NaN counts as larger than everything. No values give zeros.
func QuantilesOf(v []float64) Quantiles {
	s := slices.Clone(v)
	for i, x := range s {
		if math.IsNaN(x) {
			s[i] = math.Inf(1)
		}
	}
	slices.Sort(s)
	return Quantiles{Median: nearestRank(s, 0.5), P99: nearestRank(s, 0.99), Max: nearestRank(s, 1)}
}

func nearestRank(sorted []float64, q float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return sorted[min(max(int(math.Ceil(q*float64(n)))-1, 0), n-1)]
}

// Rho returns |got−want|/bound per element: 0 where they are equal, +Inf where they differ under a bound of 0 and
// where a class differs. Slices of different lengths cannot be compared and give +Inf everywhere.
func Rho(got, want, bound []float64) []float64 {
	out := make([]float64, len(want))
	if len(got) != len(want) || len(bound) != len(want) {
		for i := range out {
			out[i] = math.Inf(1)
		}
		return out
	}
	for i, w := range want {
		out[i] = ratio(difference(got[i], w), bound[i])
		if math.IsNaN(out[i]) && !(math.IsNaN(got[i]) && math.IsNaN(w)) {
			out[i] = math.Inf(1)
		} else if math.IsNaN(out[i]) {
			out[i] = 0 // NaN where NaN is the answer
		}
	}
	return out
}
