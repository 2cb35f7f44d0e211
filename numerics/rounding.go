package numerics

import (
	"math"

	"github.com/assay-suite/assay/numerics/format"
)

// roundFraction rounds x to bits fraction bits, bits+1 significant ones, with no smallest or largest exponent:
// what an accumulator keeps, as opposed to what a format stores. Zeros, infinities and NaN stay.
func roundFraction(x float64, bits int, mode format.Rounding) float64 {
	if bits >= 52 || x == 0 || x-x != 0 {
		return x
	}
	b := math.Float64bits(x)
	drop := uint(52 - bits)
	mask := uint64(1)<<drop - 1
	switch mode {
	case format.RZ:
	case format.RNA:
		b += (mask + 1) >> 1
	default:
		b += mask>>1 + b>>drop&1
	}
	return math.Float64frombits(b &^ mask)
}

// pow2 is 2^e.
func pow2(e int) float64 {
	if e > -1023 && e < 1024 {
		return math.Float64frombits(uint64(e+1023) << 52)
	}
	return math.Ldexp(1, e)
}

// exponent is floor(log2|x|) of a finite non-zero x.
func exponent(x float64) int {
	if e := int(math.Float64bits(x) >> 52 & 0x7ff); e != 0 {
		return e - 1023
	}
	_, e := math.Frexp(x)
	return e - 1
}

// roundoff is the relative error of one rounding to bits fraction bits: 2^-(bits+1) to nearest, 2^-bits by truncation.
func roundoff(bits int, mode format.Rounding) float64 {
	if mode == format.RZ {
		return math.Ldexp(1, -bits)
	}
	return math.Ldexp(1, -bits-1)
}

// HalfULP is half the spacing of f's values in the binade of |y|+slack: the error of rounding to f, to
// nearest, a value within slack of y. It is up to twice as sharp as u·|y|. 0 where y is not finite.
func HalfULP(f format.Format, y, slack float64) float64 {
	v := math.Abs(y) + slack
	if v-v != 0 {
		return 0
	}
	return f.Ulp(v) / 2
}
