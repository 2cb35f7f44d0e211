package route

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

func planted(op, name, effect, origin, class string, k bench.Kernel) bench.Plant {
	return bench.Plant{
		Name:   name,
		Effect: effect,
		Origin: origin,
		Class:  class,
		On:     []string{op},
		Build: func(string) (bench.Candidate, error) {
			return bench.FromKernel("faulty", op, k), nil
		},
	}
}

func gatePlant(name, effect, origin, class string, o gateOptions) bench.Plant {
	return planted(opGate, name, effect, origin, class, gateWith(bench.Sequential, o))
}

func hashPlant(name, effect, origin, class string, o hashOptions) bench.Plant {
	return planted(opHash, name, effect, origin, class, hashWith(bench.Sequential, o))
}

func combinePlant(name, effect, origin, class string, o combineOptions) bench.Plant {
	return planted(opCombine, name, effect, origin, class, combineWith(o))
}

// row is a plant of the catalogue.
func row(id, op string, k bench.Kernel) bench.Plant {
	r, err := faults.ByRow(id)
	if err != nil {
		return bench.Plant{
			Name:   "unknown-row-" + id,
			Effect: err.Error(),
			On:     []string{op},
			Build:  func(string) (bench.Candidate, error) { return nil, err },
		}
	}
	p := planted(op, r.Slug, r.Effect, r.Origin, r.Class, k)
	p.Row = id
	return p
}

// declared limits a plant to contracts.
func declared(p bench.Plant, contracts ...string) bench.Plant {
	p.Declared = contracts
	return p
}

