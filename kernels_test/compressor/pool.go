package compressor

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// pooler is the softmax-weighted sum of one channel of one block in fp32: gates and values of the tokens that it looks
// at.
type pooler func(g, v []float32) float32

// plain is the pooler of the correct kernel.
var plain = normaliseLast(bench.Sequential, exp32)

// exp32 and exp2Form are the exponential in fp32, the second as 2^(x log2 e).
func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }

func exp2Form(x float32) float32 {
	return float32(math.Exp2(float64(x * float32(math.Log2E))))
}

// normaliseLast is Σ e_j v_j / Σ e_j.
func normaliseLast(sum bench.Summing, exp func(float32) float32) pooler {
	return func(g, v []float32) float32 {
		e := weights(g, exp)
		return sum(products(e, v)) / sum(e)
	}
}

// normaliseFirst is Σ (e_j / Σ e) v_j.
func normaliseFirst(sum bench.Summing, exp func(float32) float32) pooler {
	return func(g, v []float32) float32 {
		e := weights(g, exp)
		all := sum(e)
		for j := range e {
			e[j] /= all
		}
		return sum(products(e, v))
	}
}

// weights are the exponentials with the maximum taken out.
func weights(g []float32, exp func(float32) float32) []float32 {
	top := slices.Max(g)
	e := make([]float32, len(g))
	for j, x := range g {
		e[j] = exp(x - top)
	}
	return e
}

// products are the weighted values.
func products(e, v []float32) []float32 {
	out := make([]float32, len(e))
	for j := range e {
		out[j] = e[j] * v[j]
	}
	return out
}
