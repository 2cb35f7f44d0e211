package mhc

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// The spread after a sublayer (docs/sources.md, mHC). It has no GEMM, so that one contract, fp32, is all there is.
var mhcPost = bench.Family{
	Op: "mhc_post", Slug: "mhc-post",
	Claim: "every stream MUST be post_k f + sum_j comb[j,k] X[j] within five fp32 roundings of its terms, and follow " +
		"from the operands alone",
	Draw: drawn(gen.post), Expect: expect, Doc: mhcPostDoc, Contracts: mhcPostContracts, Twins: postTwins,
	Scenarios: bench.Under([]string{"fp32"}, []bench.Scenario{
		{ID: "lengths", Why: "no token, one, and the edges of a tile of 64", Shapes: nano(0, 1, 2, 63, 64, 65, 67)},
		{
			ID: "unit-scale", Why: "the baseline, at every width and stream count",
			Catches: []string{
				"E1 NVIDIA-NeMo/Automodel#2159", "E1 NVIDIA/Megatron-LM#4957", "E1 huggingface/transformers#46172",
			},
			Shapes: slices.Concat(nano(4), flash(2), twoStreams(5)),
		},
		{ID: "small-scale", Why: "residual far below the sublayer's output", Shapes: nano(4), Change: scaleX(0.01)},
		{ID: "large-scale", Why: "residual far above the sublayer's output", Shapes: nano(4), Change: scaleX(300)},
		{ID: "coherent-sign", Why: "no cancellation", Shapes: nano(4), Change: bench.Each(absolute, "x", "f")},
		{ID: "outlier-channel", Why: "one channel a thousand times the others", Shapes: nano(4), Change: outlier},
		{ID: "zero-rows", Why: "what a zero residual leaves is post f alone", Shapes: nano(4), Change: zeroRows},
		{
			ID: "cyclic-comb", Why: "comb is a shift of the streams: its transpose shifts the other way",
			Catches: []string{"E1"},
			Shapes:  nano(4), Change: cyclic,
		},
		{
			ID: "stream-coded", Why: "stream j is the constant j+1: the output reads back which streams were mixed",
			Catches: []string{"E1"},
			Shapes:  slices.Concat(nano(3), twoStreams(3)), Change: streamCoded,
		},
		{
			ID:     "padded-x",
			Why:    "row stride longer than a row",
			Shapes: nano(5),
			Layout: map[string]bench.Layout{"x": {Gap: 64, Tail: 576}},
		},
		{
			ID:     "padded-f",
			Why:    "the sublayer's output inside a wider buffer",
			Shapes: nano(5),
			Layout: map[string]bench.Layout{"f": {Lead: 7, Gap: 9, Tail: 137}},
		},
		{
			ID:     "padded-gates",
			Why:    "post and comb as slices of the split's packed rows",
			Shapes: nano(5),
			Layout: map[string]bench.Layout{"post": {Lead: 4, Gap: 20}, "comb": {Lead: 8, Gap: 8}},
		},
		{
			ID:     "packed-gates",
			Why:    "the packed rows of hc_mult 2: post, then comb",
			Shapes: twoStreams(4),
			Layout: map[string]bench.Layout{"post": {Lead: 2, Gap: 6}, "comb": {Lead: 4, Gap: 4}},
		},
		{
			ID: "one-launch", Why: "other requests in the same launch change nothing", Catches: []string{
				"A7 vllm-project/vllm#54506",
			},
			Shapes: nano(5), Relate: func(g bench.Gen, p bench.Problem) (bench.Relation, error) {
				r := bench.Relation{
					Parts: []bench.Problem{p},
					Exact: true,
					Join:  func(parts []bench.Results) (bench.Results, error) { return parts[0], nil },
				}
				for _, n := range []int{1, 67} {
					other := g
					other.Shape = g.Shape.With(g.Shape.Name, "tokens", n)
					r.With = append(r.With, genOf(other).post())
				}
				return r, nil
			},
		},
		{
			ID:     "nano-v4-attn",
			Why:    "recorded gates, comb, states and attention output",
			Shapes: nano(8),
			Change: recorded(map[string]string{
				"f": "trace:model.layers.2.self_attn.out.0", "post": "trace:model.layers.2.attn_hc.out.0",
				"comb": "trace:model.layers.2.attn_hc.out.1", "x": "trace:model.layers.2.attn_hc.in.0",
			}),
		},
		{ID: "long", Why: longWhy, Shapes: long},
		{ID: "other-constants", Why: "eps and iterations of another model", Shapes: nano(3), Change: otherConstants},
	}),
}

// cyclic makes comb a shift of the streams.
var cyclic = edit(func(g gen, p *bench.Problem) {
	n := g.streams
	p.Change("comb", func(i int, _ float64) float64 {
		if (i/n%n+1)%n == i%n {
			return 1
		}
		return 0
	})
})

var streamCoded = edit(func(g gen, p *bench.Problem) {
	p.Change("x", func(i int, _ float64) float64 { return float64(i/g.width%g.streams + 1) })
})
