package compressor

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// biasPlants are faults of the position bias.
func biasPlants() []bench.Plant {
	at := func(on []string, name, class, effect, origin string, f func(position, start, ratio int) int) bench.Plant {
		return faulty(on, name, class, effect, origin, func(k *kernel) { k.biasRow = f })
	}
	with := func(name, effect, origin string, f func(gate, ape float32) float32) bench.Plant {
		return faulty(both, name, "offset", effect, origin, func(k *kernel) { k.bias = f })
	}
	return []bench.Plant{
		at(both, "bias-one-late", "layout", "each token has the bias of the position after it", "positions counted from 1",
			func(p, _, r int) int { return (p + 1) % r }),
		at(both, "bias-reversed", "layout", "the bias runs backwards in the block",
			"distance to the end of the block taken for position", func(p, _, r int) int { return r - 1 - p%r }),
		at(both, "bias-of-row-0", "layout", "every token has the bias of the first position", "row index dropped",
			func(_, _, _ int) int { return 0 }),
		at(carried, "bias-from-chunk-start", "chunk-state", "positions of the bias count from the first new token",
			"chunk-local positions", func(p, start, r int) int { return (p - start) % r }),
		with("bias-missing", "gates have no position bias", "bias not loaded", func(g, _ float32) float32 { return g }),
		with("bias-twice", "the position bias is added twice", "added by the projection and by the kernel",
			func(g, b float32) float32 { return g + b + b }),
		with("bias-subtracted", "the position bias is subtracted", "sign", func(g, b float32) float32 { return g - b }),
		with("bias-in-bf16", "gate and bias are added in bf16", "parameters cast on loading", func(g, b float32) float32 {
			return bench.AsBF16(g + b)
		}),
	}
}

// softmaxPlants are faults of the pooling of one channel.
func softmaxPlants() []bench.Plant {
	pooled := func(name, class, effect, origin string, f pooler) bench.Plant {
		return faulty(both, name, class, effect, origin, func(k *kernel) { k.pool = f })
	}
	each := func(f func(float32) float32, v []float32) []float32 {
		out := slices.Clone(v)
		for i := range out {
			out[i] = f(out[i])
		}
		return out
	}
	return []bench.Plant{
		pooled("maximum-not-taken-out", "gate", "the maximum is not subtracted before the exponential, which overflows",
			"softmax without shift", func(g, v []float32) float32 {
				var acc, all float32
				for j := range g {
					e := exp32(g[j])
					acc, all = acc+float32(e*v[j]), all+e
				}
				return acc / all
			}),
		pooled("maximum-from-0", "gate", "the running maximum begins at 0", "an accumulator cleared with zeros",
			func(g, v []float32) float32 {
				top := max(slices.Max(g), 0)
				var acc, all float32
				for j := range g {
					e := exp32(g[j] - top)
					acc, all = acc+float32(e*v[j]), all+e
				}
				return acc / all
			}),
		pooled("sum-not-rescaled", "split", "an online softmax rescales the values at a new maximum and not the sum of "+
			"weights", "one of two accumulators", func(g, v []float32) float32 {
			top := g[0]
			var acc, all float32
			for j := range g {
				if g[j] > top {
					acc *= exp32(top - g[j])
					top = g[j]
				}
				e := exp32(g[j] - top)
				acc, all = acc+float32(e*v[j]), all+e
			}
			return acc / all
		}),
		pooled("halves-averaged", "split", "two halves of the tokens are pooled by themselves and averaged",
			"merge without weights", func(g, v []float32) float32 {
				if len(g) < 2 {
					return plain(g, v)
				}
				h := len(g) / 2
				return (plain(g[:h], v[:h]) + plain(g[h:], v[h:])) / 2
			}),
		pooled("masked-part-merged", "empty-row", "a half of the tokens whose gates are all -Inf is merged as NaN",
			"-Inf - (-Inf) in a merge: vllm-project/vllm#48364", func(g, v []float32) float32 {
				h := len(g) / 2
				if h == 0 {
					return plain(g, v)
				}
				a, b := plain(g[:h], v[:h]), plain(g[h:], v[h:])
				top := slices.Max(g)
				sum := func(part []float32) float32 {
					own := slices.Max(part)
					return bench.Sequential(weights(part, exp32)) * exp32(own-top)
				}
				x, y := sum(g[:h]), sum(g[h:])
				return (a*x + b*y) / (x + y)
			}),
		pooled("not-divided", "scale", "weights are not normalised", "division left to the norm after it",
			func(g, v []float32) float32 { return bench.DotSequential(weights(g, exp32), v) }),
		pooled("base-2-gates", "log-base", "weights are powers of 2 of the gates without log2 e", "exp2 for exp",
			normaliseLast(bench.Sequential, func(x float32) float32 {
				return float32(math.Exp2(float64(x)))
			})),
		pooled("mean-in-place-of-softmax", "gate", "a block is the mean of its tokens", "average pooling",
			func(g, v []float32) float32 { return bench.Sequential(v) / float32(len(g)) }),
		pooled("sigmoid-weights", "gate", "weights are normalised sigmoids of the gates", "gate taken for a logistic one",
			func(g, v []float32) float32 {
				w := each(func(x float32) float32 { return 1 / (1 + exp32(-x)) }, g)
				return bench.DotSequential(w, v) / bench.Sequential(w)
			}),
		pooled("values-in-bf16", "accumulation", "values are rounded to bf16", "a bf16 projection declared fp32",
			func(g, v []float32) float32 { return plain(g, each(bench.AsBF16, v)) }),
		pooled("gates-in-bf16", "accumulation", "biased gates are rounded to bf16", "a bf16 state declared fp32",
			func(g, v []float32) float32 { return plain(each(bench.AsBF16, g), v) }),
		pooled("weights-in-bf16", "accumulation", "weights are rounded to bf16 before the sum", "tensor-core pooling",
			func(g, v []float32) float32 {
				return normaliseLast(bench.Sequential, func(x float32) float32 { return bench.AsBF16(exp32(x)) })(g, v)
			}),
		pooled("sums-in-bf16", "accumulation", "sums are rounded to bf16 after every term", "a bf16 accumulator",
			func(g, v []float32) float32 {
				e := weights(g, exp32)
				var acc, all float32
				for j := range e {
					acc, all = bench.AsBF16(acc+e[j]*v[j]), bench.AsBF16(all+e[j])
				}
				return acc / all
			}),
		pooled("coarse-exponential", "accumulation", "the exponential is good to 12 bits", "a table without interpolation",
			normaliseLast(bench.Sequential, func(x float32) float32 {
				return exp32(x) * (1 + 1.0/4096*float32(math.Sin(float64(x)*9)))
			})),
	}
}
