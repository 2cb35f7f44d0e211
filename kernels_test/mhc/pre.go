package mhc

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// The collapse before a sublayer: mixing GEMM, norm, gates, Sinkhorn, weighted sum (docs/sources.md, mHC).
var mhcPre = bench.Family{
	Op: "mhc_pre", Slug: "mhc-pre",
	Claim: "y, post and comb MUST lie within what the declared contract of the mixing GEMM allows after norm, gates and " +
		"Sinkhorn in fp32, and follow from the operands alone",
	Draw: drawn(gen.pre), Expect: expect, Doc: mhcPreDoc, Contracts: mhcPreContracts, Twins: mixTwins,
	Scenarios: bench.UnderAllBut(widely, []bench.Scenario{
		{
			ID: "lengths", Why: "no token, one, and the edges of a tile of 64", Catches: []string{"E6 sgl-project/sglang#39664"},
			Shapes: nano(0, 1, 2, 63, 64, 65, 67),
		},
		{
			ID: "unit-scale", Why: "the baseline, at every width and stream count", Catches: []string{
				"H1 vllm-project/vllm#56342",
			},
			Shapes: slices.Concat(nano(4), flash(2), twoStreams(5)),
		},
		{ID: "small-scale", Why: "norm and GEMM scale together", Shapes: nano(4), Change: scaleX(0.02)},
		{ID: "large-scale", Why: "residuals of late layers", Shapes: slices.Concat(nano(4), flash(1)), Change: scaleX(50)},
		{
			ID: "coherent-sign", Why: "no cancellation: a truncating or short accumulator shows its bias",
			Catches: []string{"A6"},
			Shapes:  slices.Concat(nano(4), flash(2)), Change: coherent,
		},
		{
			ID:     "outlier-channel",
			Why:    "one channel a thousand times the others carries the norm",
			Shapes: slices.Concat(nano(4), twoStreams(3)),
			Change: outlier,
		},
		{
			ID: "tiny-norms", Why: "rows from 1e-5 to 1e-2, where the eps of the norm is most of its sum",
			Catches: []string{"missing norm eps"},
			Shapes:  slices.Concat(nano(6), twoStreams(4)), Change: edit(rowScales),
		},
		{
			ID:     "vanishing-rows",
			Why:    "1e-30: squares underflow, eps alone is left",
			Shapes: nano(3),
			Change: scaleX(1e-30),
		},
		{
			ID:      "zero-rows",
			Why:     "a row of zeros beside real ones",
			Catches: []string{"missing norm eps"},
			Shapes:  nano(4),
			Change:  zeroRows,
		},
		{
			ID: "gates-low", Why: "sigmoid is 2e-9, so pre is its eps and an eps on post is gross", Catches: []string{
				"E3 eps on the wrong gate",
			},
			Shapes: slices.Concat(nano(4), twoStreams(3)), Change: gates(-20, -20),
		},
		{
			ID:      "gates-high",
			Why:     "pre is 1 + eps, post is 2",
			Catches: []string{"E2 post without its factor 2"},
			Shapes:  nano(4),
			Change:  gates(20, 20),
		},
		{
			ID:     "gates-apart",
			Why:    "pre low and post high: which rows of fn belong to which gate",
			Shapes: nano(4),
			Change: gates(-9, 9),
		},
		{
			ID:     "near-identity-comb",
			Why:    "what trained models have: streams stay apart",
			Shapes: slices.Concat(nano(4), twoStreams(3)),
			Change: nearIdentity,
		},
		{
			ID: "large-logits", Why: "logits of ±30: most softmax entries are the eps alone", Catches: []string{"H4"},
			Shapes: slices.Concat(nano(4), twoStreams(4)), Change: largeLogits,
		},
		{
			ID: "slow-sinkhorn", Why: "all rows want one column: far from converged after 20 steps", Catches: []string{
				"H3 NVIDIA/Megatron-LM#5106",
			},
			Shapes: slices.Concat(nano(4), twoStreams(4)), Change: oneColumn,
		},
		{
			ID:     "uniform-comb",
			Why:    "no mixes, equal logits: every column sums to 1 - 1e-6, seen without any input error",
			Shapes: nano(2),
			Change: uniform,
		},
		{
			ID:      "padded-x",
			Why:     "row stride longer than a row, as in a sliced buffer",
			Catches: []string{"over-read of a padded tail"},
			Shapes:  nano(5),
			Layout:  map[string]bench.Layout{"x": {Gap: 64}},
		},
		{
			ID:     "odd-gap-x",
			Why:    "a gap and a start that no vector width divides",
			Shapes: nano(3),
			Layout: map[string]bench.Layout{"x": {Lead: 5, Gap: 3}},
		},
		{
			ID: "rows-beyond-x", Why: "the buffer holds more rows than the batch has tokens", Catches: []string{
				"rows of a partial tile",
			},
			Shapes: nano(5, 65), Layout: map[string]bench.Layout{"x": {Tail: 64 * 512}},
		},
		{
			ID:     "padded-fn",
			Why:    "weights sliced out of a wider tensor",
			Shapes: nano(4),
			Layout: map[string]bench.Layout{"fn": {Gap: 128, Tail: 8 * 640}},
		},
		{
			ID:     "padded-vectors",
			Why:    "scale and base inside a packed parameter buffer",
			Shapes: nano(3),
			Layout: map[string]bench.Layout{"scale": {Lead: 1, Tail: 5}, "base": {Lead: 3, Tail: 8}},
		},
		{
			ID: "padded-two-streams", Why: "hc_mult 2 in a buffer made for 4", Catches: []string{"hc_mult compiled in"},
			Shapes: twoStreams(4), Layout: map[string]bench.Layout{
				"x":    {Gap: 256},
				"fn":   {Gap: 256, Tail: 16 * 512},
				"base": {Tail: 16},
			},
		},
		{
			ID: "nano-v4-attn", Why: "trained weights and the states of a real forward pass", Shapes: nano(8),
			Change: realPre("model.layers.2.hc_attn_", "model.layers.2.attn_hc.in.0"),
		},
		{
			ID: "nano-v4-ffn", Why: "trained weights and states, last layer", Shapes: nano(8), Layout: map[string]bench.Layout{
				"x": {Gap: 32, Tail: 512},
			},
			Change: realPre("model.layers.3.hc_ffn_", "model.layers.3.ffn_hc.in.0"),
		},
		{ID: "long", Why: longWhy, Shapes: long},
		{ID: "other-constants", Why: "eps and iterations of another model", Shapes: nano(3), Change: otherConstants},
	}, "coherent-sign", "outlier-channel", "large-logits", "tiny-norms", "nano-v4-attn"),
}

