package gemm

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

const scaledClaim = "y MUST be the product of the decoded operands within sums of scaled products in any order, " +
	"rounded once to bf16"

var (
	scaledContracts = []numerics.Contract{scaledFP32, fp8Hopper}
	rowsOfScaled    = []string{"x", "x_scale"}
	e8m0            = []any{"e8m0", 1}
)

var block = bench.Family{
	Op: opBlock, Slug: "block-fp8-gemm", Claim: scaledClaim, Doc: docBlock, Contracts: scaledContracts,
	Draw: drawBlock, Expect: expectScaled(partsBlock),
	Twins: []bench.Twin{bench.Dense(), encodingTwin, scaleLayoutTwin, unitScaleTwin, tailTwin, accumulationTwin},
	Scenarios: append([]bench.Scenario{
		{
			ID:        "rows",
			Why:       "no row, one, and the edges of a tile of 64",
			Shapes:    sweep(24, 160, nil, 0, 1, 8, 32, 63, 64, 65),
			Contracts: []string{"fp32"},
		},
		{
			ID:        "rows-hopper",
			Why:       "the same, sums of the tensor core",
			Shapes:    sweep(24, 160, nil, 1, 64),
			Contracts: []string{"fp8-hopper"},
		},
		{
			ID: "columns", Why: "N and K that 128 does not divide: short blocks with scales of their own",
			Shapes: []bench.Shape{
				dims("m3-n129-k256", 3, 129, 256), dims("m2-n300-k130", 2, 300, 130), dims("m3-n200-k127", 3, 200, 127),
				dims("m5-n1-k1", 5, 1, 1),
			},
		},
		{
			ID:     "powers",
			Why:    "e8m0 scales, four to a word on some hardware",
			Shapes: []bench.Shape{dims("m4-n136-k384", 4, 136, 384, e8m0...), dims("m65-n20-k160", 65, 20, 160, e8m0...)},
		},
		{
			ID: "unit", Why: "fp32 scales of 1.0: as exponents their bytes are 0, 0, 128 and 63", Catches: []string{
				"Q12 vllm-project/vllm#53680", "Q12 deepseek-ai/DeepGEMM#403",
			},
			Shapes: []bench.Shape{dims("m2-n12-k512", 2, 12, 512)}, Change: unit,
		},
		{
			ID:     "wide",
			Why:    "scales over twenty binades: none may be dropped, doubled or shared",
			Shapes: []bench.Shape{dims("m6-n140-k300", 6, 140, 300)},
			Change: wide,
		},
		{
			ID: "one-sign", Why: "sums of one sign: truncation adds up", Catches: []string{"A2 triton-lang/triton#2300"},
			Shapes: []bench.Shape{dims("k1024", 6, 8, 1024, "members", 16), dims("k4096", 4, 6, 4096, "members", 16)},
			Change: coherent,
		},
		{
			ID:     "one-sign-powers",
			Why:    "the same under scales that are powers of two, where only sums round",
			Shapes: []bench.Shape{dims("k2048", 6, 8, 2048, "members", 16, "e8m0", 1)},
			Change: coherent,
		},
		{
			ID:     "depth",
			Why:    "sums that cancel, at the depth of a down projection",
			Shapes: []bench.Shape{dims("k2048", 6, 8, 2048)},
		},
		{
			ID:        "needles",
			Why:       "one nonzero element per row, at the edges of blocks: which weight and scale were used can be read back",
			Shapes:    sweep(140, 300, nil, 24),
			Change:    needles,
			Contracts: []string{"fp32"},
		},
		{
			ID:     "outliers",
			Why:    "a few channels a hundred times larger than the rest",
			Shapes: sweep(16, 300, nil, 8),
			Change: outliers,
		},
		{ID: "small", Why: "subnormal elements", Shapes: sweep(16, 256, nil, 8), Change: subnormal},
		{
			ID:     "nan",
			Why:    "a row of zeros, and a NaN that must stay in its own row",
			Shapes: sweep(9, 140, nil, 7),
			Change: zeros,
		},
		{
			ID: "grid",
			Why: "few elements, small whole numbers, scales that are powers of two: every sum is exact, and any " +
				"difference is one of structure",
			Shapes:    []bench.Shape{dims("m20-n33-k300", 20, 33, 300, e8m0...)},
			Change:    grid,
			Contracts: []string{"fp32"},
		},
		{
			ID:  "models",
			Why: "projections of models of hidden size 128, 4,096 and 7,168, N sampled",
			Shapes: []bench.Shape{
				dims("nano-m7-n64-k128", 7, 64, 128, e8m0...), dims("v4-flash-m4-n24-k4096", 4, 24, 4096, e8m0...),
				dims("v32-m2-n16-k7168", 2, 16, 7168),
			},
		},
		{
			ID:        "in-parts",
			Why:       "a row's result does not depend on the other rows of the batch",
			Shapes:    sweep(24, 160, nil, 13, 65),
			Contracts: []string{"fp32"},
			Relate:    inParts(rowsOfScaled, nil),
		},
		{
			ID:        "rows-reversed",
			Why:       "permuted rows give permuted results",
			Shapes:    sweep(24, 160, nil, 40),
			Contracts: []string{"fp32"},
			Relate:    reversed(rowsOfScaled, nil),
		},
		{
			ID: "column-major-scales", Why: "scales with the rows innermost, as TMA wants them", Shapes: sweep(136, 300, nil, 9),
			Contracts: []string{"fp32"},
			Layout:    map[string]bench.Layout{"x_scale": {Lead: 4, Gap: 3, Swap: true}, "w_scale": {Gap: 2, Swap: true}},
			Relate:    contiguous,
		},
		{
			ID:     "production",
			Why:    "a V3.2 projection of the size of a step, sampled in N",
			Full:   true,
			Shapes: []bench.Shape{dims("v32-m64-n64-k7168", 64, 64, 7168)},
		},
	}, strided(dims("m6-n140-k160", 6, 140, 160), []string{"fp32"}, map[string]bench.Layout{
		"x": {Lead: 3, Gap: 40, Tail: 200}, "w": {Lead: 5, Gap: 16, Tail: 130}, "x_scale": {Lead: 1, Gap: 2, Tail: 5},
		"w_scale": {
			Lead: 2,
			Gap:  1,
			Tail: 5,
		},
	}, "x", "w", "x_scale", "w_scale")...),
}

