package format

import "math"

// DecodeBF16 is BF16.Decode as a shift: bf16 is the upper half of an fp32 word. NaN payloads stay.
func DecodeBF16(code uint16) float32 { return math.Float32frombits(uint32(code) << 16) }

// EncodeBF16 is BF16.Encode(x, RN, Overflow) with integer arithmetic only. Adding half a unit, less
// one where the kept bit is even, carries into the exponent and up to infinity as it should; a NaN
// must be kept out of it, or an all-ones payload would wrap round to -0.
func EncodeBF16(x float32) uint16 {
	w := math.Float32bits(x)
	if w&0x7fffffff > 0x7f800000 {
		return uint16(BF16.NaNCode)
	}
	return uint16((w + 0x7fff + w>>16&1) >> 16)
}

// EncodeE4M3 is E4M3FN.Encode(x, RN, Saturate) with integer arithmetic. In the normal range the
// exponent is rebiased and the mantissa rounded in place, as in EncodeBF16. Below it one fp32
// addition rounds: at 2^14 an fp32 has the spacing 2^-9 of e4m3 subnormals, so that the sum's low
// bits are the code.
func EncodeE4M3(x float32) uint8 {
	w := math.Float32bits(x)
	sign := uint8(w >> 24 & 0x80)
	w &= 0x7fffffff
	switch {
	case w > 0x7f800000:
		return uint8(E4M3FN.NaNCode)
	case w >= 0x43e80000: // 464 and above
		return sign | 0x7e
	case w < 0x3c800000: // below 2^-6
		return sign | uint8(math.Float32bits(math.Float32frombits(w)+16384))
	}
	w -= (127 - 7) << 23
	return sign | uint8((w+0x7ffff+w>>20&1)>>20)
}
