package compressor

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

var compress = bench.Family{
	Op: opCompress, Slug: "compress", Doc: compressDoc(),
	Claim: "every complete block MUST be the softmax-weighted sum of its tokens, channel by channel, " +
		"within fp32 evaluation in any order, and no other row is emitted",
	Contracts: contracts(), Expect: expect, Twins: twins,
	Draw: func(b bench.Gen) (bench.Problem, error) {
		g := genOf(b)
		return g.compress(g.mixed()), nil
	},
	Scenarios: append(slices.Concat(valueScenarios(), compressScenarios(), compressRelations()), longCompress()),
}

// valueScenarios are rows about values and gates, for both operators.
func valueScenarios() []bench.Scenario {
	small := join(narrow(3), nano(2)[:1])
	return []bench.Scenario{
		{
			ID:     "models",
			Why:    "the sizes of nano-v4 and DeepSeek-V4-Flash, keys and indexer, several sequences",
			Shapes: join(nano(4), index(3), flash(2)),
		},
		{
			ID:        "ratio-128",
			Why:       "DeepSeek-V4-Flash's compressor without overlap at its own size",
			Contracts: []string{bf16Out},
			Shapes:    flash128(1),
		},
		{
			ID:     "odd-sizes",
			Why:    "ratios and widths that no vector divides, overlap at other ratios, ratio 4 without",
			Shapes: odd(4),
		},
		{
			ID:        "level-gates",
			Why:       "equal gates and values that encode their token: every row is the biased mean of what it pooled",
			Contracts: sharp,
			Shapes:    join(narrow(4), odd(4)[:2]),
			Change:    edit(coded, level),
		},
		{
			ID:        "peaked-gates",
			Why:       "one token has nearly all the weight, another one in each channel",
			Contracts: sharp,
			Shapes:    small,
			Change:    edit(coded, peaked),
		},
		{ID: "rising-gates", Why: "a new maximum at every token", Shapes: small, Change: edit(rising)},
		{ID: "falling-gates", Why: "the maximum comes first", Contracts: sharp, Shapes: small, Change: edit(falling)},
		{
			ID:     "large-gates",
			Why:    "gates of ±95: an exponential without the maximum taken out overflows",
			Shapes: small,
			Change: edit(large),
		},
		{ID: "all-large-gates", Why: "gates beyond 120", Contracts: sharp, Shapes: small, Change: edit(allLarge)},
		{
			ID:        "all-negative-gates",
			Why:       "gates below -130: a maximum that begins at 0 leaves no weight",
			Contracts: sharp,
			Shapes:    small,
			Change:    edit(allNegative),
		},
		{
			ID:        "masked-first",
			Why:       "the first tokens of each block have gates of -Inf",
			Contracts: sharp,
			Shapes:    narrow(3),
			Change:    edit(maskedFirst),
		},
		{
			ID:        "masked-last",
			Why:       "the last tokens of each block have gates of -Inf",
			Contracts: sharp,
			Shapes:    narrow(3),
			Change:    edit(maskedLast),
		},
		{
			ID:        "masked-before",
			Why:       "the block before has gates of -Inf throughout",
			Contracts: sharp,
			Shapes:    narrow(3)[:1],
			Change:    edit(maskedBefore),
		},
		{ID: "coherent-sign", Why: "values of one sign: no rounding cancels", Shapes: small, Change: edit(coherent)},
		{ID: "opposed-signs", Why: "values that cancel nearly", Contracts: sharp, Shapes: small, Change: edit(opposed)},
		{ID: "tiny-values", Why: "values of 1e-30", Contracts: sharp, Shapes: narrow(3)[:1], Change: edit(tiny)},
		{ID: "huge-values", Why: "values of 1e30", Contracts: sharp, Shapes: narrow(3)[:1], Change: edit(huge)},
		{
			ID:        "outlier-channels",
			Why:       "some channels a thousand times as large",
			Contracts: sharp,
			Shapes:    small,
			Change:    edit(outlier),
		},
		{
			ID:        "zero-channels",
			Why:       "channels of zeros of both signs beside others",
			Contracts: sharp,
			Shapes:    narrow(3)[:1],
			Change:    edit(zeroed),
		},
		{
			ID:     "strong-bias",
			Why:    "a position bias that outweighs the gates",
			Shapes: join(small, odd(3)[:2]),
			Change: edit(strong),
		},
		{
			ID:        "padded-kv",
			Why:       "values sliced out of a wider projection",
			Contracts: sharp,
			Shapes:    narrow(4),
			Layout:    map[string]bench.Layout{"kv": {Lead: 5, Gap: 6, Tail: 9}},
		},
		{
			ID:        "padded-gate",
			Why:       "gates sliced out of a wider projection",
			Contracts: sharp,
			Shapes:    narrow(4),
			Layout:    map[string]bench.Layout{"gate": {Lead: 2, Gap: 11, Tail: 4}},
		},
		{
			ID:        "padded-ape",
			Why:       "bias rows with a gap",
			Contracts: sharp,
			Shapes:    narrow(4),
			Layout:    map[string]bench.Layout{"ape": {Lead: 1, Gap: 3, Tail: 2}},
		},
		{
			ID:        "by-channel",
			Why:       "values and gates stored with channels outermost",
			Contracts: sharp,
			Shapes:    narrow(4)[:1],
			Layout:    map[string]bench.Layout{"kv": {Swap: true, Lead: 1, Gap: 2}, "gate": {Swap: true, Tail: 3}},
		},
		{
			ID:        "padded-cu-seqlens",
			Why:       "ends of sequences in the middle of a metadata buffer",
			Contracts: sharp,
			Shapes:    narrow(4),
			Layout:    map[string]bench.Layout{"cu_seqlens": {Lead: 3, Tail: 5}},
		},
	}
}

