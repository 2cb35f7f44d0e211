package numerics

import "math"

// DotBound bounds the error of Σ a_k·b_k over n products in unit roundoff u for every order of the sum, with and
// without fused multiply-add: γ_n(u)·Σ|a_k·b_k| (Higham, 3.1). sumAbs is Σ|a_k·b_k|.
func DotBound(sumAbs float64, n int, u float64) float64 { return Gamma(n, u) * sumAbs }

// Depth is the largest number of roundings that one of n products passes through in the accumulator's order,
// its own rounding included; n for an unknown order.
func (a Accumulator) Depth(n int) int {
	size := a.SplitSize(n)
	m := min(size, n)
	extra := 0
	if size < n {
		extra = (n+size-1)/size - 1
	}
	switch a.Order {
	case Pairwise:
		d := 1
		for p := 1; p < m; p *= 2 {
			d++
		}
		return d + extra
	case Blocked:
		c := max(min(a.Chunk, m), 1)
		return c + (m+c-1)/c - 1 + extra
	case Unknown, Sequential, Stochastic:
	}
	return m + extra
}

// Lambda is the factor λ = sqrt(2·ln(2N/α)) by which the martingale bound holds for all of N elements with
// probability at least 1−α: Azuma's inequality with a union bound (Higham and Mary 2019, SISC 41(5)). It supposes
// rounding errors of mean zero, so it is never applied to an accumulator that truncates. N = 10^6 and α = 10^-9 give
// 8.4.
func Lambda(n int, alpha float64) float64 {
	return math.Sqrt(2 * math.Log(2*float64(max(n, 1))/alpha))
}
