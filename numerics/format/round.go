package format

import "math"

// Round returns the value that x becomes in the format: nearest even, overflow to infinity or NaN
// as the format has it. It equals Decode(Encode(x, RN, Overflow)) and is the fast way to emulate
// arithmetic in the format.
func (f Format) Round(x float64) float64 { return f.RoundTo(x, RN, Overflow) }

// RoundTo is Decode(Encode(x, r, s)) without the codes.
func (f Format) RoundTo(x float64, r Rounding, s Saturation) float64 {
	m := f.Max()
	if f.SignBits == 0 || x == 0 || !(math.Abs(x) <= 2*m) { // far overflow, infinity and NaN too
		return f.Decode(f.Encode(x, r, s))
	}
	unit := f.ulpExp(x)
	var y float64
	switch r {
	case RN:
		// Adding 1.5 * 2^52 units leaves a sum whose own last bit is one unit, so that the float64
		// addition does the rounding; |x| < 2^(ManBits+1) units keeps it in that binade.
		c := 1.5 * pow2(52+unit)
		y = (x + c) - c
	case RNA:
		y = math.Round(x*pow2(-unit)) * pow2(unit)
	case RNZ:
		t := math.Abs(x) * pow2(-unit)
		y = math.Floor(t)
		if t-y > 0.5 {
			y++
		}
		y *= pow2(unit)
	default:
		y = math.Trunc(x*pow2(-unit)) * pow2(unit)
	}
	if math.Abs(y) > m {
		if r == RZ {
			return math.Copysign(m, x)
		}
		return f.Decode(f.Encode(x, r, s))
	}
	if y == 0 && !f.HasNegZero() {
		return 0
	}
	return math.Copysign(y, x)
}

// Rounder is rounding to nearest even into one format, with what depends on the format alone worked out before.
type Rounder struct {
	f     Format
	s     Saturation
	limit float64 // the largest finite value, 0 where every element takes the general way
	emin  int
}

// Nearest returns the rounding to nearest even that RoundTo(x, RN, s) does.
func (f Format) Nearest(s Saturation) Rounder {
	r := Rounder{f: f, s: s, limit: f.Max(), emin: f.emin()}
	if f.SignBits == 0 {
		r.limit = 0
	}
	return r
}

// Round is RoundTo(x, RN, s).
func (r *Rounder) Round(x float64) float64 {
	e := int(math.Float64bits(x)>>52&0x7ff) - 1023
	if e > 127 { // far overflow, infinity, NaN
		return r.f.RoundTo(x, RN, r.s)
	}
	c := 1.5 * pow2(52+max(e, r.emin)-r.f.ManBits) // see RoundTo
	y := (x + c) - c
	if y == 0 || !(math.Abs(y) <= r.limit) { // the sign of a zero, and overflow
		return r.f.RoundTo(x, RN, r.s)
	}
	return y
}

// RoundSlice rounds every element in place, as Round does.
func (f Format) RoundSlice(x []float64) {
	r := f.Nearest(Overflow)
	for i, v := range x {
		x[i] = r.Round(v)
	}
}

// ulpExp is the exponent of one unit in the last place at x, for any non-zero finite x; beyond the
// largest value the binades go on.
func (f Format) ulpExp(x float64) int {
	e := int(math.Float64bits(x)>>52&0x7ff) - 1023
	return max(e, f.emin()) - f.ManBits
}

// Ulp is the spacing of the format's values in the binade of x: 2^(floor(log2|x|) - ManBits), at
// least MinSubnormal, at most the spacing at Max; NaN for NaN.
func (f Format) Ulp(x float64) float64 {
	if x != x {
		return x
	}
	return pow2(f.ulpExp(math.Min(math.Abs(x), f.Max())))
}

// Gaps returns the distances from the representable value v to its neighbours towards -Inf and
// towards +Inf. At a power of two they differ. At the ends of the range there is no neighbour; the
// gap of the last binade is repeated, which is where round to nearest puts the overflow threshold
// (e2m1: 6 has a neighbour at 4, and one would-be neighbour at 8). In e8m0 the neighbour below the
// smallest value is 0. Both are NaN if v is not a finite value of the format.
func (f Format) Gaps(v float64) (below, above float64) {
	if v-v != 0 || f.RoundTo(v, RZ, Saturate) != v {
		return math.NaN(), math.NaN()
	}
	out := f.Ulp(v)
	in := out
	if a := math.Abs(v); a > f.MinNormal() && math.Float64bits(a)<<12 == 0 {
		in = out / 2
	}
	if v < 0 {
		return out, in
	}
	return in, out
}
