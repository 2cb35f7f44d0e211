package route

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func gates(e, k, groups, keep int, t ...int) []bench.Shape {
	var out []bench.Shape
	for _, n := range t {
		name := fmt.Sprintf("e%d-k%d-t%d", e, k, n)
		if groups > 1 {
			name = fmt.Sprintf("e%d-k%d-g%d-of%d-t%d", e, k, keep, groups, n)
		}
		out = append(out, bench.S(name, map[string]int{"tokens": n, "experts": e, "k": k, "groups": groups, "keep": keep}))
	}
	return out
}

// v32 is V3.2's gate.
var v32 = bench.Set(bench.Attrs{"scoring_func": "sigmoid", "routed_scaling": 2.5})

// grid is every scoring function, renormalised and not, with a factor and without.
func grid() []bench.Scenario {
	var out []bench.Scenario
	for _, scoring := range []string{"sigmoid", "sqrtsoftplus", "softmax"} {
		for _, renormalise := range []bool{true, false} {
			for _, scaling := range []float64{1, 2.5} {
				id := scoring + map[bool]string{true: "-renormalised", false: "-raw"}[renormalise] +
					map[float64]string{1: "", 2.5: "-scaled"}[scaling]
				k := bench.Scenario{
					ID: id, Why: "flags in every combination: the factor counts on both sides of renormalise",
					Shapes: gates(16, 4, 1, 1, 5),
					Change: bench.Set(bench.Attrs{
						"scoring_func": scoring, "renormalise": renormalise, "routed_scaling": scaling,
					}),
				}
				if !renormalise && scaling != 1 && scoring == "sigmoid" {
					k.Catches = []string{"R3 sgl-project/sglang#31449"}
				}
				out = append(out, k)
			}
		}
	}
	return out
}