func scaleX(s float32) bench.Change { return bench.Times(float64(s), "x") }

// coherent makes x and fn non-negative and fn smaller, so that mixes stay near 3 in place of sqrt(K).
var coherent = edit(func(g gen, p *bench.Problem) {
	p.Change("x", absolute)
	s := float64(float32(4 / math.Sqrt(float64(g.k()))))
	p.Change("fn", func(_ int, v float64) float64 { return math.Abs(v) * s })
})

var outlier = edit(func(g gen, p *bench.Problem) {
	k := g.k()
	p.Change("x", func(i int, v float64) float64 {
		if i%k == k/3 {
			return v * 1000
		}
		return v
	})
})

var zeroRows = edit(func(g gen, p *bench.Problem) {
	p.Change("x", func(i int, v float64) float64 {
		if i/g.k()%2 == 1 {
			return 0
		}
		return v
	})
})

var nearIdentity = combBase(func(g gen, j, k int) float64 {
	if j == k {
		return 7 + g.NormFloat64()
	}
	return g.NormFloat64()
})

var largeLogits = combBase(func(g gen, _, _ int) float64 { return 30 * (2*g.Float64() - 1) })

var oneColumn = combBase(func(g gen, j, k int) float64 {
	if k == 1 {
		return 9 + float64(j)
	}
	return g.NormFloat64()
})

// uniform has no mixes, so that the bases alone are the logits, all alike.
var uniform = bench.All(bench.Times(0, "fn"), combBase(func(gen, int, int) float64 { return 0.5 }))

// realPre takes nano-v4's weights and recorded states.
func realPre(weights, states string) bench.Change {
	return recorded(map[string]string{
		"x": "trace:" + states, "fn": weights + "fn", "scale": weights + "scale", "base": weights + "base",
	})
}
