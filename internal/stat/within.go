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

func finite(v ...float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}