func gateScenarios() []bench.Scenario {
	grouped := gates(16, 3, 4, 2, 5)
	return bench.UnderAllBut([]string{"lowest-index", "fp32"}, slices.Concat(grid(), []bench.Scenario{
		{ID: "lengths", Why: "no token, one, and the edges of a tile of 64", Shapes: gates(16, 4, 1, 1, 0, 1, 63, 64, 65)},
		{ID: "nano", Why: "nano-v4's gate", Shapes: gates(4, 2, 1, 1, 6)},
		{ID: "v4-flash", Why: "V4-Flash: 6 of 256, sqrtsoftplus, factor 1.5", Shapes: gates(256, 6, 1, 1, 6)},
		{
			ID:     "v4-pro",
			Why:    "V4-Pro: 6 of 384, factor 2.5",
			Shapes: gates(384, 6, 1, 1, 4),
			Change: set("routed_scaling", 2.5),
		},
		{
			ID:     "v32",
			Why:    "V3.2: 8 of 256, four of eight groups, sigmoid, factor 2.5",
			Shapes: gates(256, 8, 8, 4, 6),
			Change: v32,
		},
		{ID: "grouped", Why: "two of four groups", Shapes: grouped, Change: v32},
		{
			ID:     "grouped-no-bias",
			Why:    "without bias a group counts by its best expert alone",
			Shapes: gates(16, 3, 4, 2, 9),
			Change: bench.All(v32, bench.Without("bias")),
		},
		{ID: "grouped-all", Why: "all groups stay", Shapes: gates(16, 3, 4, 4, 5), Change: v32},
		{
			ID:     "grouped-exactly",
			Why:    "one group stays and all of its experts are chosen",
			Shapes: gates(16, 4, 4, 1, 5),
			Change: v32,
		},
		{
			ID:     "group-by-two",
			Why:    "the best expert sits in a group whose second is poor: the sum of two decides",
			Shapes: gates(16, 3, 4, 2, 4),
			Change: bench.All(v32, each(func(_, e int, v float64) float64 {
				return map[bool]float64{true: 4, false: -3 - 0.1*math.Abs(v)}[e == 0] + map[bool]float64{
					true: 4.5 + 0.1*math.Abs(v),
				}[e >= 8]
			}), biased(func(_ int, v float64) float64 { return 0.05 * v })),
		},
		{
			ID:      "groups-low",
			Why:     "every biased score is below 0: experts of dropped groups must not win with a 0",
			Shapes:  gates(16, 3, 4, 2, 5),
			Change:  bench.All(v32, biased(func(_ int, v float64) float64 { return v - 5 })),
			Catches: []string{"R5 flashinfer-ai/flashinfer#2575"},
		},
		{
			ID:     "groups-by-bias",
			Why:    "a bias that lifts whole groups",
			Shapes: gates(16, 3, 4, 2, 5),
			Change: bench.All(v32, biased(func(e int, v float64) float64 { return v + []float64{0, 3, 0, 3}[e/4%4] })),
		},
		{
			ID:      "bias-flips",
			Why:     "the bias decides every choice, the weights do not know it",
			Shapes:  gates(16, 4, 1, 1, 1, 5),
			Change:  biased(func(_ int, v float64) float64 { return 20 * v }),
			Catches: []string{"R5 flashinfer-ai/flashinfer#2575"},
		},
		{
			ID:     "bias-flips-sigmoid",
			Why:    "the same for sigmoid",
			Shapes: gates(16, 4, 1, 1, 5),
			Change: bench.All(v32, biased(func(_ int, v float64) float64 { return 20 * v })),
		},
		{ID: "no-bias", Why: "scores alone choose", Shapes: gates(16, 4, 1, 1, 5), Change: bench.Without("bias")},
		{
			ID:      "all-negative",
			Why:     "every logit is negative: no expert may be beaten by padding of 0",
			Shapes:  gates(13, 4, 1, 1, 5),
			Change:  bench.All(uniform(-20, -5), bench.Without("bias")),
			Catches: []string{"R5 flashinfer-ai/flashinfer#2575"},
		},
		{
			ID:     "all-negative-sigmoid",
			Why:    "the same for sigmoid and a bias",
			Shapes: gates(13, 4, 1, 1, 5),
			Change: bench.All(v32, uniform(-12, -5)),
		},
		{
			ID:     "underflow",
			Why:    "logits below -17: 1+e^z is 1 in fp32, its logarithm is not 0",
			Shapes: gates(16, 4, 1, 1, 5),
			Change: bench.All(uniform(-60, -17), bench.Without("bias")),
		},
		{
			ID:     "overflow",
			Why:    "logits beyond 88: e^z is infinite in fp32, the score is not",
			Shapes: gates(16, 4, 1, 1, 5),
			Change: bench.All(uniform(60, 300), bench.Without("bias")),
		},
		{
			ID:     "floor",
			Why:    "scores of nearly 0 and a floor under their sum",
			Shapes: gates(16, 4, 1, 1, 5),
			Change: bench.All(uniform(-80, -65), set("renormalise_floor", 1e-17)),
		},
		{ID: "large-floor", Why: "a floor that counts", Shapes: gates(16, 4, 1, 1, 5), Change: set("renormalise_floor", 0.3)},
		{
			ID:     "zero-sum",
			Why:    "scores that are 0 in fp32: with a floor the weights are 0, not NaN",
			Shapes: gates(16, 4, 1, 1, 3),
			Change: bench.All(v32, uniform(-400, -300), set("renormalise_floor", 1e-20)),
		},
		{ID: "one-expert", Why: "one expert: its weight is the factor", Shapes: gates(16, 1, 1, 1, 5)},
		{
			ID:      "one-routed",
			Why:     "one token, one expert, factor 2.5",
			Shapes:  gates(8, 1, 1, 1, 1),
			Change:  v32,
			Catches: []string{"R1 vllm-project/vllm#45037"},
		},
		{ID: "every-expert", Why: "all experts are chosen", Shapes: gates(8, 8, 1, 1, 3)},
		{
			ID:     "ties",
			Why:    "experts in blocks of equal scores",
			Shapes: gates(16, 5, 1, 1, 6),
			Change: bench.All(bench.Without("bias"), each(func(t, e int, _ float64) float64 {
				return 0.25 * float64((e+t)/3%4)
			})),
		},
		{
			ID:     "all-equal",
			Why:    "every score is the same",
			Shapes: gates(16, 5, 1, 1, 3),
			Change: bench.All(bench.Without("bias"), each(func(t, _ int, _ float64) float64 { return float64(t) - 1 })),
		},
		{
			ID:     "ties-biased",
			Why:    "equal scores with equal bias",
			Shapes: gates(16, 5, 1, 1, 4),
			Change: bench.All(v32, each(func(t, e int, _ float64) float64 { return float64((e + t) % 2) }),
				biased(func(e int, _ float64) float64 {
					return 0.125 * float64(e/4)
				})),
		},
		{
			ID:     "ties-of-groups",
			Why:    "groups of equal scores",
			Shapes: gates(16, 3, 4, 2, 4),
			Change: bench.All(v32, each(func(t, e int, _ float64) float64 { return 0.5 * float64((e+t)%4) }),
				biased(func(int, float64) float64 {
					return 0.25
				})),
		},
		{
			ID: "ties-at-last",
			Why: "more experts than a sort of a few leaves in their order, and a quarter of them tie for the last places, " +
				"far from each other",
			Shapes: append(gates(64, 6, 1, 1, 5), gates(256, 8, 1, 1, 3)...),
			Change: bench.All(bench.Without("bias"), tiedAtLast),
		},
		{
			ID:     "ties-at-last-biased",
			Why:    "the same with a bias and sigmoid",
			Shapes: append(gates(64, 8, 1, 1, 3), gates(256, 6, 1, 1, 5)...),
			Change: bench.All(v32, tiedAtLast, biased(func(int, float64) float64 { return 0.25 })),
		},
		{
			ID:     "ties-at-last-grouped",
			Why:    "eight groups that tie, and their experts for the last places: V3.2's choice",
			Shapes: gates(256, 8, 8, 4, 3),
			Change: bench.All(v32, tiedInGroups, biased(func(int, float64) float64 { return 0.25 })),
		},
		{
			ID:     "near-ties",
			Why:    "scores that share 20 bits: any rounding may choose, but none may miss by more",
			Shapes: gates(32, 6, 1, 1, 4),
			Change: bench.All(bench.Without("bias"), each(func(_, e int, v float64) float64 {
				return 1 + 0x1p-20*math.Round(4*v) + 0x1p-8*float64(e%3)
			})),
		},
		{
			ID:     "nan",
			Why:    "a token with a NaN logit: its ids stay experts, its neighbours stay right",
			Shapes: gates(16, 4, 1, 1, 5),
			Change: each(func(t, e int, v float64) float64 {
				if t == 2 && e == 7 || t == 4 {
					return math.NaN()
				}
				return v
			}),
		},
		{
			ID:     "nan-grouped",
			Why:    "the same with groups",
			Shapes: grouped,
			Change: bench.All(v32, each(func(t, e int, v float64) float64 {
				if t == 2 && e >= 7 {
					return math.NaN()
				}
				return v
			})),
		},
		{
			ID:     "minus-infinity",
			Why:    "experts switched off by a logit of -inf",
			Shapes: gates(16, 4, 1, 1, 5),
			Change: bench.All(bench.Without("bias"), each(func(t, e int, v float64) float64 {
				if (e+t)%3 == 0 {
					return math.Inf(-1)
				}
				return v
			})),
		},
		{
			ID:     "bf16-logits",
			Why:    "logits as a gate in bf16 gives them: ties among neighbours",
			Shapes: gates(64, 6, 1, 1, 5),
			Change: inBF16,
		},
		{
			ID:     "padding",
			Why:    "tokens that only fill a graph's batch",
			Shapes: gates(16, 4, 1, 1, 6, 70),
			Change: paddedFrom(0.6),
		},
		{ID: "padding-whole", Why: "nothing but padding", Shapes: gates(16, 4, 1, 1, 3), Change: paddedFrom(0)},
		{
			ID:     "padded",
			Why:    "operands sliced out of wider ones",
			Shapes: gates(16, 4, 1, 1, 12),
			Change: bench.All(paddedFrom(0.8), firstChosen),
			Layout: map[string]bench.Layout{
				"logits": {Lead: 3, Gap: 8, Tail: 40}, "bias": {Lead: 1, Tail: 6}, "num_token_non_padded": {Lead: 2, Tail: 2},
			},
		},
		{
			ID:     "padded-grouped",
			Why:    "the same with groups",
			Shapes: gates(16, 3, 4, 2, 8),
			Change: bench.All(v32, firstChosen),
			Layout: map[string]bench.Layout{
				"logits": {Lead: 5, Gap: 3, Tail: 40}, "bias": {Lead: 2, Tail: 3},
			},
		},
		{
			ID:     "padded-softmax",
			Why:    "the same with softmax, in which every logit counts",
			Shapes: gates(13, 4, 1, 1, 8),
			Change: set("scoring_func", "softmax"),
			Layout: map[string]bench.Layout{
				"logits": {Lead: 5, Gap: 3, Tail: 40}, "bias": {Lead: 2, Tail: 3},
			},
		},
		{
			ID:     "transposed",
			Why:    "logits stored expert by expert",
			Shapes: gates(16, 4, 1, 1, 5),
			Layout: map[string]bench.Layout{"logits": {Lead: 1, Gap: 3, Inner: 2, Tail: 8, Swap: true}},
		},
		{
			ID:     "captured",
			Why:    "a graph captured with fewer tokens that count",
			Shapes: gates(16, 4, 1, 1, 6, 20),
			Change: bench.All(paddedFrom(0.8), bench.CapturedWith("num_token_non_padded", func(_ int, v float64) float64 {
				return float64(int(v) / 2)
			})),
		},
		{ID: "alone", Why: "a batch and every token alone", Shapes: gates(16, 4, 1, 1, 7), Relate: inPieces(bench.Alone)},
		{
			ID:     "alone-grouped",
			Why:    "the same with groups",
			Shapes: gates(16, 3, 4, 2, 7),
			Change: v32,
			Relate: inPieces(bench.Alone),
		},
		{
			ID:     "backwards",
			Why:    "the tokens in the opposite order",
			Shapes: gates(16, 4, 1, 1, 7),
			Relate: inPieces(bench.Backwards),
		},
		{ID: "chunks", Why: "a prompt and its chunks", Shapes: gates(16, 4, 1, 1, 33), Relate: inPieces(bench.ChunksOf(8))},
		{
			ID:     "contiguous",
			Why:    "a sliced buffer and the same rows without gaps",
			Shapes: gates(16, 4, 1, 1, 7),
			Layout: map[string]bench.Layout{"logits": {Gap: 16, Tail: 40}},
			Relate: inPieces(bench.Contiguous),
		},
		{ID: "production", Why: "a chunk of V3.2", Shapes: gates(256, 8, 8, 4, 128), Change: v32, Full: true},
	}, biasInLogit(), longGates()), "sigmoid-raw", "sqrtsoftplus-raw", "softmax-raw", "softmax-renormalised",
		"all-negative", "all-negative-sigmoid", "v32", "bias-in-logit", "bias-in-logit-scores")
}

