package bench_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

var (
	sequential = bench.DotSequential[float64]
	reversed   = bench.DotReversed[float64]
	pairwise   = bench.DotPairwise[float64]
)

// The orders that numerics emulates too MUST give the same bits as its accumulators, written by another hand.
func TestDotsAgreeWithTheAccumulators(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, row := range []struct {
		name string
		dot  bench.Dot[float64]
		acc  numerics.Accumulator
	}{
		{"sequential", sequential, numerics.Accumulator{Result: 23, Order: numerics.Sequential}},
		{"pairwise", pairwise, numerics.Accumulator{Result: 23, Order: numerics.Pairwise}},
		{
			"blocked-32", bench.DotBlocks(32, sequential),
			numerics.Accumulator{Result: 23, Order: numerics.Blocked, Chunk: 32},
		},
		{
			"split-4", bench.DotSplits(4, sequential), numerics.Accumulator{
				Result: 23,
				Order:  numerics.Sequential,
				Splits: []numerics.Split{{K: 500, Size: 128}},
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			for range 50 {
				x, w := normals(rng, 500), normals(rng, 500)
				if got, want := float64(row.dot(x, w)), row.acc.Dot(x, w); got != want {
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
	for name, dot := range map[string]bench.Dot[float64]{
		"sequential": sequential, "reversed": reversed, "fused": bench.DotFused[float64],
		"pairwise":  pairwise,
		"exact":     bench.DotWide[float64],
		"blocked-8": bench.DotBlocks(8, pairwise), "split-3": bench.DotSplits(3, reversed),
		"split-7": bench.DotSplits(7, sequential),
		"lanes-8": bench.DotLanes[float64](8, bench.Tree),
		"lanes-6": bench.DotLanes[float64](6, bench.Tree),
		"lanes-1": bench.DotLanes[float64](1, bench.Tree),
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 2, 3, 4, 7, 8, 9, 20, 63, 64, 65, 129} {
				x, w, want := make([]float64, n), make([]float64, n), 0.0
				for i := range n {
					x[i], w[i] = float64(i+1), float64(1+i%3)
					want += x[i] * w[i]
				}
				if got := float64(dot(x, w)); got != want {
					t.Errorf("length %d: got %v, want %v", n, got, want)
				}
				x, w = normals(rng, n), normals(rng, n)
				var exact, abs float64
				for i, v := range x {
					exact += v * w[i]
					abs += math.Abs(v * w[i])
				}
				if got, bound := float64(dot(x, w)), numerics.DotBound(abs, n, numerics.UFP32); !(math.Abs(got-exact) <= bound) {
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
