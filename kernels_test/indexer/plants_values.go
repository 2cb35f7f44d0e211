package indexer

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// valuePlants compute another function, or in another arithmetic than declared.
func valuePlants() []bench.Plant {
	inKernel := func(f func(l *launch)) bench.Builder {
		return edited(func(_ bench.Args, l *launch) { f(l) })
	}
	return []bench.Plant{
		own("no-relu", "ReLU is omitted", "relu left out", "gate", logitOps,
			inKernel(func(l *launch) { l.relu = same })),
		own("relu-after-sum", "relu is taken of the sum over heads", "a plain attention score clamped", "gate", logitOps,
			inKernel(func(l *launch) { l.whole = relu })),
		own("gelu-for-relu", "the gate is x·sigmoid(1.702 x)", "another activation", "gate", logitOps,
			inKernel(func(l *launch) {
				l.relu = func(x float32) float32 { return float32(float64(x) / (1 + math.Exp(-1.702*float64(x)))) }
			})),
		own("leaky-relu", "a hundredth of negative dot products counts", "another activation", "gate", logitOps,
			inKernel(func(l *launch) {
				l.relu = func(x float32) float32 { return max(x, 0.01*x) }
			})),
		own("weights-absolute", "head weights count by their size", "a scale assumed positive", "gate", logitOps,
			inKernel(func(l *launch) {
				l.weight = func(t, h int) float32 { return float32(math.Abs(float64(l.w[t][h]))) }
			})),
		own("weights-of-next-head", "head h has the weight of head h+1", "heads permuted in a fused kernel", "layout",
			logitOps, inKernel(func(l *launch) {
				l.weight = func(t, h int) float32 { return l.w[t][(h+1)%l.heads] }
			})),
		own("weights-of-row-0", "all queries have the weights of the first", "a broadcast of the wrong axis", "layout",
			logitOps, inKernel(func(l *launch) {
				l.weight = func(_, h int) float32 { return l.w[0][h] }
			})),
		own("weights-dropped", "all heads count alike", "weights not folded in", "layout", logitOps,
			inKernel(func(l *launch) {
				l.weight = func(int, int) float32 { return float32(1 / math.Sqrt(float64(l.heads*l.dim))) }
			})),
		own("last-head-lost", "the last head does not count", "head groups rounded down", "tile", logitOps,
			inKernel(func(l *launch) { l.heads-- })),
		own("half-precision-weights", "head weights are rounded to bf16", "weights kept in the model's dtype",
			"accumulation", logitOps, inKernel(func(l *launch) {
				l.weight = func(t, h int) float32 { return bench.AsBF16(l.w[t][h]) }
			})).Under("fp32"),
		own("scale-squared", "the key's scale is applied twice", "scales folded into the page and applied again", "scale",
			logitOps, inKernel(func(l *launch) {
				for i, s := range l.scale {
					l.scale[i] = s * s
				}
			})),
		own("scale-inverted", "logits are divided by the key's scale", "scale_inv", "scale", logitOps,
			inKernel(func(l *launch) {
				for i, s := range l.scale {
					l.scale[i] = 1 / s
				}
			})),
		own("scales-in-bf16", "the key's scale is rounded to bf16", "scales converted with the keys", "accumulation",
			logitOps, inKernel(func(l *launch) { roundAll(l.scale) })).Under("fp32", "hopper-fp8"),
		own("dots-in-bf16", "dot products are rounded to bf16 and declared fp32", "a torch fallback with a bf16 bmm",
			"accumulation", logitOps, changed(func(k *kernel) { k.roundDot = bench.AsBF16 })).Under("fp32"),
		own("keys-in-bf16", "scaled keys are rounded to bf16 and declared fp32", "keys dequantised before the dot product",
			"accumulation", logitOps, changed(keysInBF16)).Under("fp32"),
		own("terms-in-bf16", "products with weights are rounded to bf16 and declared otherwise",
			"the reference's tensors are bf16 throughout", "accumulation", logitOps,
			changed(func(k *kernel) { k.roundTerm = bench.AsBF16 })).Under("fp32", "hopper-fp8"),
		own("logits-in-bf16", "logits are rounded to bf16 and declared fp32", "bf16 logits of SM100", "accumulation",
			logitOps, changed(func(k *kernel) { k.roundSum = bench.AsBF16 })).Under("fp32"),
		own("fp8-sums-declared-fp32", "13-bit truncating sums of fp8 tensor cores are declared fp32",
			"no promotion to fp32", "accumulation", logitOps, changed(func(k *kernel) {
				k.dotFP8 = bench.DotUnder[float32](numerics.HopperFP8(0))
			})).Under("fp32"),
		own("heads-chained-in-bf16", "every step of the sum over heads is rounded to bf16",
			"an accumulator in the tensors' dtype", "accumulation", logitOps,
			changed(summing(addBF16))),
		own("last-channel-lost", "the last channel does not count", "a vector loop rounded down", "tile", logitOps,
			changed(func(k *kernel) { k.dotFP8, k.dotBF16 = shortDot(k.dotFP8), shortDot(k.dotBF16) })),
	}
}

func addBF16(v []float32) float32 {
	var s float32
	for _, x := range v {
		s = bench.AsBF16(s + x)
	}
	return s
}

func shortDot(d bench.Dot[float32]) bench.Dot[float32] {
	return func(q, k []float32) float32 { return d(q[:len(q)-1], k[:len(k)-1]) }
}
