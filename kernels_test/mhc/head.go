package mhc

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// The collapse after the last layer: as mhc_pre with n rows of fn, no post and no Sinkhorn (docs/sources.md, mHC).
var mhcHead = bench.Family{
	Op: "mhc_head", Slug: "mhc-head",
	Claim: "y MUST lie within what the declared contract of the mixing GEMM allows after norm, gate and collapse in " +
		"fp32, and follow from the operands alone",
	Draw: drawn(gen.head), Expect: expect, Doc: mhcHeadDoc, Contracts: mhcHeadContracts, Twins: mixTwins,
	Scenarios: bench.UnderAllBut(widely, []bench.Scenario{
		{ID: "lengths", Why: "no token, one, and the edges of a tile of 64", Shapes: nano(0, 1, 2, 63, 64, 65, 67)},
		{
			ID:     "unit-scale",
			Why:    "the baseline, at every width and stream count",
			Shapes: slices.Concat(nano(4), flash(2), twoStreams(5)),
		},
		{
			ID:     "coherent-sign",
			Why:    "no cancellation: a truncating or short accumulator shows its bias",
			Shapes: slices.Concat(nano(4), flash(2)),
			Change: coherent,
		},
		{
			ID:     "outlier-channel",
			Why:    "one channel a thousand times the others carries the norm",
			Shapes: nano(4),
			Change: outlier,
		},
		{
			ID:     "tiny-norms",
			Why:    "rows from 1e-5 to 1e-2, where the eps of the norm is most of its sum",
			Shapes: nano(6),
			Change: edit(rowScales),
		},
		{ID: "zero-rows", Why: "a row of zeros beside real ones", Shapes: nano(4), Change: zeroRows},
		{
			ID:     "gates-low",
			Why:    "sigmoid is 2e-9, so the gate is its eps",
			Shapes: slices.Concat(nano(4), twoStreams(3)),
			Change: gates(-20, 0),
		},
		{ID: "gates-high", Why: "the gate is 1 + eps", Shapes: nano(4), Change: gates(20, 0)},
		{
			ID:     "padded-x",
			Why:    "row stride longer than a row, more rows than tokens",
			Shapes: nano(5),
			Layout: map[string]bench.Layout{"x": {Lead: 3, Gap: 64, Tail: 4 * 576}},
		},
		{
			ID:     "padded-fn",
			Why:    "weights sliced out of a wider tensor",
			Shapes: nano(4),
			Layout: map[string]bench.Layout{"fn": {Gap: 32, Tail: 4 * 544}},
		},
		{
			ID:     "padded-vectors",
			Why:    "scale and base inside a packed parameter buffer",
			Shapes: nano(3),
			Layout: map[string]bench.Layout{"scale": {Lead: 2, Tail: 3}, "base": {Lead: 1, Tail: 4}},
		},
		{
			ID:     "nano-v4",
			Why:    "trained weights and the states after the last layer",
			Shapes: nano(8),
			Change: realPre("model.hc_head.hc_", "model.hc_head.in.0"),
		},
		{ID: "long", Why: longWhy, Shapes: long},
		{ID: "other-constants", Why: "eps and iterations of another model", Shapes: nano(3), Change: otherConstants},
	}, "coherent-sign", "outlier-channel", "tiny-norms", "nano-v4"),
}
