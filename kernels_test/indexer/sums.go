package indexer

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// dotter is a dot product in fp32 or on a tensor core.
type dotter func(q, k []float32) float32

func bf16(x float32) float32 { return format.DecodeBF16(format.EncodeBF16(x)) }

func dotSequential(q, k []float32) float32 {
	var s float32
	for i, x := range q {
		s += float32(x * k[i])
	}
	return s
}

func dotReversed(q, k []float32) float32 {
	var s float32
	for i, x := range slices.Backward(q) {
		s += float32(x * k[i])
	}
	return s
}

func dotFused(q, k []float32) float32 {
	var s float32
	for i, x := range q {
		s = float32(math.FMA(float64(x), float64(k[i]), float64(s)))
	}
	return s
}

func dotExact(q, k []float32) float32 {
	var s float64
	for i, x := range q {
		s += float64(x) * float64(k[i])
	}
	return float32(s)
}

// dotLanes adds in n interleaved lanes, then the lanes.
func dotLanes(n int, lanes bench.Summing) dotter {
	return func(q, k []float32) float32 {
		var acc [32]float32
		for i, x := range q {
			acc[i%n] += float32(x * k[i])
		}
		return lanes(acc[:n])
	}
}

// dotFour is dotLanes(4) written out.
func dotFour(q, k []float32) float32 {
	var a, b, c, d float32
	k = k[:len(q)]
	for i := 0; i+3 < len(q); i += 4 {
		a += float32(q[i] * k[i])
		b += float32(q[i+1] * k[i+1])
		c += float32(q[i+2] * k[i+2])
		d += float32(q[i+3] * k[i+3])
	}
	return float32(a+b) + float32(c+d)
}

// dotBlocks adds inside blocks of n, then the blocks.
func dotBlocks(n int, inside, over bench.Summing) dotter {
	return func(q, k []float32) float32 {
		var parts, products []float32
		for from := 0; from < len(q); from += n {
			products = products[:0]
			for i := from; i < min(from+n, len(q)); i++ {
				products = append(products, q[i]*k[i])
			}
			parts = append(parts, inside(products))
		}
		return over(parts)
	}
}

// dotNative is a tensor core's dot product.
func dotNative(acc numerics.Accumulator) dotter {
	return func(q, k []float32) float32 {
		var x, w [128]float64
		for i := range q {
			x[i], w[i] = float64(q[i]), float64(k[i])
		}
		return float32(acc.Dot(x[:len(q)], w[:len(q)]))
	}
}
