package gemm

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// experts makes shapes of grouped products: at most m rows an expert.
func experts(e, m, n, k, align int, more ...any) bench.Shape {
	return dims(slug("e%d-m%d-n%d-k%d-a%d", e, m, n, k, align), m, n, k, append([]any{"e", e, "align", align}, more...)...)
}

var (
	weightsOfGrouped = []string{"w", "w_scale"}
	layoutsOfGrouped = map[string]bench.Layout{
		"x": {Lead: 3, Gap: 40, Tail: 200}, "w": {Lead: 5, Gap: 16, Inner: 3, Tail: 130}, "x_scale": {
			Lead: 1,
			Gap:  2,
			Tail: 5,
		},
		"w_scale": {Lead: 2, Gap: 5, Inner: 1, Tail: 5}, "expert": {Lead: 2, Tail: 3}, "alpha": {Lead: 1, Tail: 4},
		"masked_m": {Lead: 1, Tail: 2},
	}
)

var grouped = bench.Family{
	Op: opGrouped, Slug: "grouped-gemm", Claim: scaledClaim, Doc: docGrouped, Contracts: scaledContracts,
	Draw: drawGrouped, Expect: expectScaled(partsGrouped),
	Twins: []bench.Twin{bench.Dense(), scaleLayoutTwin, unitScaleTwin, sameExpertTwin, tailTwin, accumulationTwin},
	Scenarios: append([]bench.Scenario{
		{
			ID:     "groups",
			Why:    "uneven groups, with empty experts first, in the middle and last",
			Shapes: []bench.Shape{experts(4, 9, 24, 160, 8), experts(5, 3, 16, 256, 1, "leading", 1), experts(1, 7, 16, 160, 4)},
		},
		{
			ID: "offsets", Why: "N that 128 does not divide: an expert's scales begin behind the whole of the last block before",
			Catches: []string{
				"Q3 vllm-project/vllm#35497",
			},
			Shapes: []bench.Shape{experts(2, 3, 129, 256, 4), experts(3, 2, 136, 160, 2)},
		},
		{
			ID:        "tiles",
			Why:       "groups that fill tiles of 128 and one that has a row more",
			Shapes:    []bench.Shape{experts(2, 129, 8, 128, 128, "full", 1)},
			Contracts: []string{"fp32"},
		},
		{ID: "one-sign", Why: "sums of one sign", Shapes: []bench.Shape{experts(3, 4, 8, 1024, 4)}, Change: coherent},
		{
			ID:        "needles",
			Why:       "one nonzero element per row: which expert, weight and scale were used can be read back",
			Shapes:    []bench.Shape{experts(3, 12, 136, 300, 4)},
			Change:    needles,
			Contracts: []string{"fp32"},
		},
		{
			ID:        "renumbered",
			Why:       "renumbering the experts together with their weights changes no row",
			Shapes:    []bench.Shape{experts(4, 6, 24, 160, 4), experts(3, 5, 130, 128, 2)},
			Contracts: []string{"fp32"},
			Relate:    renumbered(weightsOfGrouped...),
		},
		{
			ID:        "many",
			Why:       "64 experts of which most rows go to few",
			Shapes:    []bench.Shape{experts(64, 2, 8, 128, 1)},
			Contracts: []string{"fp32"},
		},
		{
			ID:        "nano",
			Why:       "four experts of a model of hidden size 128",
			Shapes:    []bench.Shape{experts(4, 6, 128, 128, 1)},
			Contracts: []string{"fp32"},
		},
		{ID: "wide", Why: "scales over twenty binades", Shapes: []bench.Shape{experts(4, 5, 20, 300, 2)}, Change: wide},
		{
			ID:        "production",
			Why:       "V4-Flash experts: 256 rows over four experts, N sampled",
			Full:      true,
			Shapes:    []bench.Shape{experts(4, 64, 64, 4096, 128)},
			Contracts: []string{"fp32"},
		},
	}, strided(experts(3, 4, 20, 160, 2), []string{"fp32"}, layoutsOfGrouped, "x", "w", "x_scale", "w_scale",
		"expert")...),
}

