package bench

import (
	"slices"

	"github.com/assay-suite/assay/numerics/format"
)

// Summing adds fp32 values in some order.
type Summing func(v []float32) float32

// Sequential adds from the first to the last.
func Sequential(v []float32) float32 {
	var s float32
	for _, x := range v {
		s += x
	}
	return s
}

// Reversed adds from the last to the first.
func Reversed(v []float32) float32 {
	var s float32
	for _, x := range slices.Backward(v) {
		s += x
	}
	return s
}

// Pairwise adds halves, each pairwise.
func Pairwise(v []float32) float32 {
	if len(v) <= 2 {
		return Sequential(v)
	}
	return Pairwise(v[:len(v)/2]) + Pairwise(v[len(v)/2:])
}

// Tree adds the upper half onto the lower one, element by element, until one is left: a reduction over threads.
func Tree(v []float32) float32 {
	if len(v) == 0 {
		return 0
	}
	acc := slices.Clone(v)
	for n := len(acc); n > 1; {
		half := (n + 1) / 2
		for i := range n - half {
			acc[i] += acc[half+i]
		}
		n = half
	}
	return acc[0]
}

// Lanes has n accumulators, the i-th for every n-th value from i on, added in the order of over.
func Lanes(n int, over Summing) Summing {
	return func(v []float32) float32 {
		acc := make([]float32, n)
		for i, x := range v {
			acc[i%n] += x
		}
		return over(acc)
	}
}

// Blocks adds n values by themselves in the order of inside, then onto the sum.
func Blocks(n int, inside Summing) Summing {
	return func(v []float32) float32 {
		var s float32
		for lo := 0; lo < len(v); lo += n {
			s += inside(v[lo:min(lo+n, len(v))])
		}
		return s
	}
}

// Wide adds in float64 and rounds once.
func Wide(v []float32) float32 {
	var s float64
	for _, x := range v {
		s += float64(x)
	}
	return float32(s)
}

// AsBF16 rounds to bf16, to nearest even; beyond its range to infinity.
func AsBF16(v float32) float32 { return format.DecodeBF16(format.EncodeBF16(v)) }
