package gemm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/numerics"
)

// A quotient next to the middle of two codes MUST admit both, one that is 8u away its own alone; the power of two next
// to 448 MUST be either under a rounding more, and through a logarithm from as far as fp32 loses it, not from farther.
func TestOneMoreRounding(t *testing.T) {
	const u = numerics.UFP32
	for code := 8; code < 0x7e; code++ {
		mid := (valueE4M3(code) + valueE4M3(code+1)) / 2
		for _, at := range []struct {
			off          float64
			lower, upper bool
		}{{0, true, true}, {2 * u, true, true}, {-2 * u, true, true}, {8 * u, false, true}, {-8 * u, true, false}} {
			assert.Equal(t, at.lower, admissibleCode(mid*(1+at.off), float64(code)), "code %d, %g off", code, at.off)
			assert.Equal(t, at.upper, admissibleCode(mid*(1+at.off), float64(code+1)), "code %d, %g off", code, at.off)
		}
	}
	for n := -20; n < 20; n++ {
		amax, e := math.Ldexp(448, n), float64(n+127)
		for contract, reach := range map[string]float64{
			"two-roundings": 3 * u, "ue8m0-log2": 3*u + math.Ln2*(2*u*math.Abs(float64(n))+0x1p-22),
		} {
			assert.True(t, admissiblePower(contract, amax, e) && admissiblePower(contract, amax, e+1), n)
			assert.False(t, admissiblePower(contract, amax, e-1), n)
			assert.True(t, admissiblePower(contract, amax*(1+0.9*reach), e), n)
			assert.False(t, admissiblePower(contract, amax*(1+1.2*reach), e), n)
			assert.False(t, admissiblePower(contract, amax*(1-1.2*reach), e+1), n)
		}
	}
}