var groupedN = bench.Family{
	Op: opGroupedN, Slug: "grouped-nvfp4-gemm", Claim: scaledClaim, Doc: docGroupedN,
	Contracts: []numerics.Contract{scaledFP32},
	Draw:      drawGroupedN, Expect: expectScaled(partsGroupedN),
	Twins: []bench.Twin{
		bench.Dense(), nibbleTwin, globalTwin, scaleLayoutTwin, unitScaleTwin, sameExpertTwin, accumulationTwin,
	},
	Scenarios: append([]bench.Scenario{
		{
			ID:     "groups",
			Why:    "uneven groups, with empty experts first, in the middle and last",
			Shapes: []bench.Shape{experts(4, 9, 24, 80, 8), experts(5, 3, 16, 64, 1, "leading", 1)},
		},
		{
			ID:      "offsets",
			Why:     "N = 129: an expert's tiles begin 256 rows behind those before",
			Catches: []string{"Q3 vllm-project/vllm#35497"},
			Shapes:  []bench.Shape{experts(2, 3, 129, 64, 4)},
		},
		{ID: "full-tiles", Why: "N = 128 has no padding in its tiles", Shapes: []bench.Shape{experts(3, 3, 128, 64, 2)}},
		{
			ID:     "full-rows",
			Why:    "rows and scales that fill tiles of 128 x 4: whether the scales of x lie in tiles is a question here alone",
			Shapes: []bench.Shape{experts(2, 257, 3, 64, 1), experts(1, 128, 3, 128, 1)},
		},
		{
			ID:     "needles",
			Why:    "one nonzero element per row: which expert, nibble and scale were used can be read back",
			Shapes: []bench.Shape{experts(3, 12, 130, 80, 4)},
			Change: needles,
		},
		{ID: "one-sign", Why: "sums of one sign", Shapes: []bench.Shape{experts(3, 4, 8, 512, 4)}, Change: coherent},
		{
			ID:     "renumbered",
			Why:    "renumbering the experts together with their weights changes no row",
			Shapes: []bench.Shape{experts(4, 6, 24, 80, 4)},
			Relate: renumbered("w", "w_scale", "alpha"),
		},
	}, strided(experts(3, 4, 20, 80, 2), nil, map[string]bench.Layout{
		"x": {Lead: 3, Gap: 40, Tail: 200}, "w": {Lead: 5, Gap: 16, Inner: 3, Tail: 130}, "x_scale": {
			Lead: 1,
			Gap:  2,
			Tail: 5,
		},
		"w_scale": {Lead: 16, Gap: 512, Tail: 16}, "expert": {Lead: 2, Tail: 3}, "alpha": {Lead: 1, Tail: 4},
	}, "x", "w", "x_scale", "w_scale", "alpha", "expert")...),
}

var masked = bench.Family{
	Op: opMasked, Slug: "masked-gemm", Claim: scaledClaim, Doc: docMasked, Contracts: scaledContracts,
	Draw: drawMasked, Expect: expectScaled(partsMasked),
	Twins: []bench.Twin{
		bench.Dense(), scaleLayoutTwin, unitScaleTwin, tileTwin, sameExpertTwin, tailTwin, accumulationTwin,
	},
	Scenarios: append([]bench.Scenario{
		{
			ID:      "few-rows",
			Why:     "buffers of fewer than 64 rows",
			Catches: []string{"R6 deepseek-ai/DeepGEMM#268"},
			Shapes:  []bench.Shape{experts(3, 8, 24, 160, 1), experts(2, 1, 16, 128, 1)},
		},
		{
			ID:  "buffers",
			Why: "buffers at the edges of a tile of 64, empty experts first and in the middle",
			Shapes: []bench.Shape{
				experts(3, 32, 12, 96, 1), experts(2, 63, 8, 96, 1), experts(3, 64, 8, 96, 1, "leading", 1),
				experts(2, 65, 8, 96, 1),
			},
			Contracts: []string{"fp32"},
		},
		{ID: "offsets", Why: "N that 128 does not divide", Shapes: []bench.Shape{experts(3, 3, 130, 256, 1)}},
		{ID: "one-sign", Why: "sums of one sign", Shapes: []bench.Shape{experts(3, 4, 8, 1024, 1)}, Change: coherent},
		{
			ID:        "needles",
			Why:       "one nonzero element per row: which expert, weight and scale were used can be read back",
			Shapes:    []bench.Shape{experts(3, 12, 136, 300, 1)},
			Change:    needles,
			Contracts: []string{"fp32"},
		},
		{
			ID:        "alone",
			Why:       "an expert's rows are the same without the other experts",
			Shapes:    []bench.Shape{experts(4, 9, 24, 160, 1), experts(3, 66, 8, 128, 1)},
			Contracts: []string{"fp32"},
			Relate:    alone("x", "x_scale", "w", "w_scale", "masked_m"),
		},
	}, strided(experts(3, 5, 20, 160, 1), []string{"fp32"}, map[string]bench.Layout{
		"x": {Lead: 3, Gap: 40, Inner: 9, Tail: 200}, "x_scale": {Lead: 1, Gap: 2, Inner: 1, Tail: 5},
		"w":       layoutsOfGrouped["w"],
		"w_scale": layoutsOfGrouped["w_scale"], "masked_m": layoutsOfGrouped["masked_m"],
	}, "x", "w", "x_scale", "w_scale", "masked_m")...),
}
