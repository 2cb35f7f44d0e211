package format

import (
	"fmt"
	"math"
	"math/bits"
)

// Rounding names how a value between two neighbours is resolved.
type Rounding int

const (
	// RN rounds to nearest; a tie goes to the even significand (IEEE 754; cvt.rn).
	RN Rounding = iota
	// RNA rounds to nearest; a tie goes away from zero (cvt.rna.tf32).
	RNA
	// RZ truncates towards zero.
	RZ
	// RNZ rounds to nearest; a tie goes towards zero (IEEE 754 roundTiesTowardZero). DeepGEMM's fp4
	// helper, SGLang's FP4 indexer test and ModelOpt's MXFP4 class do so: only what is strictly above
	// a midpoint moves up.
	RNZ
)

// String returns rn, rna, rz or rnz.
func (r Rounding) String() string {
	switch r {
	case RN:
		return "rn"
	case RNA:
		return "rna"
	case RZ:
		return "rz"
	case RNZ:
		return "rnz"
	}
	return fmt.Sprintf("rounding-%d", int(r))
}

// Saturation names what happens to a value that rounds beyond the largest finite one.
type Saturation int

const (
	// Overflow goes to infinity, in a format without one to NaN, in a format without either to the
	// largest finite value (IEEE 754; ml_dtypes).
	Overflow Saturation = iota
	// Saturate goes to the largest finite value (cvt.rn.satfinite). Infinity saturates too, except
	// in the fnuz formats and e8m0, where it is NaN (ONNX Cast with saturate=1).
	Saturate
)

// String returns overflow or saturate.
func (s Saturation) String() string {
	switch s {
	case Overflow:
		return "overflow"
	case Saturate:
		return "saturate"
	}
	return fmt.Sprintf("saturation-%d", int(s))
}

// Encode rounds x once and returns its code. A float32 passes through float64 unchanged, so this is
// also the conversion from fp32.
//
//   - NaN becomes NaNCode; sign and payload are dropped.
//   - -0, and a negative value that rounds to zero, keep the sign where -0 has a code (ml_dtypes,
//     PTX) and become +0 in the fnuz formats.
//   - The overflow threshold is where rounding to the next, absent, value would land: e4m3 464 ties
//     back to 448, 464 + 1 ulp overflows; e5m2 61440 ties to the absent 65536 and overflows.
//   - RZ never overflows a finite value (IEEE 754, roundTowardZero).
//   - e8m0 has one significant bit, so the tie 1.5 * 2^k goes up by RN and by RNA (to the even
//     significand of two bits, binary 10; ml_dtypes does so), down by RNZ. It has no sign and no zero: a negative
//     value is NaN, a zero is NaN, or code 0 when saturating; what is below 2^-127 becomes 2^-127.
func (f Format) Encode(x float64, r Rounding, s Saturation) uint32 {
	w := math.Float64bits(x)
	neg := w>>63 == 1
	if x != x {
		return f.NaNCode
	}
	if f.SignBits == 0 && neg {
		return f.unsignedNegative(x, s)
	}
	if math.IsInf(x, 0) {
		return f.withSign(f.infinite(s), neg)
	}
	if x == 0 {
		if f.NoZero && s == Overflow {
			return f.NaNCode
		}
		return f.withSign(0, neg)
	}
	mag := f.roundMagnitude(w&(1<<63-1), r)
	if mag > f.maxMag() {
		if r == RZ {
			return f.withSign(f.maxMag(), neg)
		}
		return f.withSign(f.beyond(s), neg)
	}
	return f.withSign(mag, neg)
}

// roundMagnitude rounds a positive finite float64, given as bits, to magnitude bits. The result
// counts on past the format's largest code, so that the caller sees an overflow as a larger number;
// it is capped before it could wrap.
func (f Format) roundMagnitude(w uint64, r Rounding) uint32 {
	e, m := int(w>>52), w&(1<<52-1)
	if e == 0 { // float64 subnormal: normalise
		n := bits.LeadingZeros64(m) - 11
		m, e = m<<n, 1-n
	} else {
		m |= 1 << 52
	}
	e -= 1023 // x = m * 2^(e-52), 2^52 <= m < 2^53
	top := max(e, f.emin())
	if top-f.emin() > 1<<f.ExpBits {
		return math.MaxUint32
	}
	// One unit of the result is 2^(top-ManBits); shift out what is below it.
	n := uint32(shiftRound(m, top-f.ManBits-(e-52), r))
	if f.NoZero {
		return uint32(top-f.emin())<<f.ManBits + max(n, 1<<f.ManBits) - 1<<f.ManBits
	}
	return uint32(top-f.emin())<<f.ManBits + n
}

// shiftRound is m / 2^k rounded to an integer, m < 2^53, k >= 1.
func shiftRound(m uint64, k int, r Rounding) uint64 {
	if k > 60 {
		return 0 // m is below a quarter of a unit
	}
	q, rest, half := m>>k, m&(1<<k-1), uint64(1)<<(k-1)
	switch r {
	case RN:
		if rest > half || rest == half && q&1 == 1 {
			q++
		}
	case RNA:
		if rest >= half {
			q++
		}
	case RNZ:
		if rest > half {
			q++
		}
	}
	return q
}

// beyond is the magnitude for a finite value past the largest, or nanMark.
func (f Format) beyond(s Saturation) uint32 {
	switch {
	case s == Saturate || !f.Inf && f.NaN == NaNNone:
		return f.maxMag()
	case f.Inf:
		return f.maxMag() + 1
	}
	return nanMark
}

// infinite is the magnitude for an infinity, or nanMark.
func (f Format) infinite(s Saturation) uint32 {
	if s == Saturate && (f.NaN == NaNNegZero || f.NoZero) {
		return nanMark
	}
	return f.beyond(s)
}

// unsignedNegative is what a negative value or -0 becomes where there is no sign bit.
func (f Format) unsignedNegative(x float64, s Saturation) uint32 {
	if x == 0 && (s == Saturate || !f.NoZero) {
		return 0
	}
	return f.NaNCode
}

// nanMark stands for "NaN" among magnitudes, none of which reaches it.
const nanMark = math.MaxUint32

// withSign puts the sign and the shift on magnitude bits. A NaN that stands for an overflow keeps
// the sign where the format has NaNs of both signs (ml_dtypes: -480 is 0xff in e4m3).
func (f Format) withSign(mag uint32, neg bool) uint32 {
	if mag == nanMark {
		if f.NaN != NaNAllOnes || f.SignBits == 0 {
			return f.NaNCode
		}
		mag = f.NaNCode >> f.Shift & (1<<(f.ExpBits+f.ManBits) - 1)
	}
	if neg && (mag != 0 || f.HasNegZero()) {
		mag |= 1 << (f.ExpBits + f.ManBits)
	}
	return mag << f.Shift
}