var batched = bench.Family{
	Op: opBatched, Slug: "batched-mxfp8-gemm", Claim: scaledClaim, Doc: docBatched,
	Contracts: []numerics.Contract{scaledFP32},
	Draw:      drawBatched, Expect: expectScaled(partsBatched),
	Twins: []bench.Twin{bench.Dense(), scaleLayoutTwin, unitScaleTwin, accumulationTwin},
	Scenarios: append([]bench.Scenario{
		{
			ID:      "batch",
			Why:     "two batches of one row: their scales lie 128 rows apart",
			Catches: []string{"Q5 flashinfer-ai/flashinfer#3604"},
			Shapes:  batches(2, 24, 128, 1),
		},
		{
			ID:     "rows",
			Why:    "the edges of tiles of rows; one batch of 128 rows has no padding",
			Shapes: append(batches(2, 12, 64, 8, 63, 65, 128), batches(1, 12, 64, 5)...),
		},
		{
			ID:     "columns",
			Why:    "N and K/32 that 128 and 4 do not divide: padding in both directions",
			Shapes: []bench.Shape{dims("b3-m3-n130-k96", 3, 130, 96, "b", 3), dims("b2-m1-n257-k32", 1, 257, 32, "b", 2)},
		},
		{
			ID:     "needles",
			Why:    "one nonzero element per row: which scale was used can be read back",
			Shapes: batches(2, 130, 160, 12),
			Change: needles,
		},
		{ID: "one-sign", Why: "sums of one sign", Shapes: batches(2, 8, 512, 5), Change: coherent},
		{
			ID:     "alone",
			Why:    "a batch's result is the same without the others",
			Shapes: append(batches(3, 12, 128, 1), batches(2, 12, 160, 65)...),
			Relate: alone("x", "x_scale", "w", "w_scale"),
		},
		{ID: "nan", Why: "a NaN that must stay in its own row", Shapes: batches(2, 9, 64, 4), Change: zeros},
	}, strided(dims("b2-m3-n20-k160", 3, 20, 160, "b", 2), nil, map[string]bench.Layout{
		"x": {Lead: 3, Gap: 40, Inner: 7, Tail: 200}, "w": {Lead: 5, Gap: 16, Inner: 3, Tail: 130}, "x_scale": {
			Lead: 16,
			Gap:  512,
			Tail: 32,
		}, "w_scale": {Lead: 16, Gap: 512, Tail: 32},
	}, "x", "w", "x_scale", "w_scale")...),
}

func batches(b, n, k int, ms ...int) []bench.Shape {
	var out []bench.Shape
	for _, m := range ms {
		out = append(out, dims(slug("b%d-m%d-n%d-k%d", b, m, n, k), m, n, k, "b", b))
	}
	return out
}
