package bench

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics"
)

// Float is how fp32 values are carried: as themselves, or in float64.
type Float interface{ float32 | float64 }

// Dot is a sum of products of fp32 values in some order, w as long as x.
type Dot[F Float] func(x, w []F) float32

// DotSequential rounds every product and every sum, from the first to the last.
func DotSequential[F Float](x, w []F) float32 {
	var s float32
	w = w[:len(x)]
	for i, v := range x {
		s += float32(float32(v) * float32(w[i]))
	}
	return s
}

// DotReversed is DotSequential from the last to the first.
func DotReversed[F Float](x, w []F) float32 {
	var s float32
	for i, v := range slices.Backward(x) {
		s += float32(float32(v) * float32(w[i]))
	}
	return s
}

// DotFused rounds once for a product and its sum, as fused multiply-add does. The product is exact in float64; the rare
// double rounding of the sum stays within the one rounding of 2^-24 that is counted.
func DotFused[F Float](x, w []F) float32 {
	var s float32
	for i, v := range x {
		s = float32(math.FMA(float64(v), float64(w[i]), float64(s)))
	}
	return s
}

// DotPairwise adds as a balanced tree, the larger half first.
func DotPairwise[F Float](x, w []F) float32 {
	switch len(x) {
	case 0:
		return 0
	case 1:
		return float32(float32(x[0]) * float32(w[0]))
	}
	h := (len(x) + 1) / 2
	return DotPairwise(x[:h], w[:h]) + DotPairwise(x[h:], w[h:])
}

// DotWide adds in float64 and rounds once: more exact than any fp32 kernel.
func DotWide[F Float](x, w []F) float32 {
	var s float64
	for i, v := range x {
		s = math.FMA(float64(v), float64(w[i]), s)
	}
	return float32(s)
}

// DotBlocks adds n products by themselves in the order of inside, then onto the sum, as a product of fragments does.
func DotBlocks[F Float](n int, inside Dot[F]) Dot[F] {
	return func(x, w []F) float32 {
		var s float32
		for lo := 0; lo < len(x); lo += n {
			hi := min(lo+n, len(x))
			s += inside(x[lo:hi], w[lo:hi])
		}
		return s
	}
}

// DotSplits cuts the sum into n pieces of nearly one size, rounded up to whole steps of 8.
func DotSplits[F Float](n int, inside Dot[F]) Dot[F] {
	return func(x, w []F) float32 {
		size := (len(x) + n - 1) / n
		return DotBlocks(max((size+7)/8*8, 8), inside)(x, w)
	}
}

// DotLanes has n accumulators, the i-th for every n-th product from i on, as threads or vector registers do, added in
// the order of over.
func DotLanes[F Float](n int, over Summing) Dot[F] {
	return func(x, w []F) float32 {
		acc := make([]float32, n)
		for i, v := range x {
			acc[i%n] += float32(float32(v) * float32(w[i]))
		}
		return over(acc)
	}
}

// DotUnder is the dot product of a tensor core.
func DotUnder[F Float](acc numerics.Accumulator) Dot[F] {
	return func(x, w []F) float32 { return float32(acc.Dot(widened(x), widened(w))) }
}

func widened[F Float](v []F) []float64 {
	if out, ok := any(v).([]float64); ok {
		return out
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
