package mhc

import "github.com/assay-suite/assay/kernels_test/bench"

// The spread after a sublayer (docs/sources.md, mHC). It has no GEMM, so that one contract, fp32, is all there is.
var mhcPost = bench.Family{
	Op: "mhc_post", Slug: "mhc-post",
	Claim: "every stream MUST be post_k f + sum_j comb[j,k] X[j] within five fp32 roundings of its terms, and follow " +
		"from the operands alone",
	Draw: drawn(gen.post), Expect: expect, Doc: mhcPostDoc, Contracts: mhcPostContracts, Twins: postTwins,
	Scenarios: fp32Only([]bench.Scenario{
		{ID: "lengths", Why: "no token, one, and the edges of a tile of 64", Shapes: nano(0, 1, 2, 63, 64, 65, 67)},
		{
			ID: "unit-scale", Why: "the baseline, at every width and stream count",
			Catches: []string{
				"E1 NVIDIA-NeMo/Automodel#2159", "E1 NVIDIA/Megatron-LM#4957", "E1 huggingface/transformers#46172",
			},
			Shapes: concat(nano(4), flash(2), twoStreams(5)),
		},
		{ID: "small-scale", Why: "residual far below the sublayer's output", Shapes: nano(4), Change: edit(scaleX(0.01))},
		{ID: "large-scale", Why: "residual far above the sublayer's output", Shapes: nano(4), Change: edit(scaleX(300))},
		{ID: "coherent-sign", Why: "no cancellation", Shapes: nano(4), Change: edit(func(_ gen, p problem) error {
			p.change("x", absolute)
			p.change("f", absolute)
			return nil
		})},
		{ID: "outlier-channel", Why: "one channel a thousand times the others", Shapes: nano(4), Change: edit(outlier)},
		{ID: "zero-rows", Why: "what a zero residual leaves is post f alone", Shapes: nano(4), Change: edit(zeroRows)},
		{
			ID: "cyclic-comb", Why: "comb is a shift of the streams: its transpose shifts the other way",
			Catches: []string{"E1"},
			Shapes:  nano(4), Change: edit(cyclic),
		},
		{
			ID: "stream-coded", Why: "stream j is the constant j+1: the output reads back which streams were mixed",
			Catches: []string{"E1"},
			Shapes:  concat(nano(3), twoStreams(3)), Change: edit(streamCoded),
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
			Change: edit(func(g gen, p problem) error {
				return g.real(p, map[string]string{
					"f": "trace:model.layers.2.self_attn.out.0", "post": "trace:model.layers.2.attn_hc.out.0",
					"comb": "trace:model.layers.2.attn_hc.out.1", "x": "trace:model.layers.2.attn_hc.in.0",
				})
			}),
		},
	}),
}

func fp32Only(scenarios []bench.Scenario) []bench.Scenario {
	for i := range scenarios {
		scenarios[i].Contracts = []string{"fp32"}
	}
	return scenarios
}

func cyclic(g gen, p problem) error {
	n := g.streams
	p.change("comb", func(i int, _ float32) float32 {
		j, k := i/n%n, i%n
		if (j+1)%n == k {
			return 1
		}
		return 0
	})
	return nil
}

func streamCoded(g gen, p problem) error {
	width, n := g.width, g.streams
	p.change("x", func(i int, _ float32) float32 { return float32(i/width%n + 1) })
	return nil
}
