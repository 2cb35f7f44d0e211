package mhc

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

// sinkhornPlants are the published variants of Sinkhorn that are faults under the contract of V4's reference, and a
// width written into a kernel.
var sinkhornPlants = []plant{
	{
		Name: "sinkhorn-10-iterations", Class: "variant", Effect: "Sinkhorn runs 10 iterations in place of 20",
		Origin: "H4: a default of another library", On: splits,
		Apply: around(func(exact splitter) splitter {
			return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				cfg.Iterations = 10
				return exact(m, scale, base, cfg)
			}
		}),
	},
	{
		Name: "sinkhorn-sigmoid-start", Class: "variant", Effect: "Sinkhorn starts from sigmoids in place of a softmax " +
			"over rows", Origin: "E2; huggingface/transformers first revision", On: splits,
		Apply: startedBy(func(row []float64) {
			for i, v := range row {
				row[i] = 1 / (1 + math.Exp(-v))
			}
		}),
	},
	{
		Name: "post-rows-at-4", Class: "layout", Effect: "the rows of post are looked for at 4, where they start for " +
			"hc_mult 4 only", Origin: "a width compiled in", On: splits,
		Apply: around(func(exact splitter) splitter {
			return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				pre, _, comb = exact(m, scale, base, cfg)
				moved := m.Clone()
				for t := range m.Rows {
					copy(moved.Row(t)[cfg.Streams:2*cfg.Streams], m.Row(t)[4:])
				}
				_, post, _ = exact(moved, scale, base, cfg)
				return pre, post, comb
			}
		}),
	},
}

// startedBy replaces the softmax that Sinkhorn starts with; what follows is the reference's: eps, a column step, then
// row and column steps.
func startedBy(start func(row []float64)) func(oracle.Ops) oracle.Ops {
	return around(func(exact splitter) splitter {
		return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
			pre, post, comb = exact(m, scale, base, cfg)
			n := cfg.Streams
			for t := range m.Rows {
				b := comb.Row(t)
				for i := range b {
					b[i] = m.Row(t)[2*n+i]*scale[2] + base[2*n+i]
				}
				for j := range n {
					row := b[j*n : (j+1)*n]
					start(row)
					for i := range row {
						row[i] += cfg.Eps
					}
				}
				for i := range cfg.Iterations {
					for j := range n {
						if i > 0 {
							divide(b, j*n, 1, n, cfg.Eps)
						}
					}
					for k := range n {
						divide(b, k, n, n, cfg.Eps)
					}
				}
			}
			return pre, post, comb
		}
	})
}

// divide normalises n elements from first on, stride apart, by their sum plus eps.
func divide(b []float64, first, stride, n int, eps float64) {
	sum := eps
	for l := range n {
		sum += b[first+l*stride]
	}
	for l := range n {
		b[first+l*stride] /= sum
	}
}
