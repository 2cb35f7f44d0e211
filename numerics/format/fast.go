package format

import "math"

// DecodeBF16 is BF16.Decode as a shift: bf16 is the upper half of an fp32 word. NaN payloads stay.
func DecodeBF16(code uint16) float32 { return math.Float32frombits(uint32(code) << 16) }

// EncodeBF16 is BF16.Encode(x, RN, Overflow) with integer arithmetic only. Adding half a unit, less
// one where the kept bit is even, carries into the exponent and up to infinity as it should; a NaN
// must be kept out of it, or an all-ones payload would wrap round to -0.
func EncodeBF16(x float32) uint16 {
	return uint16(bf16Code(math.Float32bits(x), BF16.NaNCode))
}

// bf16Code is EncodeBF16 from a word to a code, with the code for a NaN.
func bf16Code(w, nan uint32) uint32 {
	r := (w + 0x7fff + w>>16&1) >> 16
	if w&0x7fffffff > 0x7f800000 {
		r = nan
	}
	return r
}

// EncodeTF32 is TF32.Encode(x, r, Overflow) with integer arithmetic: the word with its low 13 bits
// rounded away.
func EncodeTF32(x float32, r Rounding) uint32 {
	w := math.Float32bits(x)
	switch {
	case w&0x7fffffff > 0x7f800000:
		return TF32.NaNCode
	case r == RNA:
		w += 1 << 12
	case r == RNZ:
		w += 1<<12 - 1
	case r == RN:
		w += 1<<12 - 1 + w>>13&1
	}
	return w &^ (1<<13 - 1)
}

// EncodeE4M3 is E4M3FN.Encode(x, RN, Saturate) with integer arithmetic and one fp32 addition; see
// narrow.
func EncodeE4M3(x float32) uint8 { return uint8(e4m3Saturate.code(math.Float32bits(x))) }

// narrow holds what rounding fp32 to e4m3fn, e5m2 or e2m1, nearest even, needs: constants of one format
// and one overflow rule. The assembly reads the fields by their offsets.
//
// In the normal range the exponent is rebiased and the mantissa rounded in place, as in EncodeBF16.
// Below it one fp32 addition rounds: at magic an fp32 has the spacing of the format's subnormals, so
// that the sum's low bits are the code. Both are computed and one is chosen, so that no branch
// depends on the data.
type narrow struct {
	minNormal uint32 // word of the smallest normal value
	magic     uint32 // word of 2^23 smallest subnormals
	add       uint32 // half a unit less one, less the difference of the biases
	over      uint32 // largest word that does not overflow
	overCode  uint32 // magnitude for what overflows, infinity included
	nan       uint32 // code for a NaN, sign dropped
	shift     uint32 // 23 - ManBits
}

// newNarrow derives the constants for e4m3fn, e5m2 and e2m1.
func newNarrow(f Format, s Saturation) narrow {
	word := func(x float64) uint32 { return math.Float32bits(float32(x)) }
	shift := 23 - f.ManBits
	n := narrow{
		minNormal: word(f.MinNormal()),
		magic:     word(f.MinSubnormal() * (1 << 23)),
		add:       1<<(shift-1) - 1 - uint32(127-f.Bias)<<23,
		over:      word(f.Max() + f.Ulp(f.Max())/2),
		overCode:  f.beyond(s),
		nan:       f.NaNCode,
		shift:     uint32(shift),
	}
	if f.maxMag()&1 == 1 { // the tie goes to the even neighbour, here the absent one
		n.over--
	}
	if n.overCode == nanMark {
		n.overCode = f.NaNCode &^ 0x80
	}
	return n
}

var (
	e4m3Saturate = newNarrow(E4M3FN, Saturate)
	e4m3Overflow = newNarrow(E4M3FN, Overflow)
	e5m2Saturate = newNarrow(E5M2, Saturate)
	e5m2Overflow = newNarrow(E5M2, Overflow)
	e2m1Saturate = newNarrow(E2M1, Saturate) // without infinity and NaN, Overflow is the same
)

// narrowFor returns the constants of a conversion that has them.
func narrowFor(f Format, r Rounding, s Saturation) (narrow, bool) {
	nan := f.NaNCode
	var n narrow
	switch f = f.WithNaNCode(0x7e); {
	case r != RN:
		return n, false
	case f == E5M2 && s == Saturate:
		n = e5m2Saturate
	case f == E5M2:
		n = e5m2Overflow
	case f != E4M3FN.WithNaNCode(0x7e) || nan != E4M3FN.NaNCode:
		return n, false
	case s == Saturate:
		n = e4m3Saturate
	default:
		n = e4m3Overflow
	}
	n.nan = nan
	return n, true
}

// e2m1Code is E2M1.Encode(x, RN, Saturate) from a word to a code.
func e2m1Code(w uint32) byte {
	r := e2m1Saturate.code(w)
	return byte(r&7 | r>>4&8)
}

// code rounds one fp32 word; the sign is bit 7 of the result.
func (n *narrow) code(w uint32) uint32 { return n.special(w, n.round(w&0x7fffffff)) }

// round is the magnitude code of a magnitude within the range. In two parts, so that each is inlined.
func (n *narrow) round(m uint32) uint32 {
	r := (m + n.add + m>>(n.shift&31)&1) >> (n.shift & 31)
	// No subnormal operand for the addition: it rounds to 0 either way.
	sub := math.Float32bits(math.Float32frombits(max(m, 0x00800000))+math.Float32frombits(n.magic)) - n.magic
	if m < n.minNormal {
		r = sub
	}
	return r
}

// special puts in overflow, sign and NaN.
func (n *narrow) special(w, r uint32) uint32 {
	m := w & 0x7fffffff
	if m > n.over {
		r = n.overCode
	}
	r |= w >> 24 & 0x80
	if m > 0x7f800000 {
		r = n.nan
	}
	return r
}
