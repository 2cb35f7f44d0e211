package faults

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

var hyperConnections = []Fault{
	{
		Name:   "comb-transposed",
		Effect: "the streams are mixed with comb contracted over its second index",
		Origin: "NVIDIA-NeMo/Automodel#2159, NVIDIA/Megatron-LM#4957, huggingface/transformers#46172",
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact := ops.HCPost
			ops.HCPost = func(f, post, comb, x oracle.Mat) oracle.Mat {
				n := post.Cols
				turned := oracle.NewMat(comb.Rows, comb.Cols)
				for t := range comb.Rows {
					for j := range n {
						for k := range n {
							turned.Row(t)[k*n+j] = comb.Row(t)[j*n+k]
						}
					}
				}
				return exact(f, post, turned, x)
			}
			return ops
		},
	},
	{
		Name:   "hc-eps-missing",
		Effect: "the gate before the sublayer and the Sinkhorn steps lack their eps",
		Origin: "eps missing on pre: the first revision in huggingface/transformers",
		Apply: swapSplit(func(cfg oracle.HCConfig) oracle.HCConfig {
			cfg.Eps = 0
			return cfg
		}),
	},
	{
		Name:   "sinkhorn-one-step-short",
		Effect: "Sinkhorn runs one row and column step fewer",
		Origin: "iteration count off by one; NVIDIA/Megatron-LM#5106 (native and fused disagree)",
		Apply: swapSplit(func(cfg oracle.HCConfig) oracle.HCConfig {
			cfg.Iterations--
			return cfg
		}),
	},
	{
		Name:   "hc-norm-sqrt2",
		Effect: "the mixes are sqrt 2 too large, as when half of the squares are summed",
		Origin: "a split-K partial sum of squares dropped",
		Apply: swapMix(func(mixes oracle.Mat) {
			for i := range mixes.Data {
				mixes.Data[i] *= math.Sqrt2
			}
		}),
	},
	{
		Name:   "hc-reads-past-end",
		Effect: "the last row's sum of squares includes the element after the tensor, which here is NaN",
		Origin: "over-read of an unpadded tail: FlashMLA and DeepGEMM poison unread memory for this reason",
		Apply: swapMix(func(mixes oracle.Mat) {
			if mixes.Rows == 0 {
				return
			}
			last := mixes.Row(mixes.Rows - 1)
			for i := range last {
				last[i] = math.NaN()
			}
		}),
	},
}

func swapSplit(change func(oracle.HCConfig) oracle.HCConfig) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		exact := ops.HCSplit
		ops.HCSplit = func(mixes oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
			return exact(mixes, scale, base, change(cfg))
		}
		return ops
	}
}

func swapMix(change func(mixes oracle.Mat)) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		exact := ops.HCMix
		ops.HCMix = func(v, fn oracle.Mat, normEps float64) oracle.Mat {
			mixes := exact(v, fn, normEps)
			change(mixes)
			return mixes
		}
		return ops
	}
}
