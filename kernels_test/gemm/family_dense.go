package gemm

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

var rowsOfX = []string{"x"}

// sweep are rows of m at a width and depth.
func sweep(n, k int, more []any, ms ...int) []bench.Shape {
	var out []bench.Shape
	for _, m := range ms {
		out = append(out, dims(slug("m%d-n%d-k%d", m, n, k), m, n, k, more...))
	}
	return out
}

const denseClaim = "y MUST be the product of the operands as the contract reads them, within its accumulator in any " +
	"order, rounded once"

var denseTwins = []bench.Twin{bench.Dense(), accumulationTwin}

// depths are sums of growing length, with the reorderings that calibrate the bias gate.
func depths() []bench.Shape {
	return []bench.Shape{
		dims("k64", 16, 12, 64, "members", 16), dims("k256", 16, 12, 256, "members", 16),
		dims("k1024", 12, 8, 1024, "members", 16), dims("k3072", 8, 8, 3072, "members", 16),
	}
}

// denseScenarios are the rows that products of plain operands of any dtype have.
func denseScenarios() []bench.Scenario {
	return append([]bench.Scenario{
		{ID: "rows", Why: "no row, one, and the edges of a tile of 64", Shapes: sweep(24, 96, nil, 0, 1, 8, 32, 63, 64, 65)},
		{
			ID:     "columns",
			Why:    "widths and depths that are not multiples of a tile",
			Shapes: []bench.Shape{dims("m5-n129-k77", 5, 129, 77), dims("m3-n1-k1", 3, 1, 1), dims("m2-n260-k33", 2, 260, 33)},
		},
		{
			ID:     "bias",
			Why:    "sums of one sign in enough outputs to see a mean error far below the bound of a single output",
			Shapes: []bench.Shape{dims("m32-n24-k256", 32, 24, 256, "members", 16)},
			Change: coherent,
		},
		{
			ID:     "depth-mixed",
			Why:    "sums that cancel, at the depth where an accumulator shows",
			Shapes: sweep(12, 1024, []any{"members", 16}, 16),
		},
		{
			ID:     "grid",
			Why:    "few elements, small whole numbers: every product and sum is exact, and any difference is one of structure",
			Shapes: sweep(33, 160, nil, 20),
			Change: grid,
		},
		{
			ID:     "needles",
			Why:    "one nonzero element per row: which weight was used can be read back",
			Shapes: sweep(40, 200, nil, 24),
			Change: needles,
		},
		{
			ID:     "outliers",
			Why:    "a channel a hundred times larger than the rest, as trained activations have",
			Shapes: sweep(16, 300, nil, 8),
			Change: outliers,
		},
		{
			ID:     "small",
			Why:    "elements next to the end of fp8's range, where flushing to zero shows",
			Shapes: sweep(16, 64, nil, 8),
			Change: subnormal,
		},
		{
			ID:     "nan",
			Why:    "a row of zeros, and a NaN that must stay in its own row",
			Shapes: sweep(9, 64, nil, 7),
			Change: zeros,
		},
		{
			ID:     "in-parts",
			Why:    "a row's result does not depend on the other rows of the batch",
			Shapes: sweep(24, 160, nil, 13, 65),
			Relate: inParts(rowsOfX, nil),
		},
		{
			ID:     "rows-reversed",
			Why:    "permuted rows give permuted results",
			Shapes: sweep(24, 160, nil, 40),
			Relate: reversed(rowsOfX, nil),
		},
		{
			ID: "column-major", Why: "both operands with the second dimension outermost", Shapes: sweep(10, 70, nil, 9),
			Layout: map[string]bench.Layout{"x": {Lead: 2, Gap: 5, Swap: true}, "w": {Lead: 1, Gap: 3, Tail: 9, Swap: true}},
			Relate: contiguous,
		},
		{
			ID:     "nano",
			Why:    "the projections of a model of hidden size 128",
			Shapes: []bench.Shape{dims("m7-n64-k128", 7, 64, 128), dims("m1-n192-k64", 1, 192, 64)},
		},
		{
			ID:     "production",
			Why:    "the depth of a V4-Flash projection, N sampled",
			Full:   true,
			Shapes: []bench.Shape{dims("v4-flash-m32-n64-k4096", 32, 64, 4096)},
		},
	}, strided(dims("m6-n20-k96", 6, 20, 96), nil, map[string]bench.Layout{
		"x": {Lead: 3, Gap: 40, Tail: 70}, "w": {Lead: 5, Gap: 16, Tail: 130},
	}, "x", "w")...)
}

// denseWidely are the contracts that every row of dense_gemm is registered under; tf32-rz differs from tf32-rn in how
// operands are read alone, so a few rows show it.
var denseWidely = []string{"fp32", "tf32x3", "tf32-rn"}

var dense = bench.Family{
	Op: opDense, Slug: "dense-gemm", Claim: denseClaim, Doc: docDense,
	Contracts: []numerics.Contract{denseFP32, denseThree, denseTF32, denseTruncated},
	Draw:      drawDense, Expect: expectDense, Twins: denseTwins,
	Scenarios: bench.UnderAllBut(denseWidely, append(denseScenarios(),
		bench.Scenario{
			ID:      "depth",
			Why:     "sums of one sign: what an accumulator cuts grows with K",
			Catches: []string{"A4 triton-lang/triton#4603"},
			Shapes:  depths(),
			Change:  coherent,
		},
		bench.Scenario{
			ID:     "tiny",
			Why:    "elements of 1e-30, far from every other case's, and products that stay normal",
			Shapes: sweep(16, 64, nil, 8),
			Change: tiny,
		},
	), "columns", "bias", "needles", "outliers", "nan", "nano"),
}

var denseHalf = bench.Family{
	Op: opBF16, Slug: "bf16-gemm", Claim: denseClaim, Doc: docBF16,
	Contracts: []numerics.Contract{denseBF16, denseHopper},
	Draw:      drawDense, Expect: expectDense, Twins: denseTwins,
	Scenarios: append(denseScenarios(), bench.Scenario{
		ID:     "tiny",
		Why:    "elements of 1e-30, far from every other case's, and products that stay normal",
		Shapes: sweep(16, 64, nil, 8),
		Change: tiny,
	}),
}

var denseEight = bench.Family{
	Op: opFP8, Slug: "fp8-gemm", Claim: denseClaim, Doc: docFP8,
	Contracts: []numerics.Contract{denseFP8, fp8Hopper},
	Draw:      drawDense, Expect: expectDense, Twins: denseTwins,
	Scenarios: append(denseScenarios(),
		bench.Scenario{
			ID: "one-large", Why: "448·448 and then 7.5·1 for the rest: 13 fraction bits keep none of the rest",
			Catches: []string{
				"A1 deepseek-ai/DeepGEMM#37", "A2 triton-lang/triton#2300",
			},
			Shapes: []bench.Shape{dims("k256", 2, 3, 256), dims("k4096", 2, 3, 4096)}, Change: smallest,
		},
		bench.Scenario{
			ID: "one-sign", Why: "fp8 sums of one sign: promotion to fp32 shows", Catches: []string{
				"A1 deepseek-ai/DeepGEMM#37",
			},
			Shapes: []bench.Shape{dims("k1024", 8, 8, 1024, "members", 16), dims("k4096", 4, 6, 4096, "members", 16)},
			Change: coherent,
		},
		bench.Scenario{
			ID:     "mixed-sign",
			Why:    "fp8 sums that cancel: an accumulator of 13 bits is beyond what rounding would do",
			Shapes: []bench.Shape{dims("k4096", 6, 8, 4096)},
		},
	),
}
