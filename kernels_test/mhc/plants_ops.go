package mhc

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// splitter is oracle.Ops.HCSplit, header oracle.Ops.HCHead.
type (
	splitter = func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat)
	header   = func(m oracle.Mat, scale float64, base []float64, eps float64) oracle.Mat
)

// gated replaces HCSplit, and HCHead unless it is nil; both get the candidate's own one.
func gated(split func(exact splitter) splitter, head func(exact header) header) bench.Builder {
	return operators(func(ops oracle.Ops) oracle.Ops {
		if ops.HCSplit = split(ops.HCSplit); head != nil {
			ops.HCHead = head(ops.HCHead)
		}
		return ops
	})
}

// operatorPlants are small variants of the operators.
func operatorPlants() []bench.Plant {
	return []bench.Plant{
		{
			Name: "pre-eps-missing", Class: "eps", Effect: "the gate before the sublayer lacks its eps; Sinkhorn keeps it",
			Origin: "eps missing on pre: the first revision in huggingface/transformers", On: mixing,
			Build: gated(func(exact splitter) splitter {
				return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
					_, post, comb = exact(m, scale, base, cfg)
					cfg.Eps = 0
					pre, _, _ = exact(m, scale, base, cfg)
					return pre, post, comb
				}
			}, func(exact header) header {
				return func(m oracle.Mat, scale float64, base []float64, _ float64) oracle.Mat {
					return exact(m, scale, base, 0)
				}
			}),
		},
		{
			Name: "sinkhorn-eps-missing", Class: "eps",
			Effect: "the softmax and the Sinkhorn steps lack their eps; the gate keeps it",
			Origin: "H3, H4: implementations differ in eps", On: splits,
			Build: gated(func(exact splitter) splitter {
				return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
					pre, post, _ = exact(m, scale, base, cfg)
					cfg.Eps = 0
					_, _, comb = exact(m, scale, base, cfg)
					return pre, post, comb
				}
			}, nil),
		},
		{
			Name: "gate-by-tanh", Class: "gate",
			Effect: "the sigmoid is (1 + tanh(x/2))/2 in fp32, which cancels where the gate is closed",
			Origin: "fast-math sigmoids", On: mixing,
			Build: gated(func(exact splitter) splitter {
				return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
					pre, post, comb = exact(m, scale, base, cfg)
					return cancel(pre, 1, cfg.Eps), cancel(post, 2, 0), comb
				}
			}, func(exact header) header {
				return func(m oracle.Mat, scale float64, base []float64, eps float64) oracle.Mat {
					return cancel(exact(m, scale, base, eps), 1, eps)
				}
			}),
		},
		{
			Name: "post-rows-at-4", Class: "layout",
			Effect: "the rows of post are looked for at 4, where they start for hc_mult 4 only",
			Origin: "a width compiled in", On: splits,
			Build: gated(func(exact splitter) splitter {
				return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
					pre, _, comb = exact(m, scale, base, cfg)
					moved := m.Clone()
					for t := range m.Rows {
						copy(moved.Row(t)[cfg.Streams:2*cfg.Streams], m.Row(t)[4:])
					}
					_, post, _ = exact(moved, scale, base, cfg)
					return pre, post, comb
				}
			}, nil),
		},
		{
			Name: "sinkhorn-sigmoid-start", Class: "variant",
			Effect: "Sinkhorn starts from sigmoids in place of a softmax over rows",
			Origin: "E2; huggingface/transformers first revision", On: splits,
			Build: gated(func(exact splitter) splitter {
				return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
					pre, post, comb = exact(m, scale, base, cfg)
					n := cfg.Streams
					for t := range m.Rows {
						b := comb.Row(t)
						for i := range b {
							logit := m.Row(t)[2*n+i]*scale[2] + base[2*n+i]
							b[i] = 1/(1+math.Exp(-logit)) + cfg.Eps
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
			}, nil),
		},
	}
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

// cancel gives gates of height top, carrying eps, the absolute error of a tanh near -1 in fp32.
func cancel(gate oracle.Mat, top, eps float64) oracle.Mat {
	for i, v := range gate.Data {
		tanh := float32(2*(v-eps)/top - 1)
		gate.Data[i] = top*float64((1+tanh)/2) + eps
	}
	return gate
}