// compressScenarios are rows about lengths of whole sequences.
func compressScenarios() []bench.Scenario {
	every := func(g gen) []int {
		out := make([]int, g.requests)
		for i := range out {
			out[i] = g.pool.Ratio*g.blocks + (i*5+2)%g.pool.Ratio
		}
		return out
	}
	return []bench.Scenario{
		{
			ID:     "every-remainder",
			Why:    "sequences that end at every remainder mod ratio, in one batch",
			Shapes: join(narrow(4)[:1], []bench.Shape{shape("nano", 32, 3, 0, 1, 32)}),
			Change: sequences(every),
		},
		{
			ID:        "every-remainder-of-128",
			Why:       "the same for all remainders mod 128",
			Contracts: sharp,
			Shapes:    []bench.Shape{shape("narrow", 128, 1, 0, 1, 128)},
			Change:    sequences(every),
		},
		{
			ID:     "first-block",
			Why:    "0, 1, ratio-1, ratio, ratio+1, 2 ratio - 1 and 2 ratio tokens: with and without a block before",
			Shapes: join(narrow(7), odd(7)[:1]),
			Change: sequences(func(g gen) []int {
				r := g.pool.Ratio
				return []int{0, 1, r - 1, r, r + 1, 2*r - 1, 2 * r}
			}),
		},
		{
			ID:        "no-block",
			Why:       "sequences too short for any row",
			Contracts: sharp,
			Shapes:    narrow(3),
			Change:    sequences(func(g gen) []int { return []int{g.pool.Ratio - 1, 0, 1} }),
		},
		{
			ID:        "no-sequence",
			Why:       "an empty batch",
			Contracts: sharp,
			Shapes:    narrow(0),
			Change:    sequences(func(gen) []int { return nil }),
		},
		{
			ID:        "one-sequence",
			Why:       "a single sequence of many blocks",
			Contracts: sharp,
			Shapes:    []bench.Shape{shape("narrow", 4, 6, 1, 40, 1), shape("narrow", 32, 3, 0, 12, 1)},
		},
		{
			ID:        "alike",
			Why:       "sequences of one length, no token left over",
			Contracts: sharp,
			Shapes:    narrow(3),
			Change: sequences(func(g gen) []int {
				n := g.pool.Ratio * (1 + g.blocks)
				return []int{n, n, n}
			}),
		},
		{
			ID:        "production",
			Phase:     "prefill",
			Why:       "a few hundred tokens of DeepSeek-V4-Flash",
			Contracts: []string{bf16Out},
			Full:      true,
			Shapes:    []bench.Shape{shape("flash", 4, 512, 1, 64, 1), shape("flash", 128, 512, 0, 3, 1)},
		},
	}
}
