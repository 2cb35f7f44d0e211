package kernels_test

import (
	"math"
	"math/rand/v2"
	"testing"

	kernels "github.com/assay-suite/assay/kernels_test"
	"github.com/assay-suite/assay/numerics"
)

// The orders that numerics emulates too MUST give the same bits as its accumulators, written by another hand.
func TestDotsAgreeWithTheAccumulators(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, row := range []struct {
		name string
		dot  kernels.Dot
		acc  numerics.Accumulator
	}{
		{"sequential", kernels.Sequential, numerics.Accumulator{Result: 23, Order: numerics.Sequential}},
		{"pairwise", kernels.Pairwise, numerics.Accumulator{Result: 23, Order: numerics.Pairwise}},
		{"blocked-32", kernels.Blocked(32, kernels.Sequential), numerics.Accumulator{Result: 23, Order: numerics.Blocked, Chunk: 32}},
		{"split-4", kernels.SplitK(4, kernels.Sequential), numerics.Accumulator{Result: 23, Order: numerics.Sequential, Splits: []numerics.Split{{K: 500, Size: 128}}}},
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

// Every order MUST give an exactly representable sum exactly, at lengths around its blocks and lanes, and lie within the
// a-priori bound of any order on Gaussian data.
func TestDotsAddEveryProductOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, dot := range map[string]kernels.Dot{
		"sequential": kernels.Sequential, "reversed": kernels.Reversed, "fused": kernels.Fused, "pairwise": kernels.Pairwise, "exact": kernels.Exact,
		"blocked-8": kernels.Blocked(8, kernels.Pairwise), "split-3": kernels.SplitK(3, kernels.Reversed), "split-7": kernels.SplitK(7, kernels.Sequential),
		"lanes-8": kernels.Lanes(8), "lanes-6": kernels.Lanes(6), "lanes-1": kernels.Lanes(1),
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
