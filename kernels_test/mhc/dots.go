package mhc

import (
	"math"
	"slices"
)

// Dot is a sum of products of float32 values, carried as float64, as one implementation adds it. The result is a
// float32 value.
type Dot func(x, w []float64) float64

// Sequential rounds each product and each sum, from the front.
func Sequential(x, w []float64) float64 {
	var s float32
	for i, v := range x {
		s = float32(float32(v)*float32(w[i])) + s
	}
	return float64(s)
}

// Reversed is Sequential from the back.
func Reversed(x, w []float64) float64 {
	var s float32
	for i, v := range slices.Backward(x) {
		s = float32(float32(v)*float32(w[i])) + s
	}
	return float64(s)
}

// Fused rounds once for a product and its sum, as fused multiply-add does. The product is exact in float64; the rare
// double rounding of the sum stays within the one rounding of 2^-24 that is counted.
func Fused(x, w []float64) float64 {
	var s float32
	for i, v := range x {
		s = float32(math.FMA(v, w[i], float64(s)))
	}
	return float64(s)
}

// Pairwise adds as a balanced tree.
func Pairwise(x, w []float64) float64 { return float64(pairwise(x, w)) }

func pairwise(x, w []float64) float32 {
	switch len(x) {
	case 0:
		return 0
	case 1:
		return float32(float32(x[0]) * float32(w[0]))
	}
	h := (len(x) + 1) / 2
	return pairwise(x[:h], w[:h]) + pairwise(x[h:], w[h:])
}

// Blocked adds blocks of size by themselves, then the blocks one after another.
func Blocked(size int, inner Dot) Dot {
	return func(x, w []float64) float64 {
		var s float32
		for lo := 0; lo < len(x); lo += size {
			hi := min(lo+size, len(x))
			s = float32(inner(x[lo:hi], w[lo:hi])) + s
		}
		return float64(s)
	}
}

// SplitK cuts the sum into n pieces of nearly one size, rounded up to whole steps of 8.
func SplitK(n int, inner Dot) Dot {
	return func(x, w []float64) float64 {
		size := (len(x) + n - 1) / n
		return Blocked(max((size+7)/8*8, 8), inner)(x, w)
	}
}

// Lanes keeps n running sums, element i in lane i mod n, as threads or vector registers do, and adds the lanes as a
// tree.
func Lanes(n int) Dot {
	return func(x, w []float64) float64 {
		lanes := make([]float32, n)
		for i, v := range x {
			lanes[i%n] = float32(float32(v)*float32(w[i])) + lanes[i%n]
		}
		for width := n; width > 1; {
			half := (width + 1) / 2
			for i := range width - half {
				lanes[i] += lanes[half+i]
			}
			width = half
		}
		return float64(lanes[0])
	}
}

// Exact adds in float64 and rounds once: more exact than any fp32 kernel.
func Exact(x, w []float64) float64 {
	var s float64
	for i, v := range x {
		s = math.FMA(v, w[i], s)
	}
	return float64(float32(s))
}