// tiedAtLast gives every token three experts fewer than it chooses that are better than the rest, and a quarter of all
// that tie for the last three places. Which experts these are goes through all residues: 37 is odd, and E a power of
// two.
func tiedAtLast(g bench.Gen, p *bench.Problem) error {
	n, lead := g.Shape.Dim("experts"), g.Shape.Dim("k")-3
	return each(func(t, e int, _ float64) float64 {
		switch rank := (37*e + 11*t + 5) % n; {
		case rank < lead:
			return 2 + 0.25*float64(rank)
		case rank < lead+n/4:
			return 1
		default:
			return -0.5 * float64(rank%3)
		}
	})(g, p)
}

// tiedInGroups gives every group the same logits in other places: all groups tie, and so do their experts but for the
// best.
func tiedInGroups(g bench.Gen, p *bench.Problem) error {
	n := g.Shape.Dim("experts") / g.Shape.Dim("groups")
	return each(func(t, e int, _ float64) float64 {
		switch rank := (13*e + 5*t + 7*(e/n)) % n; {
		case rank == 0:
			return 2
		case rank < 10:
			return 1
		default:
			return -0.5 * float64(rank%3)
		}
	})(g, p)
}

// paddedFrom makes a share of the tokens count; the rest is padding.
func paddedFrom(share float64) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		e, whole := g.Shape.Dim("experts"), int(share*float64(g.Shape.Dim("tokens")))
		p.Operands["num_token_non_padded"] = bench.Ints([]int{whole}, 1)
		p.Unread = map[string]func(int) bool{"logits": func(i int) bool { return i/e >= whole }}
		return nil
	}
}

// firstChosen makes every token choose expert 0, whose logit and bias lie first in memory.
func firstChosen(g bench.Gen, p *bench.Problem) error {
	return each(func(_, e int, v float64) float64 {
		if e == 0 {
			return 6 + 0.1*v
		}
		return v
	})(g, p)
}
