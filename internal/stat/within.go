package stat

import "math"

// WithinAbs reports |got-want| <= tol. Equal infinities are within any tol; NaN is within tol of
// nothing, not even of NaN; a negative or NaN tol holds nothing.
func WithinAbs(got, want, tol float64) bool {
	if !(tol >= 0) {
		return false
	}
	return got == want || (finite(got, want) && math.Abs(got-want) <= tol)
}

// WithinRel reports |got-want| <= tol*|want|: relative to what is expected, so it is not symmetric.
// With want = 0 only 0 holds. Inf, NaN and tol as in WithinAbs.
func WithinRel(got, want, tol float64) bool {
	return WithinAbs(got, want, tol*math.Abs(want)) || (tol >= 0 && got == want)
}

// WithinULP reports whether want is reached from got in at most n steps to a neighbouring float64.
// +0 and -0 are the same value; an infinity is within n steps of itself only; NaN as in WithinAbs.
func WithinULP(got, want float64, n uint64) bool {
	if got == want {
		return true
	}
	if !finite(got, want) {
		return false
	}
	a, b := ordered(got), ordered(want)
	if a > b {
		a, b = b, a
	}
	return uint64(b)-uint64(a) <= n
}

func finite(v ...float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// ordered maps a finite float64 to an integer such that neighbours differ by one and both zeros
// are 0.
func ordered(x float64) int64 {
	b := int64(math.Float64bits(x))
	if b < 0 {
		return math.MinInt64 - b
	}
	return b
}
