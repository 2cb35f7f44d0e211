package gemm

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

var mxfp4 = bench.Family{
	Op: opMXFP4, Slug: "mxfp4-gemm", Claim: scaledClaim, Doc: docMXFP4, Contracts: scaledContracts,
	Draw: drawMXFP4, Expect: expectScaled(partsMXFP4),
	Twins: []bench.Twin{bench.Dense(), nibbleTwin, scaleLayoutTwin, unitScaleTwin, accumulationTwin},
	Scenarios: append([]bench.Scenario{
		{
			ID:        "rows",
			Why:       "one row, and the edges of a tile of 64",
			Shapes:    sweep(24, 160, nil, 1, 8, 32, 63, 64, 65),
			Contracts: []string{"fp32"},
		},
		{
			ID:     "columns",
			Why:    "N and K that are not multiples of a tile; the last block of x is partial",
			Shapes: []bench.Shape{dims("m3-n129-k288", 3, 129, 288), dims("m2-n257-k32", 2, 257, 32)},
		},
		{
			ID:     "needles",
			Why:    "one nonzero element per row: which nibble and scale were used can be read back",
			Shapes: sweep(40, 320, nil, 24),
			Change: needles,
		},
		{ID: "one-sign", Why: "sums of one sign", Shapes: sweep(8, 2048, nil, 6), Change: coherent},
		{
			ID:     "outliers",
			Why:    "a few channels a hundred times larger than the rest",
			Shapes: sweep(16, 320, nil, 8),
			Change: outliers,
		},
		{
			ID:        "nan",
			Why:       "a row of zeros, and a NaN that must stay in its own row",
			Shapes:    sweep(9, 160, nil, 7),
			Change:    zeros,
			Contracts: []string{"fp32"},
		},
		{
			ID:        "in-parts",
			Why:       "a row's result does not depend on the other rows of the batch",
			Shapes:    sweep(24, 160, nil, 13),
			Relate:    inParts(rowsOfScaled, nil),
			Contracts: []string{"fp32"},
		},
		{
			ID:   "production",
			Why:  "256 rows of a V4-Flash expert, K as it is and N sampled",
			Full: true,
			Shapes: []bench.Shape{
				dims("v4-flash-m256-n24-k4096", 256, 24, 4096), dims("v4-flash-m256-n24-k2048", 256, 24, 2048),
			},
		},
	}, strided(dims("m6-n20-k160", 6, 20, 160), []string{"fp32"}, map[string]bench.Layout{
		"x": {Lead: 3, Gap: 40, Tail: 200}, "w": {Lead: 4, Gap: 16, Tail: 130}, "x_scale": {Lead: 1, Gap: 2, Tail: 5},
		"w_scale": {
			Lead: 2,
			Gap:  3,
			Tail: 5,
		},
	}, "x", "w", "x_scale", "w_scale")...),
}

var nvfp4 = bench.Family{
	Op: opNVFP4, Slug: "nvfp4-gemm", Claim: scaledClaim, Doc: docNVFP4, Contracts: []numerics.Contract{scaledFP32},
	Draw: drawNVFP4, Expect: expectScaled(partsNVFP4),
	Twins: []bench.Twin{bench.Dense(), nibbleTwin, globalTwin, scaleLayoutTwin, unitScaleTwin, accumulationTwin},
	Scenarios: append([]bench.Scenario{
		{
			ID:      "one-row",
			Phase:   "decode",
			Why:     "one row: 127 rows of scales in its tile are padding, and any NaN there is 0x7f",
			Catches: []string{"Q1 vllm-project/vllm#38148", "Q1 flashinfer-ai/flashinfer#2861", "Q2 vllm-project/vllm#45739"},
			Shapes:  sweep(24, 64, nil, 1),
		},
		{ID: "few-rows", Phase: "decode", Why: "the paths for at most 32 rows", Shapes: sweep(24, 96, nil, 8, 32)},
		{
			ID:     "rows",
			Phase:  "prefill",
			Why:    "the edges of a tile of 64, and a tile of 128 that is full",
			Shapes: sweep(16, 64, nil, 63, 64, 65, 128),
		},
		{
			ID:    "columns",
			Phase: "prefill",
			Why:   "N and K/16 that 128 and 4 do not divide: padding in both directions",
			Shapes: []bench.Shape{
				dims("m3-n129-k80", 3, 129, 80), dims("m2-n257-k16", 2, 257, 16), dims("m5-n130-k272", 5, 130, 272),
			},
		},
		{
			ID:     "halves",
			Phase:  "decode",
			Why:    "two weights in one, gate and up, each with its global scale: neither serves both",
			Shapes: sweep(24, 96, nil, 3, 33),
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Attrs["global_scales"] = "halves"
				p.Operands["weight_scale_2"] = bench.Floats(bench.F32, []float64{0.0047, 0.0139}, 2)
				return nil
			},
		},
		{
			ID:      "global",
			Phase:   "decode",
			Why:     "one block, so that a factor taken for its inverse shows alone",
			Catches: []string{"Q10 modular/modular#6600"},
			Shapes:  sweep(4, 16, nil, 2),
		},
		{
			ID:     "needles",
			Phase:  "prefill",
			Why:    "one nonzero element per row: which nibble and scale were used can be read back",
			Shapes: sweep(130, 80, nil, 12),
			Change: needles,
		},
		{ID: "one-sign", Phase: "decode", Why: "sums of one sign", Shapes: sweep(8, 1024, nil, 4), Change: coherent},
		{
			ID:     "in-parts",
			Phase:  "prefill",
			Why:    "a row's result does not depend on the other rows of the batch",
			Shapes: sweep(24, 80, nil, 13),
			Relate: inParts(rowsOfX, []string{"x_scale"}),
		},
		{
			ID:     "rows-reversed",
			Phase:  "prefill",
			Why:    "permuted rows give permuted results",
			Shapes: sweep(24, 80, nil, 35),
			Relate: reversed(rowsOfX, []string{"x_scale"}),
		},
		{
			ID:     "production",
			Phase:  "prefill",
			Why:    "a V4-Flash expert, K as it is and N sampled",
			Full:   true,
			Shapes: []bench.Shape{dims("v4-flash-m64-n136-k4096", 64, 136, 4096)},
		},
	}, strided(dims("m6-n20-k80", 6, 20, 80), nil, map[string]bench.Layout{
		"x": {Lead: 3, Gap: 40, Tail: 200}, "w": {Lead: 4, Gap: 16, Tail: 130}, "x_scale": {Lead: 16, Tail: 512},
		"w_scale":     {Lead: 32, Tail: 512},
		"input_scale": {Lead: 1, Tail: 3}, "weight_scale_2": {Lead: 2, Tail: 1},
	}, "x", "w", "x_scale", "w_scale", "input_scale", "weight_scale_2")...),
}
