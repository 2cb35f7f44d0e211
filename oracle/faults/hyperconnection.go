package faults

import (
	"math"

	"github.com/assay-suite/assay/numerics/format"
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
				swapped := oracle.NewMat(comb.Rows, comb.Cols)
				for t := range comb.Rows {
					for j := range n {
						for k := range n {
							swapped.Row(t)[k*n+j] = comb.Row(t)[j*n+k]
						}
					}
				}
				return exact(f, post, swapped, x)
			}
			return ops
		},
	},
	{
		Name:   "hc-eps-missing",
		Effect: "the pre gate and the Sinkhorn steps lack their eps",
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
	{
		Name:   "sinkhorn-exp-without-eps",
		Effect: "Sinkhorn starts with the exponential of the shifted logits and has no eps",
		Origin: "NVIDIA/Megatron-LM#5106",
		Row:    "H3",
		Apply:  otherSinkhorn(oracle.SinkhornVariant{Start: oracle.StartRowExp, Iterations: 20}),
	},
	{
		Name:   "sinkhorn-in-log-space",
		Effect: "Sinkhorn takes 20 steps in log space, rows last, without eps",
		Origin: "TransformerEngine, TileKernels and FlashInfer differ",
		Row:    "H4",
		Apply:  otherSinkhorn(oracle.SinkhornVariant{Start: oracle.StartExp, Iterations: 20, RowsLast: true}),
	},
	{
		Name:   "hc-mix-bf16",
		Effect: "the mixing GEMM reads its operands in bf16",
		Origin: "the report that assay grew from",
		Row:    "A6",
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact := ops.HCMix
			ops.HCMix = func(v, fn oracle.Mat, normEps float64) oracle.Mat {
				mixes := exact(v, fn, normEps)
				coarse := exact(rounded(v), rounded(fn), normEps)
				// the norm is taken of the fp32 row: only the products are coarse
				for t := range mixes.Rows {
					ratio := rms(rounded(v).Row(t), normEps) / rms(v.Row(t), normEps)
					for i := range mixes.Row(t) {
						mixes.Row(t)[i] = coarse.Row(t)[i] * ratio
					}
				}
				return mixes
			}
			return ops
		},
	},
}

// otherSinkhorn normalises comb by another published variant.
func otherSinkhorn(v oracle.SinkhornVariant) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		exact := ops.HCSplit
		ops.HCSplit = func(mixes oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
			pre, post, comb = exact(mixes, scale, base, cfg)
			n := cfg.Streams
			for t := range mixes.Rows {
				b := comb.Row(t)
				for i := range b {
					b[i] = mixes.Row(t)[2*n+i]*scale[2] + base[2*n+i]
				}
				v.Apply(b, n)
			}
			return pre, post, comb
		}
		return ops
	}
}

// rounded is a matrix in bf16.
func rounded(m oracle.Mat) oracle.Mat {
	out := m.Clone()
	format.BF16.RoundSlice(out.Data)
	return out
}

func rms(v []float64, eps float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum/float64(len(v)) + eps)
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
