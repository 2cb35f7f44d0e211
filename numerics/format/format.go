package format

import (
	"fmt"
	"math"
)

// NaNRule says which codes of a format are NaN.
type NaNRule int

const (
	// NaNNone has no NaN code: every code is a number (e2m1, e2m3, e3m2).
	NaNNone NaNRule = iota
	// NaNIEEE is the IEEE rule: exponent field all ones, mantissa not zero.
	NaNIEEE
	// NaNAllOnes is the OCP e4m3 rule: only the code with all magnitude bits set, per sign.
	// It is e8m0's rule too (255).
	NaNAllOnes
	// NaNNegZero is the fnuz rule: the code that would be -0 is the one NaN, and there is no -0.
	NaNNegZero
)

// Format is a binary floating-point format as data. It is comparable, and a copy with another
// NaNCode is a valid variant.
//
// A code is sign | exponent field | mantissa, from the top, shifted left by Shift. With field e and
// mantissa m it means 2^(e-Bias) * (1 + m/2^ManBits), and for e = 0 2^(1-Bias) * m/2^ManBits unless
// NoZero.
type Format struct {
	Name     string // slug: e4m3fn
	SignBits int    // 0 or 1
	ExpBits  int
	ManBits  int // stored, without the implicit bit
	Bias     int
	Inf      bool    // the all-ones exponent field with mantissa 0 is infinite
	NaN      NaNRule // which codes are NaN
	NaNCode  uint32  // what Encode writes for a NaN; for NaNNone the number that stands in for it
	NoZero   bool    // exponent field 0 is an ordinary power of two: no zero, no subnormals (e8m0)
	Shift    int     // unused low bits of the stored word (tf32 in an fp32 word: 13)
}

// Width is the number of bits of a stored code: 4, 6, 8, 16 or 32.
func (f Format) Width() int { return f.SignBits + f.ExpBits + f.ManBits + f.Shift }

// Codes is the number of distinct codes that differ above Shift: 1 << (Width - Shift).
func (f Format) Codes() int { return 1 << (f.SignBits + f.ExpBits + f.ManBits) }

// maxMag is the magnitude (code without sign and shift) of the largest finite value.
func (f Format) maxMag() uint32 {
	top := uint32(1)<<(f.ExpBits+f.ManBits) - 1
	switch {
	case f.Inf || f.NaN == NaNIEEE:
		return top - 1<<f.ManBits
	case f.NaN == NaNAllOnes:
		return top - 1
	}
	return top
}

// MaxCode is the code of the largest finite value.
func (f Format) MaxCode() uint32 { return f.maxMag() << f.Shift }

// emin is the exponent of the smallest normal value.
func (f Format) emin() int {
	if f.NoZero {
		return -f.Bias
	}
	return 1 - f.Bias
}

// Max is the largest finite value.
func (f Format) Max() float64 { return f.magnitude(f.maxMag()) }

// MinNormal is the smallest positive normal value.
func (f Format) MinNormal() float64 { return pow2(f.emin()) }

// MinSubnormal is the smallest positive value; MinNormal where there are no subnormals.
func (f Format) MinSubnormal() float64 {
	if f.NoZero {
		return f.MinNormal()
	}
	return pow2(f.emin() - f.ManBits)
}

// U is the unit roundoff 2^-(ManBits+1): rounding to nearest in the normal range moves x by at most
// U*|x| (Higham, Accuracy and Stability of Numerical Algorithms, theorem 2.2).
func (f Format) U() float64 { return pow2(-f.ManBits - 1) }

// Eta bounds the absolute error of rounding to nearest below the normal range: half the smallest
// subnormal. Without subnormals and zero (e8m0) everything below MinNormal goes to MinNormal, and
// Eta is MinNormal.
func (f Format) Eta() float64 {
	if f.NoZero {
		return f.MinNormal()
	}
	return f.MinSubnormal() / 2
}

// HasNegZero reports whether -0 has a code of its own.
func (f Format) HasNegZero() bool { return f.SignBits == 1 && f.NaN != NaNNegZero && !f.NoZero }

// WithNaNCode returns the format with another canonical NaN code: PTX writes 0x7fff for bf16 where
// ml_dtypes writes 0x7fc0.
func (f Format) WithNaNCode(code uint32) Format {
	f.NaNCode = code
	return f
}

// String returns the slug.
func (f Format) String() string { return f.Name }

// Validate reports why a hand-made format cannot be used: every value must be exact in fp32, and
// NaNCode must be a NaN if the format has one.
func (f Format) Validate() error {
	switch {
	case f.SignBits < 0 || f.SignBits > 1:
		return fmt.Errorf("format %q: SignBits is %d, want 0 or 1", f.Name, f.SignBits)
	case f.ExpBits < 1 || f.ExpBits > 8 || f.ManBits < 0 || f.ManBits > 23 || f.Shift < 0 || f.Width() > 32:
		return fmt.Errorf("format %q: %d exponent, %d mantissa and %d unused bits; want 1 to 8, 0 to 23, and at most 32 in "+
			"all",
			f.Name, f.ExpBits, f.ManBits, f.Shift)
	case f.NaN == NaNNegZero && f.SignBits == 0:
		return fmt.Errorf("format %q: NaN at the code of -0 needs a sign bit", f.Name)
	case f.Inf && f.NaN != NaNIEEE:
		return fmt.Errorf("format %q: infinities need the IEEE NaN rule", f.Name)
	case (f.NaN == NaNIEEE || f.NaN == NaNAllOnes && !f.NoZero) && f.ManBits == 0:
		return fmt.Errorf("format %q: this NaN rule needs at least one mantissa bit", f.Name)
	case f.emin()-f.ManBits < -149 || int(f.maxMag()>>f.ManBits)-f.Bias > 127:
		return fmt.Errorf("format %q: bias %d puts values outside fp32, want smallest >= 2^-149 and largest < 2^128", f.Name,
			f.Bias)
	case f.NaN != NaNNone && !math.IsNaN(f.Decode(f.NaNCode)):
		return fmt.Errorf("format %q: NaNCode %#x decodes to %v, want a NaN code", f.Name, f.NaNCode, f.Decode(f.NaNCode))
	}
	return nil
}

// pow2 is 2^e for the normal range of float64.
func pow2(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }
