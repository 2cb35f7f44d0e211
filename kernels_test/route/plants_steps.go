package route

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// biasInWeights weighs by what chooses.
func biasInWeights(k *router) { k.weighed = func(_, c []float32) []float32 { return c } }

// groupsUnbiased ranks groups by their best score.
func groupsUnbiased(k *router) {
	k.group = func(_, s []float32, _ bool) float32 { return groupRank(s, nil, false) }
}

// gatePlants replace a step of the learned gate, and of the gate by token id.
func gatePlants() []bench.Plant {
	gate := func(name, effect, origin, class string, put func(k *router)) bench.Plant {
		return bench.Faulty(opGate, name, effect, origin, class, bench.With(correctRouter(), put).run)
	}
	naive := func(k *router) {
		k.score = func(x float32, scoring string) float32 {
			if scoring == "sigmoid" {
				return activation(x, scoring)
			}
			return float32(math.Sqrt(math.Log(float64(1 + exp32(x)))))
		}
	}
	chooses := correctHasher()
	chooses.choose = func(k hasher, row []int, s []float32) []int { return k.top(s, len(row)) }
	return []bench.Plant{
		gate("gate-renormalised-over-all", "the sum runs over all experts", "sum before the choice", "scale",
			func(k *router) { k.total = func(k router, _, all []float32) float32 { return k.sum(all) } }),
		gate("gate-renormalised-but-last", "the sum leaves the last chosen expert out", "a sum over k-1 lanes", "scale",
			func(k *router) {
				k.total = func(k router, chosen, _ []float32) float32 { return k.sum(chosen[:max(len(chosen)-1, 1)]) }
			}),
		gate("gate-bias-in-weights", "the bias stays in the weights", "flashinfer-ai/flashinfer#2575", "selection",
			biasInWeights),
		gate("gate-bias-on-logits", "the bias is added to the logits for the choice", "bias before the activation",
			"selection", func(k *router) { k.rank = func(_, z, bias float32) float32 { return z + bias } }),
		gate("gate-groups-by-best", "groups with a bias are ranked by their best expert alone", "the rule without bias",
			"selection", func(k *router) {
				k.group = func(c, _ []float32, _ bool) float32 { return groupRank(c, nil, false) }
			}),
		gate("gate-groups-by-sum", "groups without a bias are ranked by two experts", "the rule with bias", "selection",
			func(k *router) { k.group = func(c, _ []float32, _ bool) float32 { return groupRank(c, nil, true) } }),
		gate("gate-groups-unbiased", "groups are ranked without the bias", "flashinfer-ai/flashinfer#2575", "selection",
			groupsUnbiased),
		gate("gate-masked-with-zero", "experts of dropped groups compete with a score of 0",
			"masked_fill(0) in place of -inf", "selection", func(k *router) { k.masked = 0 }),
		gate("gate-worst-of-k", "the k-th expert is the next best", "an off-by-one in the last round", "selection",
			func(k *router) {
				k.pick = func(order []int, n int) []int {
					if n == len(order) {
						return order
					}
					return append(append([]int{}, order[:n-1]...), order[n])
				}
			}),
		gate("gate-padded-experts", "experts that pad the row to a vector take part with a logit of 0",
			"flashinfer-ai/flashinfer#2575", "selection", func(k *router) {
				k.logits = func(z []float64) []float64 { return append(append([]float64{}, z...), make([]float64, -len(z)&7)...) }
			}),
		gate("gate-ids-repeated", "two experts of equal score are one expert twice", "selection by value", "selection",
			func(k *router) {
				k.arrange = func(chosen []int, c []float32) {
					if len(chosen) > 1 && c[chosen[0]] == c[chosen[1]] {
						chosen[1] = chosen[0]
					}
				}
			}),
		gate("gate-log2e-in-bf16", "log2 e is a constant of bf16", "a constant that was narrowed with its tensor", "gate",
			throughEx2(bench.AsBF16(math.Log2E))).Under(fastExp),
		gate("gate-bias-in-choice-alone", "a bias of the logits is added to the scores", "the two conventions confused",
			"gate", func(k *router) { k.convention = "choice" }),
		gate("gate-ties-to-higher", "ties go to the higher expert", "another order of comparison", "selection",
			higherTies).Under("lowest-index"),
		gate("gate-ties-by-lane", "ties go to the lower lane of a warp, where expert e lies in lane e mod 32",
			"a reduction over lanes that compares no indices", "selection", laneTies).Under("lowest-index"),
		gate("gate-naive-softplus", "ln(1+e^z) is computed as written", "sgl-project/sglang#34459", "gate", naive),
		gate("gate-no-root", "softplus without its root", "an activation named alike", "gate", func(k *router) {
			k.score = func(x float32, scoring string) float32 {
				if scoring == "sigmoid" {
					return activation(x, scoring)
				}
				return softplus(x)
			}
		}),
		gate("gate-bf16-scores", "scores are rounded to bf16", "NVIDIA-NeMo/Automodel#2201", "gate", func(k *router) {
			k.score = func(x float32, scoring string) float32 { return bench.AsBF16(activation(x, scoring)) }
		}),
		bench.Faulty(opHash, "hash-chooses", "the best experts are chosen as in a learned gate",
			"hash layers taken for others", "selection", chooses.run),
		bench.Faulty(opHash, "hash-naive-softplus", "ln(1+e^z) is computed as written", "sgl-project/sglang#34459", "gate",
			correctHasher(naive).run),
	}
}

// combinePlants replace a step of the sum over experts.
func combinePlants() []bench.Plant {
	combined := func(name, effect, origin, class string, put func(k *combiner)) bench.Plant {
		return bench.Faulty(opCombine, name, effect, origin, class, bench.With(correctCombiner(), put).run)
	}
	return []bench.Plant{
		combined("combine-renormalised", "weights are divided by the sum of those here", "renormalised on each rank",
			"scale", func(k *combiner) {
				k.arrange = func(slots []slot) {
					var total float32
					for _, s := range slots {
						total += s.weight
					}
					for i := range slots {
						slots[i].weight /= total
					}
				}
			}),
		combined("combine-narrow-sum", "the sum is kept in bf16", "an accumulator of the output's dtype", "accumulation",
			func(k *combiner) { k.add = func(acc, term float32) float32 { return bench.AsBF16(acc + term) } }).Under("fp32"),
		combined("combine-terms-bf16", "every product is rounded to bf16", "weighted outputs stored in bf16",
			"accumulation", func(k *combiner) {
				k.term = func(weight, x, _ float32) float32 { return bench.AsBF16(weight * x) }
			}).Under("fp32"),
	}
}
