package gemm

import (
	"math"
	"slices"
)

func sequential(x, w []float32) float32 {
	var s float32
	for i, v := range x {
		s += float32(v * w[i])
	}
	return s
}

func backwards(x, w []float32) float32 {
	var s float32
	for i, v := range slices.Backward(x) {
		s += float32(v * w[i])
	}
	return s
}

func fused(x, w []float32) float32 {
	var s float32
	for i, v := range x {
		s = float32(math.FMA(float64(v), float64(w[i]), float64(s)))
	}
	return s
}

func pairwise(x, w []float32) float32 {
	switch len(x) {
	case 0:
		return 0
	case 1:
		return x[0] * w[0]
	}
	h := (len(x) + 1) / 2
	return pairwise(x[:h], w[:h]) + pairwise(x[h:], w[h:])
}

// lanes gives every n-th product to one sum and adds the sums in a tree.
func lanes(n int) summing {
	return func(x, w []float32) float32 {
		acc := make([]float32, n)
		for i, v := range x {
			acc[i%n] += float32(v * w[i])
		}
		for half := n / 2; half > 0; half /= 2 {
			for i := range half {
				acc[i] += acc[i+half]
			}
		}
		return acc[0]
	}
}

// blocks adds n products by themselves, then onto the sum, as a product of fragments does.
func blocks(n int) summing {
	return func(x, w []float32) float32 {
		var s float32
		for lo := 0; lo < len(x); lo += n {
			hi := min(lo+n, len(x))
			s += sequential(x[lo:hi], w[lo:hi])
		}
		return s
	}
}

// towardsZero adds with every sum cut to fp32 instead of rounded.
func towardsZero(x, w []float32) float32 {
	var s float32
	for i, v := range x {
		s = cut32(float64(s) + float64(v)*float64(w[i]))
	}
	return s
}

// cut32 is the fp32 number next to v towards zero.
func cut32(v float64) float32 {
	f := float32(v)
	if math.Abs(float64(f)) > math.Abs(v) {
		f = math.Nextafter32(f, 0)
	}
	return f
}
