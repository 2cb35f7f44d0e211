package route

import "github.com/assay-suite/assay/kernels_test/bench"

// Operators of the suite.
const (
	opGate    = "moe_gate"
	opHash    = "hash_gate"
	opCombine = "moe_combine"
)

// Descriptions that several operators share.
const (
	scoringWord = "s of a logit z: sigmoid, 1/(1+e^-z); sqrtsoftplus, sqrt(ln(1+e^z)); softmax, e^z over its sum across " +
		"all E experts"
	renormWord = "true: the weights are divided by the sum of the chosen experts' s plus renormalise_floor; false: " +
		"they are not"
	floorWord   = "added to the sum that renormalise divides by; 0 is none"
	scalingWord = "routed scaling factor f: every weight is multiplied by it once, renormalised or not"
	orderWord   = "; any order within a token"
)

var gateDoc = bench.Doc{
	Summary: "selects the top_k of E experts by c = s + bias and weights them by s: w_i = f · s_i / (sum of the chosen " +
		"s + renormalise_floor), or f · s_i. " +
		"Contracts: fp32, scores in fp32, experts whose c are equal or too close for fp32 to separate are interchangeable; " +
		"lowest-index, the same, and ties of experts (or groups) with equal logits and bias go to the lower index; " +
		"fast-exp, exponentials as 2^(z·log2 e) by ex2.approx and quotients by div.full",
	Operands: []bench.TensorDoc{
		{
			Name:  "logits",
			DType: "F32 or BF16",
			Shape: "[T, E]",
			Meaning: "one logit per expert, of any sign; -inf gives an s of 0. A token with a NaN must still get top_k " +
				"different experts of 0 to E-1, and other tokens must not change; its weights are NaN where all its logits are, " +
				"else they are not judged",
		},
		{
			Name:    "bias",
			DType:   "F32",
			Shape:   "[E]",
			Meaning: "optional; added to s for the choice of groups and experts, never part of a weight; of any sign",
		},
		{
			Name:  "num_token_non_padded",
			DType: "I32",
			Shape: "[1]",
			Meaning: "optional; tokens from there on are padding: their logits are not read, their ids are -1, their weights " +
				"are not judged",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "topk_weights",
			DType:   "F32",
			Shape:   "[T, top_k]",
			Meaning: "weight of the expert at the same place of topk_ids",
		},
		{Name: "topk_ids", DType: "I32", Shape: "[T, top_k]", Meaning: "different experts" + orderWord},
	},
	Attrs: []bench.AttrDoc{
		{Name: "scoring_func", Meaning: scoringWord},
		{Name: "top_k", Meaning: "experts selected per token"},
		{
			Name: "bias_in",
			Meaning: "choice, or absent: bias is added to s and counts for the choice alone; logit: it is added to the logit " +
				"in fp32 before scoring, so that it counts for the weights as well (the bias of gpt-oss's router), and c = s",
		},
		{
			Name: "n_group",
			Meaning: "groups of E/n_group consecutive experts; 1 is none. A group's score is the sum of its two largest c " +
				"with a bias (the largest where a group has one expert), the largest c without",
		},
		{Name: "topk_group", Meaning: "number of groups kept; experts of other groups are never selected"},
		{Name: "renormalise", Meaning: renormWord},
		{Name: "renormalise_floor", Meaning: floorWord},
		{Name: "routed_scaling", Meaning: scalingWord},
	},
}

var hashDoc = bench.Doc{
	Summary: "a token's experts are the row of its id in a table, weighted by the gate's scores: w_i = f · s_i / " +
		"(sum of the row's s + renormalise_floor), or f · s_i. Contract fp32: scores and weights in fp32",
	Operands: []bench.TensorDoc{
		{
			Name:    "logits",
			DType:   "F32 or BF16",
			Shape:   "[T, E]",
			Meaning: "one logit per expert; scoring_func softmax reads all, the others only those of the table's row",
		},
		{Name: "token_ids", DType: "I32", Shape: "[T]", Meaning: "id of every token, 0 to V-1"},
		{
			Name:    "tid2eid",
			DType:   "I32",
			Shape:   "[V, K]",
			Meaning: "different experts for every token id; rows of ids that no token has are not read",
		},
	},
	Outputs: []bench.TensorDoc{
		{Name: "topk_weights", DType: "F32", Shape: "[T, K]", Meaning: "weight of the expert at the same place of topk_ids"},
		{Name: "topk_ids", DType: "I32", Shape: "[T, K]", Meaning: "the experts of the token's row" + orderWord},
	},
	Attrs: []bench.AttrDoc{
		{Name: "scoring_func", Meaning: scoringWord},
		{Name: "renormalise", Meaning: renormWord},
		{Name: "renormalise_floor", Meaning: floorWord},
		{Name: "routed_scaling", Meaning: scalingWord},
	},
}

var combineDoc = bench.Doc{
	Summary: "y[t] = routed_scaling · sum_k topk_weights[t, k] · expert_out[src2dst[t, k]] + shared_out[t]: routed " +
		"sum plus shared expert, whose weight is 1. Contracts: fp32, all in fp32 in any order; bf16-out, the same from and " +
		"to BF16, rounded once",
	Operands: []bench.TensorDoc{
		{
			Name:  "expert_out",
			DType: "F32; BF16 under bf16-out",
			Shape: "[M, C]",
			Meaning: "outputs of the experts, grouped by expert; rows that src2dst does not name (padding of groups) are not " +
				"read",
		},
		{
			Name:    "topk_weights",
			DType:   "F32",
			Shape:   "[T, K]",
			Meaning: "weights without the routed scaling factor; those of slots that are -1 in src2dst are not read",
		},
		{
			Name:    "src2dst",
			DType:   "I32",
			Shape:   "[T, K]",
			Meaning: "row of expert_out that slot k of token t went to; -1: an expert on another rank; contributes nothing",
		},
		{
			Name:    "shared_out",
			DType:   "as expert_out",
			Shape:   "[T, C]",
			Meaning: "optional output of the shared expert, added as it is",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "y",
			DType:   "F32; BF16 under bf16-out",
			Shape:   "[T, C]",
			Meaning: "the layer's output; 0 for a token without slots and shared expert",
		},
	},
	Attrs: []bench.AttrDoc{
		{
			Name:    "routed_scaling",
			Meaning: "factor of the routed sum, applied once here (1 where the weights have it already)",
		},
	},
}
