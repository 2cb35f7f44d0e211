package sparse

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
)

// attentionPlants are faults of scores, softmax, sink, parts and sums.
func attentionPlants() []bench.Plant {
	all := sampled()
	const release, mla = "DeepSeek-V4 inference/kernel.py", "deepseek-ai/FlashMLA"
	return []bench.Plant{
		replacing("softmax-scale-missing", "scale", "scores are not scaled", release, all, func(k *kernel[float32]) {
			scale := k.scale
			k.scale = func(float32) float32 { return scale(1) }
		}),
		replacing("exp2-of-natural-scores", "log-base", "weights are 2^z: log2 e is not folded into the scale",
			"FlashMLA's exp2 form without its factor", all, func(k *kernel[float32]) {
				two := inBaseOf(k.Stream, baseTwo[float32]())
				two.scale = func(softmaxScale float32) float32 { return softmaxScale }
				*k = two
			}),
		replacing("sink-missing", "scale", "the sink is not added to the denominator", release, all,
			func(k *kernel[float32]) {
				k.sink = func(gathered, int, int) float32 { return float32(math.Inf(-1)) }
			}),
		replacing("sink-scaled", "scale", "the sink is multiplied by the softmax scale", release, all,
			func(k *kernel[float32]) {
				sink := k.sink
				k.sink = func(g gathered, h, parts int) float32 {
					return sink(g, h, parts) * k.scale(float32(g.scale))
				}
			}),
		replacing("sink-per-split", "split", "every part adds the sink", mla, all, sinkPerSplit),
		replacing("sink-in-lse", "scale", "the log-sum-exp includes the sink", mla, all, func(k *kernel[float32]) {
			lse := k.lse
			k.lse = func(s softmax.State, sink float32, parts int) float32 {
				s.Sum = float64(float32(s.Sum) + k.Exp(sink-float32(s.Max)))
				return lse(s, sink, parts)
			}
		}),
		replacing("empty-row-nan", "empty-row", "a query without rows is 0 / 0", release, all, func(k *kernel[float32]) {
			k.empty = math.NaN()
		}),
		replacing("empty-lse-other-sign", "empty-row", "the log-sum-exp of a query without rows has the other sign", mla,
			all, func(k *kernel[float32]) {
				lse := k.emptyLSE
				k.emptyLSE = func(plusInf bool) float64 { return lse(!plusInf) }
			}),
		replacing("empty-split-nan", "empty-row", "a part without rows has a NaN log-sum-exp", mla, all,
			func(k *kernel[float32]) {
				partial := k.partial
				k.partial = func(g gathered, s softmax.State) float32 {
					if math.IsInf(s.Max, -1) {
						return float32(math.NaN())
					}
					return partial(g, s)
				}
			}),
		replacing("split-tail-dropped", "split", "entries after the last full part are left out",
			"parts of n / num_splits rows", all, func(k *kernel[float32]) {
				k.cut = func(part, parts, n int) (from, to int) { return part * (n / parts), (part + 1) * (n / parts) }
			}),
		replacing("lse-to-other-base", "log-base", "the log-sum-exp is in the other base", "flashinfer-ai/flashinfer#4485",
			all, func(k *kernel[float32]) {
				toBase := k.toBase
				k.toBase = func(natural float32, base2 bool) float32 { return toBase(natural, !base2) }
			}),
		replacing("max-in-base-2", "log-base", "the largest score comes in units of log2 e", mla, all,
			func(k *kernel[float32]) {
				largest := k.largest
				k.largest = func(score float32) float32 { return by(largest(score), math.Log2E) }
			}),
		replacing("split-lse-base", "log-base", "partial log-sum-exps in base 2 are combined as natural ones",
			"deepseek-ai/FlashMLA combine kernel", all, func(k *kernel[float32]) {
				partial := k.partial
				k.partial = func(g gathered, s softmax.State) float32 { return by(partial(g, s), math.Log2E) }
			}),
		replacing("value-is-tail", "layout", "the last d_v channels of a row are its value",
			"rope in front in place of behind", []string{fp32, flashMLA, v32Pages}, func(k *kernel[float32]) {
				k.value = func(g gathered, row []float64) []float64 {
					if row == nil {
						return nil
					}
					return row[len(row)-g.dv:]
				}
			}),
		replacing("scores-in-bf16", "accumulation", "scores are rounded to bf16", "an unfused attention", all,
			func(k *kernel[float32]) {
				k.Score = func(dot, scale float32) float32 { return bench.AsBF16(dot) * scale }
			}),
		replacing("output-sum-in-bf16", "accumulation", "the output accumulates in bf16", "an unfused attention", all,
			func(k *kernel[float32]) {
				k.Add = func(acc []float32, p float32, v []float64) {
					for c, x := range v {
						acc[c] = bench.AsBF16(acc[c] + float32(p*float32(x)))
					}
				}
			}),
	}
}

// sinkPerSplit adds the sink to every part that has rows, where there are several, and not to the whole.
func sinkPerSplit(k *kernel[float32]) {
	sink := k.sink
	k.divided = func(g gathered, h int, parts []softmax.State) {
		for i, s := range parts {
			if len(parts) > 1 && !math.IsInf(s.Max, -1) {
				parts[i].Sum = float64(float32(s.Sum) + k.Exp(sink(g, h, 1)-float32(s.Max)))
			}
		}
	}
	k.sink = func(g gathered, h, parts int) float32 {
		if parts > 1 {
			return float32(math.Inf(-1))
		}
		return sink(g, h, parts)
	}
}
