package stat

import (
	"math"
	"slices"
)

// Quantile returns the q-quantile of x (0 <= q <= 1) by linear interpolation between order
// statistics at position (n-1)q, definition 7 of R. J. Hyndman and Y. Fan, The American
// Statistician 50 (1996) 361-365. x is left as it is.
//
// An empty x, a NaN in x or a q outside [0, 1] gives NaN: a measure that is missing must not turn
// into a number. Infinities are ordered like numbers; between -Inf and +Inf the result is NaN.
func Quantile(x []float64, q float64) float64 {
	if len(x) == 0 || !(q >= 0 && q <= 1) || slices.ContainsFunc(x, math.IsNaN) {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	h := float64(len(s)-1) * q
	i := int(math.Floor(h))
	f := h - float64(i)
	if f == 0 || s[i] == s[i+1] {
		return s[i] // also keeps Inf-Inf out
	}
	return s[i] + f*(s[i+1]-s[i])
}

// Median returns the middle value, or the mean of the two middle ones; NaN as Quantile.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// LogSumExp returns log(sum(exp(x))) in nats without overflow: the log-probability of "one of
// these". An empty x gives -Inf (no probability at all), a NaN gives NaN, a +Inf gives +Inf.
func LogSumExp(x ...float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		if math.IsNaN(v) {
			return math.NaN()
		}
		top = math.Max(top, v)
	}
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}
