package topk

import "math"

// half is a score as the bits of an fp16 value, to nearest even, with infinities beyond its range.
func half(v float32) uint16 {
	u := math.Float32bits(v)
	sign := uint16(u >> 16 & 0x8000)
	a := math.Abs(float64(v))
	switch {
	case a >= 65520: // rounds beyond 65,504
		return sign | 0x7c00
	case a < 0x1p-14: // subnormal: multiples of 2^-24
		return sign | uint16(math.RoundToEven(a*0x1p24))
	}
	frac, exp := math.Frexp(a) // a = frac · 2^exp, frac in [1/2, 1)
	m := uint16(math.RoundToEven(frac * 0x1p11))
	return sign | (uint16(exp+14)<<10 + m - 0x400)
}
