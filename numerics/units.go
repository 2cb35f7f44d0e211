package numerics

import "math"

// Unit roundoffs: half the distance from 1 to the next number of the format, the largest relative error
// of rounding to nearest (Higham, Accuracy and Stability of Numerical Algorithms, 2.1).
const (
	UFP64 = 1.0 / (1 << 53)
	UFP32 = 1.0 / (1 << 24)
	UTF32 = 1.0 / (1 << 11)
	UFP16 = 1.0 / (1 << 11)
	UBF16 = 1.0 / (1 << 8)
	UE4M3 = 1.0 / (1 << 4)
	UE5M2 = 1.0 / (1 << 3)
	UE2M1 = 1.0 / (1 << 2)
)

// Smallest numbers of fp32: the normal one is what a kernel that flushes subnormals to zero loses, the
// subnormal one the spacing below it.
const (
	MinNormalFP32    = 0x1p-126
	MinSubnormalFP32 = 0x1p-149
)

// Gamma returns γ_n(u) = n·u/(1 − n·u), which bounds the relative effect of n successive roundings:
// |∏(1+δ_i) − 1| <= γ_n for |δ_i| <= u (Higham, lemma 3.1). It is 0 for n <= 0 and +Inf where
// n·u >= 1 and no statement is possible.
func Gamma(n int, u float64) float64 {
	if n <= 0 {
		return 0
	}
	nu := float64(n) * u
	if nu >= 1 {
		return math.Inf(1)
	}
	return nu / (1 - nu)
}