func plants() []bench.Plant {
	out := []bench.Plant{
		row("R1", opGate, gateWith(bench.Sequential, gateOptions{twice: true})),
		row("R2", opCombine, combineWith(combineOptions{sharedDivided: true})),
		row("R3", opGate, gateWith(bench.Sequential, gateOptions{scalingRenormalised: true})),
		row("R5", opGate, gateWith(bench.Sequential, gateOptions{biasInWeights: true, groupsUnbiased: true})),

		gatePlant("gate-scaling-missing", "the routed scaling factor is not applied",
			"factor left to a kernel that does not know it", "scale", gateOptions{noScaling: true}),
		gatePlant("gate-scaling-inverted", "the weights are divided by the factor", "a reciprocal factor", "scale",
			gateOptions{inverted: true}),
		gatePlant("gate-renormalised-always", "weights are renormalised although the flag is off",
			"a reference that always does", "scale", gateOptions{
				alwaysRenormalise: true,
			}),
		gatePlant("gate-renormalised-never", "weights are not renormalised", "flag ignored", "scale",
			gateOptions{neverRenormalise: true}),
		gatePlant("gate-renormalised-over-all", "the sum runs over all experts", "sum before the choice", "scale",
			gateOptions{overAll: true}),
		gatePlant("gate-renormalised-but-last", "the sum leaves the last chosen expert out", "a sum over k-1 lanes", "scale",
			gateOptions{oneLess: true}),
		gatePlant("gate-floor-missing", "no floor under the sum", "sgl-project/sglang#34459", "eps",
			gateOptions{noFloor: true}),
		gatePlant("gate-bias-ignored", "scores alone choose", "correction bias not passed", "selection",
			gateOptions{noBias: true}),
		gatePlant("gate-bias-in-weights", "the bias stays in the weights", "flashinfer-ai/flashinfer#2575", "selection",
			gateOptions{biasInWeights: true}),
		gatePlant("gate-bias-on-logits", "the bias is added to the logits for the choice", "bias before the activation",
			"selection", gateOptions{biasOnLogits: true}),
		gatePlant("gate-groups-ignored", "every group stays", "an ungrouped kernel", "selection",
			gateOptions{noGroups: true}),
		gatePlant("gate-groups-by-best", "groups with a bias are ranked by their best expert alone", "the rule without bias",
			"selection", gateOptions{groupsByBest: true}),
		gatePlant("gate-groups-by-sum", "groups without a bias are ranked by two experts", "the rule with bias", "selection",
			gateOptions{groupsBySum: true}),
		gatePlant("gate-groups-unbiased", "groups are ranked without the bias", "flashinfer-ai/flashinfer#2575", "selection",
			gateOptions{groupsUnbiased: true}),
		gatePlant("gate-one-group-more", "one group too many stays", "an inclusive bound", "selection",
			gateOptions{oneGroupMore: true}),
		gatePlant("gate-masked-with-zero", "experts of dropped groups compete with a score of 0",
			"masked_fill(0) in place of -inf", "selection", gateOptions{zeroMask: true}),
		gatePlant("gate-worst-of-k", "the k-th expert is the next best", "an off-by-one in the last round", "selection",
			gateOptions{worst: true}),
		gatePlant("gate-padded-experts", "experts that pad the row to a vector take part with a logit of 0",
			"flashinfer-ai/flashinfer#2575", "selection", gateOptions{paddedExperts: true}),
		gatePlant("gate-ids-repeated", "two experts of equal score are one expert twice", "selection by value", "selection",
			gateOptions{repeated: true}),
		declared(gatePlant("gate-ties-to-higher", "ties go to the higher expert", "another order of comparison", "selection",
			gateOptions{higherTies: true}), "lowest-index"),
		declared(gatePlant("gate-ties-by-lane", "ties go to the lower lane of a warp, where expert e lies in lane e mod 32",
			"a reduction over lanes that compares no indices", "selection", gateOptions{laneTies: true}), "lowest-index"),
		gatePlant("gate-sigmoid", "scores are sigmoid whatever is declared", "flashinfer-ai/flashinfer#5190", "gate",
			gateOptions{scoring: "sigmoid"}),
		gatePlant("gate-softmax", "scores are softmax whatever is declared", "a routing mode left at its default", "gate",
			gateOptions{scoring: "softmax"}),
		gatePlant("gate-naive-softplus", "ln(1+e^z) is computed as written", "sgl-project/sglang#34459", "gate",
			gateOptions{naiveSoftplus: true}),
		gatePlant("gate-no-root", "softplus without its root", "an activation named alike", "gate",
			gateOptions{noRoot: true}),
		gatePlant("gate-bf16-scores", "scores are rounded to bf16", "NVIDIA-NeMo/Automodel#2201", "gate",
			gateOptions{bf16Scores: true}),
		gatePlant("gate-misaligned", "ids are sorted and their weights are not", "a sort of keys without values", "layout",
			gateOptions{misaligned: true}),
		gatePlant("gate-wild-nan", "a token with a NaN gets ids of -1", "an argmax that finds nothing", "selection",
			gateOptions{wildNaN: true}),
		gatePlant("gate-nan-spreads", "tokens after one with a NaN get NaN", "a reduction over the block", "batch",
			gateOptions{neighboursNaN: true}),
		gatePlant("gate-padding-routed", "padding tokens are routed", "num_token_non_padded ignored", "unread-memory",
			gateOptions{noPadding: true}),

		hashPlant("hash-by-index", "the table is read by the token's place", "token ids lost in a scatter", "selection",
			hashOptions{byIndex: true}),
		hashPlant("hash-next-row", "the table is read one row further", "ids counted from 1", "selection",
			hashOptions{nextRow: true}),
		hashPlant("hash-16-bit", "token ids are cut to 16 bits", "ids stored in 16 bits", "selection",
			hashOptions{shortID: true}),
		hashPlant("hash-transposed", "the table is read transposed", "a table stored [K, V]", "selection",
			hashOptions{transposed: true}),
		hashPlant("hash-chooses", "the best experts are chosen as in a learned gate", "hash layers taken for others",
			"selection", hashOptions{chooses: true}),
		hashPlant("hash-uniform", "all experts weigh alike", "scores not computed in hash layers", "gate",
			hashOptions{uniform: true}),
		hashPlant("hash-misaligned", "weights are one slot off", "weights of another order", "layout",
			hashOptions{misaligned: true}),
		hashPlant("hash-repeated", "the last expert is the first again", "a row read one short", "selection",
			hashOptions{firstRepeated: true}),
		hashPlant("hash-scaling-missing", "the factor is not applied", "a fused kernel without factor", "scale", hashOptions{
			gate: gateOptions{noScaling: true},
		}),
		hashPlant("hash-scaling-twice", "the factor is applied twice", "factor in kernel and layer", "scale", hashOptions{
			gate: gateOptions{twice: true},
		}),
		hashPlant("hash-renormalised-always", "weights are renormalised although the flag is off", "flag ignored", "scale",
			hashOptions{
				gate: gateOptions{alwaysRenormalise: true},
			}),
		hashPlant("hash-floor-missing", "no floor under the sum", "sgl-project/sglang#34459", "eps", hashOptions{
			gate: gateOptions{noFloor: true},
		}),
		hashPlant("hash-naive-softplus", "ln(1+e^z) is computed as written", "sgl-project/sglang#34459", "gate", hashOptions{
			gate: gateOptions{naiveSoftplus: true},
		}),
		hashPlant("hash-sigmoid", "scores are sigmoid whatever is declared", "flashinfer-ai/flashinfer#5190", "gate",
			hashOptions{
				gate: gateOptions{scoring: "sigmoid"},
			}),

		combinePlant("combine-shared-scaled", "the factor multiplies the shared expert too", "factor on the whole output",
			"scale", combineOptions{sharedScaled: true}),
		combinePlant("combine-shared-missing", "the shared expert is not added", "shared expert lost in a fusion", "scale",
			combineOptions{noShared: true}),
		combinePlant("combine-shared-twice", "the shared expert is added twice", "added by layer and kernel", "scale",
			combineOptions{sharedTwice: true}),
		combinePlant("combine-factor-twice", "the factor is applied twice", "vllm-project/vllm#45037", "scale",
			combineOptions{twice: true}),
		combinePlant("combine-factor-missing", "the factor is not applied", "factor left to the gate", "scale",
			combineOptions{noFactor: true}),
		combinePlant("combine-factor-inverted", "the routed sum is divided by the factor", "a reciprocal factor", "scale",
			combineOptions{inverted: true}),
		combinePlant("combine-weights-squared", "weights are applied twice", "weights before and after the last product",
			"scale", combineOptions{weightSquared: true}),
		combinePlant("combine-weights-missing", "weights are not applied", "weights left to another kernel", "scale",
			combineOptions{noWeights: true}),
		combinePlant("combine-renormalised", "weights are divided by the sum of those here", "renormalised on each rank",
			"scale", combineOptions{renormalised: true}),
		combinePlant("combine-missing-is-row-0", "a slot without row reads row 0", "-1 clamped to 0", "unread-memory",
			combineOptions{missingAsRowZero: true}),
		combinePlant("combine-missing-is-last", "a slot without row reads the last row", "-1 as an index from the end",
			"unread-memory", combineOptions{missingAsLast: true}),
		combinePlant("combine-rows-in-order", "rows are taken in order of tokens and slots", "src2dst ignored", "layout",
			combineOptions{identity: true}),
		combinePlant("combine-next-row", "every slot reads the row after its own", "offsets without the first", "layout",
			combineOptions{shifted: true}),
		combinePlant("combine-misaligned", "weights are one slot off", "weights of another order", "layout",
			combineOptions{misaligned: true}),
		combinePlant("combine-last-slot-lost", "the last slot is left out", "a loop over k-1", "tile",
			combineOptions{lastSlotLost: true}),
		declared(combinePlant("combine-narrow-sum", "the sum is kept in bf16", "an accumulator of the output's dtype",
			"accumulation", combineOptions{narrow: true}), "fp32"),
		declared(combinePlant("combine-terms-bf16", "every product is rounded to bf16", "weighted outputs stored in bf16",
			"accumulation", combineOptions{roundedTerms: true}), "fp32"),
	}
	return append(out, memoryPlants()...)
}
