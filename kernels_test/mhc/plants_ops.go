package mhc

import (
	"github.com/assay-suite/assay/oracle"
)

type splitter = func(mixes oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat)

// around replaces HCSplit by change, which gets the candidate's own one.
func around(change func(exact splitter) splitter) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		ops.HCSplit = change(ops.HCSplit)
		return ops
	}
}

// operatorPlants are small variants of the operators.
var operatorPlants = []plant{
	{
		Name: "pre-eps-missing", Class: "eps", Effect: "the gate before the sublayer lacks its eps; Sinkhorn keeps it",
		Origin: "eps missing on pre: the first revision in huggingface/transformers", On: mixing,
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact, head := ops.HCSplit, ops.HCHead
			ops.HCSplit = func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				_, post, comb = exact(m, scale, base, cfg)
				cfg.Eps = 0
				pre, _, _ = exact(m, scale, base, cfg)
				return pre, post, comb
			}
			ops.HCHead = func(m oracle.Mat, scale float64, base []float64, _ float64) oracle.Mat {
				return head(m, scale, base, 0)
			}
			return ops
		},
	},
	{
		Name: "sinkhorn-eps-missing", Class: "eps", Effect: "the softmax and the Sinkhorn steps lack their eps; the gate " +
			"keeps it", Origin: "H3, H4: implementations differ in eps", On: splits,
		Apply: around(func(exact splitter) splitter {
			return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				pre, post, _ = exact(m, scale, base, cfg)
				cfg.Eps = 0
				_, _, comb = exact(m, scale, base, cfg)
				return pre, post, comb
			}
		}),
	},
	{
		Name: "norm-eps-missing", Class: "eps", Effect: "the norm of the mixes has no eps",
		Origin: "eps dropped in a fused norm", On: mixing,
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact := ops.HCMix
			ops.HCMix = func(v, fn oracle.Mat, _ float64) oracle.Mat { return exact(v, fn, 0) }
			return ops
		},
	},
	{
		Name: "eps-on-post", Class: "eps", Effect: "the gate after the sublayer has an eps, too",
		Origin: "E3; huggingface/transformers first revision", On: splits,
		Apply: around(func(exact splitter) splitter {
			return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				pre, post, comb = exact(m, scale, base, cfg)
				for i := range post.Data {
					post.Data[i] += cfg.Eps
				}
				return pre, post, comb
			}
		}),
	},
	{
		Name: "post-factor-2-missing", Class: "scale", Effect: "the gate after the sublayer is a plain sigmoid",
		Origin: "E2; huggingface/transformers first revision", On: splits,
		Apply: around(func(exact splitter) splitter {
			return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				pre, post, comb = exact(m, scale, base, cfg)
				for i := range post.Data {
					post.Data[i] /= 2
				}
				return pre, post, comb
			}
		}),
	},
	{
		Name: "sinkhorn-row-last", Class: "variant", Effect: "a row step follows the last column step",
		Origin: "E2, H3: order of steps", On: splits,
		Apply: around(func(exact splitter) splitter {
			return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				pre, post, comb = exact(m, scale, base, cfg)
				for at := 0; at < len(comb.Data); at += cfg.Streams {
					divide(comb.Data, at, 1, cfg.Streams, cfg.Eps)
				}
				return pre, post, comb
			}
		}),
	},
	{
		Name: "scales-swapped", Class: "scale", Effect: "the scales of pre and post are swapped", Origin: "parameter order",
		On: splits,
		Apply: around(func(exact splitter) splitter {
			return func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				return exact(m, []float64{scale[1], scale[0], scale[2]}, base, cfg)
			}
		}),
	},
	{
		Name: "base-dropped", Class: "gate", Effect: "the logits lack their bases", Origin: "bias not loaded", On: mixing,
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact, head := ops.HCSplit, ops.HCHead
			ops.HCSplit = func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				return exact(m, scale, make([]float64, len(base)), cfg)
			}
			ops.HCHead = func(m oracle.Mat, scale float64, base []float64, eps float64) oracle.Mat {
				return head(m, scale, make([]float64, len(base)), eps)
			}
			return ops
		},
	},
	{
		Name: "gate-by-tanh", Class: "gate", Effect: "the sigmoid is (1 + tanh(x/2))/2 in fp32, which cancels where the " +
			"gate is closed", Origin: "fast-math sigmoids", On: mixing,
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact, head := ops.HCSplit, ops.HCHead
			ops.HCSplit = func(m oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
				pre, post, comb = exact(m, scale, base, cfg)
				cancel(pre, 1, cfg.Eps)
				cancel(post, 2, 0)
				return pre, post, comb
			}
			ops.HCHead = func(m oracle.Mat, scale float64, base []float64, eps float64) oracle.Mat {
				pre := head(m, scale, base, eps)
				cancel(pre, 1, eps)
				return pre
			}
			return ops
		},
	},
	{
		Name: "streams-interleaved", Class: "layout", Effect: "x is read channel-major, [C, n] in place of [n, C]",
		Origin: "layout of the residual", On: spread,
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact := ops.HCPost
			ops.HCPost = func(f, post, comb, x oracle.Mat) oracle.Mat {
				turned, n, width := oracle.NewMat(x.Rows, x.Cols), post.Cols, f.Cols
				for t := range x.Rows {
					for j := range n {
						for c := range width {
							turned.Row(t)[j*width+c] = x.Row(t)[c*n+j]
						}
					}
				}
				return exact(f, post, comb, turned)
			}
			return ops
		},
	},
	{
		Name: "post-gate-dropped", Class: "gate", Effect: "the sublayer's output is added without its gate",
		Origin: "plain residual in place of a hyper-connection", On: spread,
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact := ops.HCPost
			ops.HCPost = func(f, post, comb, x oracle.Mat) oracle.Mat {
				ones := oracle.NewMat(post.Rows, post.Cols)
				for i := range ones.Data {
					ones.Data[i] = 1
				}
				return exact(f, ones, comb, x)
			}
			return ops
		},
	},
}

// cancel gives gates of height top, carrying eps, the absolute error of a tanh near -1 in fp32.
func cancel(gate oracle.Mat, top, eps float64) {
	for i, v := range gate.Data {
		tanh := float32(2*(v-eps)/top - 1)
		gate.Data[i] = top*float64((1+tanh)/2) + eps
	}
}
