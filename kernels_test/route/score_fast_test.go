package route

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/numerics"
)

// The bound of an exponential through ex2.approx MUST hold for a product and a constant that are rounded and a unit
// that is off by 2^-22, and must not be much wider: at |z| = 5 that is 7 ulp of fp32, where SGLang's router was seen,
// and it grows with |z|, so no fixed number of ulp bounds it. A constant of bf16 is beyond it.
func TestFastExp(t *testing.T) {
	worst := map[int]float64{}
	for i := range 20001 {
		z := -float64(float32(i) / 1000)
		bound := fastExpOf(numerics.Exact(z))
		got := math.Abs(float64(ex2(float32(z), math.Log2E)) - math.Exp(z))
		assert.LessOrEqual(t, got, bound.E, z)
		at := min(i/5000, 3)
		worst[at] = math.Max(worst[at], got/bound.E)
		if i > 1000 {
			assert.Greater(t, math.Abs(float64(ex2(float32(z), 1.4453125))-math.Exp(z)), bound.E, z)
		}
	}
	for at, rho := range worst {
		assert.Greater(t, rho, 0.3, "the bound from %d to %d is more than three times too wide", -5*at, -5*at-5)
	}
	ulps := func(z float64) float64 { return fastExpOf(numerics.Exact(z)).E / math.Exp(z) / (2 * numerics.UFP32) }
	assert.Equal(t, 7.0, math.Round(ulps(-5)))
	assert.Greater(t, ulps(-20), 20.0)
}
