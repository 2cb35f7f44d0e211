package mhc_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/kernels_test/mhc"
	"github.com/assay-suite/assay/numerics"
)

// The orders that numerics emulates too MUST give the same bits as its accumulators, written by another hand.
func TestDotsAgreeWithTheAccumulators(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, row := range []struct {
		name string
		dot  mhc.Dot
		acc  numerics.Accumulator
	}{
		{"sequential", mhc.Sequential, numerics.Accumulator{Result: 23, Order: numerics.Sequential}},
		{"pairwise", mhc.Pairwise, numerics.Accumulator{Result: 23, Order: numerics.Pairwise}},
		{"blocked-32", mhc.Blocked(32, mhc.Sequential), numerics.Accumulator{Result: 23, Order: numerics.Blocked, Chunk: 32}},
		{
			"split-4", mhc.SplitK(4, mhc.Sequential), numerics.Accumulator{
				Result: 23,
				Order:  numerics.Sequential,
				Splits: []numerics.Split{{K: 500, Size: 128}},
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			for range 50 {
				x, w := normals(rng, 500), normals(rng, 500)
				if got, want := row.dot(x, w), row.acc.Dot(x, w); got != want {
					t.Fatalf("got %v, the accumulator gives %v", got, want)
				}
			}
		})
	}
}

// Every order MUST give an exactly representable sum exactly, at lengths around its blocks and lanes, and lie within
// the a-priori bound of any order on Gaussian data.
func TestDotsAddEveryProductOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, dot := range map[string]mhc.Dot{
		"sequential": mhc.Sequential, "reversed": mhc.Reversed, "fused": mhc.Fused, "pairwise": mhc.Pairwise,
		"exact":     mhc.Exact,
		"blocked-8": mhc.Blocked(8, mhc.Pairwise), "split-3": mhc.SplitK(3, mhc.Reversed),
		"split-7": mhc.SplitK(7, mhc.Sequential),
		"lanes-8": mhc.Lanes(8), "lanes-6": mhc.Lanes(6), "lanes-1": mhc.Lanes(1),
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 2, 3, 4, 7, 8, 9, 20, 63, 64, 65, 129} {
				x, w, want := make([]float64, n), make([]float64, n), 0.0
				for i := range n {
					x[i], w[i] = float64(i+1), float64(1+i%3)
					want += x[i] * w[i]
				}
				if got := dot(x, w); got != want {
					t.Errorf("length %d: got %v, want %v", n, got, want)
				}
				x, w = normals(rng, n), normals(rng, n)
				var exact, abs float64
				for i, v := range x {
					exact += v * w[i]
					abs += math.Abs(v * w[i])
				}
				if got, bound := dot(x, w), numerics.DotBound(abs, n, numerics.UFP32); !(math.Abs(got-exact) <= bound) {
					t.Errorf("length %d: got %v, exact %v ± %.2g", n, got, exact, bound)
				}
			}
		})
	}
}

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(float32(rng.NormFloat64()))
	}
	return out
}
