package topk

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// scoreScenarios are rows about what is ranked, on the shapes of both families; few keeps one shape of each.
func scoreScenarios(few bool) []bench.Scenario {
	scenarios := []bench.Scenario{
		{
			ID:        "ascending",
			Why:       "the best keys arrive last: whatever keeps the first ones loses them",
			Contracts: stable,
			Shapes:    join(nano(3), flash(2)),
			Change:    edit(ranked, ascending),
		},
		{
			ID:        "descending",
			Why:       "the best keys arrive first",
			Contracts: stable,
			Shapes:    nano(3),
			Change:    edit(ranked, descending),
		},
		{
			ID:        "near-tie-ladder",
			Why:       "scores that share their upper 16 bits and rise: coarse digits tell nothing apart",
			Contracts: stable,
			Catches:   []string{"T1 vllm-project/vllm#55314"},
			Shapes:    nano(3),
			Change:    edit(ranked, nearTies),
		},
		{
			ID:        "near-ties-shuffled",
			Why:       "the same in no order",
			Contracts: stable,
			Shapes:    nano(3),
			Change:    edit(ranked, nearTiesShuffled),
		},
		{
			ID:     "few-values",
			Why:    "scores of eight steps: the k-th place lies inside of a step",
			Shapes: join(nano(4), tiny(4), flash(2)),
			Change: edit(ranked, fewValues),
		},
		{
			ID:     "all-equal",
			Why:    "every key ties with every other",
			Shapes: join(nano(4), tiny(4), flash(1)),
			Change: edit(ranked, allEqual),
		},
		{
			ID:      "zeros-after-relu",
			Why:     "a few winners and thousands of exact zeros, of which many must be taken",
			Catches: []string{"T3 sgl-project/sglang#30645"},
			Shapes:  join(nano(3), flash(1)),
			Change:  edit(ranked, relu),
		},
		{ID: "both-zeros", Why: "-0 and +0 around the k-th place are equal", Shapes: nano(3), Change: edit(ranked, zeros)},
		{
			ID:        "negative",
			Why:       "all scores are negative: an order of raw bits runs backwards",
			Contracts: stable,
			Shapes:    join(nano(3), flash(1)),
			Change:    edit(ranked, negative),
		},
		{
			ID:        "subnormal",
			Why:       "scores that a cast to half precision makes zero",
			Contracts: stable,
			Shapes:    nano(3),
			Change:    edit(ranked, subnormal),
		},
		{
			ID:        "beyond-half",
			Why:       "scores that a cast to half precision makes infinite",
			Contracts: stable,
			Shapes:    nano(3),
			Change:    edit(ranked, beyondHalf),
		},
		{
			ID:        "extremes",
			Why:       "scores of both signs over the whole range of fp32",
			Contracts: stable,
			Shapes:    nano(3),
			Change:    edit(ranked, extremes),
		},
		{
			ID:     "masked-keys",
			Why:    "-Inf inside of the visible part: in some rows so many that they fill slots",
			Shapes: join(nano(4), flash(2)),
			Change: edit(ranked, maskedKeys),
		},
		{
			ID:     "plus-inf",
			Why:    "+Inf is a score like others, and more of them than slots are ties",
			Shapes: nano(4),
			Change: edit(ranked, plusInf),
		},
		{
			ID:        "index-coded",
			Why:       "every key has another score, far from its neighbours'",
			Contracts: stable,
			Shapes:    join(nano(5), flash(2)),
			Change:    edit(ranked, reversedBits),
		},
		{
			ID:        "needles-at-edges",
			Why:       "the best keys lie at the edges of pages, tiles and the row",
			Contracts: stable,
			Shapes:    join(nano(5), flash(2)),
			Change:    edit(ranked, needles),
		},
		{
			ID:        "last-keys",
			Why:       "the last visible key is the best and the one before it the worst",
			Contracts: stable,
			Shapes:    nano(5),
			Change:    edit(ranked, lastKeys),
		},
		{
			ID:        "outlier",
			Why:       "one score of 1e30 among thousandths",
			Contracts: stable,
			Shapes:    nano(3),
			Change:    edit(ranked, outlier),
		},
		{
			ID:        "best-beyond",
			Why:       "the scores behind the end of every row are larger than any in it",
			Contracts: stable,
			Shapes:    join(nano(9), flash(5)),
			Change:    edit(beyondBest),
		},
		{
			ID:        "nan-unranked",
			Why:       "NaN in rows of at most k keys, which are not ranked",
			Contracts: stable,
			Shapes:    nano(9),
			Change:    edit(notANumber),
		},
	}
	if few {
		for i := range scenarios {
			scenarios[i].Shapes = scenarios[i].Shapes[:1]
			if len(scenarios[i].Contracts) == 0 {
				scenarios[i].Contracts = stable
			}
		}
	}
	return append(scenarios, productionScenarios(few)...)
}

// productionScenarios are rows as long as those that public bugs were found on.
func productionScenarios(few bool) []bench.Scenario {
	around := join(long(16384, 1), long(16448, 1))
	scenarios := []bench.Scenario{
		{
			ID:        "coarse-bin",
			Why:       "more keys in the coarse bin of the k-th than a stash of 2,048 or 4,096 holds, the largest last",
			Contracts: open,
			Catches:   []string{"T1 vllm-project/vllm#55314, sgl-project/sglang#35257", "T2 local-inference-lab/b12x#55"},
			Shapes:    join(v32(2), long(6100, 1)),
			Change:    edit(ranked, bin),
		},
		{
			ID:        "around-capacity",
			Why:       "a monotone row whose coarse bins hold 4,096 keys, and one whose bins hold 4,112",
			Catches:   []string{"T2 local-inference-lab/b12x#55", "T1 sgl-project/sglang#35257"},
			Contracts: open,
			Shapes:    around,
			Change:    edit(wide, ramp),
		},
		{
			ID:        "one-bin-of-16k",
			Why:       "more than 16,384 keys in one coarse bin",
			Catches:   []string{"T1 vllm-project/vllm#55314"},
			Contracts: open,
			Shapes:    join(long(17500, 1), long(18001, 1)),
			Change:    edit(wide, bin),
		},
		{
			ID:        "near-ties-2048",
			Why:       "thousands of scores that share their upper 16 bits, rising",
			Catches:   []string{"T1 vllm-project/vllm#55314"},
			Contracts: open,
			Shapes:    v32(2),
			Change:    edit(ranked, nearTies),
		},
		{
			ID:        "near-ties-2048-shuffled",
			Why:       "the same in no order",
			Contracts: open,
			Shapes:    v32(1),
			Change:    edit(ranked, nearTiesShuffled),
		},
		{
			ID:        "all-equal-2048",
			Why:       "every one of 4,500 keys ties with every other",
			Contracts: open,
			Shapes:    v32(2),
			Change:    edit(ranked, allEqual),
		},
		{
			ID:        "zeros-2048",
			Why:       "a few winners and thousands of exact zeros for 2,048 slots",
			Catches:   []string{"T3 sgl-project/sglang#30645"},
			Contracts: open,
			Shapes:    v32(2),
			Change:    edit(ranked, relu),
		},
		{
			ID:        "ascending-2048",
			Why:       "the best of 4,500 keys arrive last",
			Contracts: open,
			Shapes:    v32(1),
			Change:    edit(ranked, ascending),
		},
		{
			ID:        "beyond-half-2048",
			Why:       "all of 4,500 scores are infinite to a cast to half precision",
			Contracts: open,
			Shapes:    v32(1),
			Change:    edit(ranked, beyondHalf),
		},
		{
			ID:        "needles-2048",
			Why:       "the best of 4,500 keys lie at the edges of pages and tiles",
			Contracts: open,
			Shapes:    v32(1),
			Change:    edit(ranked, needles),
		},
		{ID: "lengths-2048", Why: "queries of every length around 2,048 slots", Contracts: open, Shapes: v32(4)},
		{
			ID:        "ties-of-8k",
			Why:       "about 100 winners and 8,220 zeros for 2,048 slots",
			Catches:   []string{"T3 sgl-project/sglang#30645"},
			Contracts: open,
			Shapes:    long(8320, 2),
			Change:    edit(ranked, relu),
		},
		{
			ID:        "production",
			Why:       "Gaussian rows of 131,072 keys",
			Contracts: open,
			Shapes:    long(131072, 2),
			Full:      true,
			Change:    edit(ranked),
		},
		{
			ID:        "production-coarse-bin",
			Why:       "rows of 131,072 keys nearly all of which share a coarse bin",
			Contracts: open,
			Catches:   []string{"T1 vllm-project/vllm#55314"},
			Shapes:    long(131072, 1),
			Full:      true,
			Change:    edit(ranked, bin),
		},
	}
	if few {
		scenarios = slices.DeleteFunc(scenarios, func(k bench.Scenario) bool {
			return !slices.Contains([]string{"coarse-bin", "around-capacity", "zeros-2048"}, k.ID)
		})
		for i := range scenarios {
			scenarios[i].Shapes = scenarios[i].Shapes[len(scenarios[i].Shapes)-1:]
		}
	}
	return scenarios
}

// wide rows are visible to their end.
var wide = lengths(func(g gen, _ int) int { return g.width })

// lengthScenarios are rows about how many keys are visible.
func lengthScenarios(few bool) []bench.Scenario {
	scenarios := []bench.Scenario{
		{
			ID:        "lengths",
			Why:       "no query, one, and queries of every length from none to all",
			Contracts: stable,
			Shapes:    join(tiny(9), nano(9, 0, 1, 23), flash(9)),
		},
		{
			ID:        "decode",
			Phase:     "decode",
			Why:       "one query of each of several requests, no two of which see as many keys",
			Contracts: stable,
			Shapes:    join(nano(7), flash(3)),
			Change:    edit(lengths(func(g gen, t int) int { return g.k/2 + t*g.width/max(g.rows, 1) })),
		},
		{
			ID:        "prefill",
			Phase:     "prefill",
			Why:       "queries from position 0 on: key b becomes visible at position 4b+3",
			Contracts: stable,
			Shapes:    join(tiny(20), nano(280)),
			Change:    edit(lengths(func(_ gen, t int) int { return oracle.Visible(t, 4) })),
		},
		{
			ID:        "extend",
			Phase:     "extend",
			Why:       "a chunk around the first position where ranking starts",
			Contracts: stable,
			Shapes:    join(tiny(12), nano(14), flash(14)),
			Change:    edit(lengths(func(g gen, t int) int { return oracle.Visible(4*g.k-5+t, 4) })),
		},
		{
			ID:        "exactly-k",
			Why:       "as many keys as slots, one less, one more",
			Contracts: stable,
			Shapes:    join(tiny(3), nano(6), flash(3)),
			Change:    edit(lengths(func(g gen, t int) int { return g.k - 1 + t%3 })),
		},
		{
			ID:        "no-key",
			Why:       "queries that see no key, alone and in a batch",
			Contracts: open,
			Shapes:    nano(1, 6),
			Change:    edit(lengths(func(g gen, t int) int { return t % 2 * g.width })),
		},
		{
			ID:        "one-key",
			Why:       "rows of a single key",
			Contracts: open,
			Shapes:    nano(4),
			Change:    edit(lengths(func(_ gen, _ int) int { return 1 })),
		},
		{ID: "k-beyond-width", Why: "more slots than keys exist", Contracts: open, Shapes: shapes("wide-k", 64, 40, 8, 5)},
		{ID: "k-1", Why: "the single best key", Contracts: stable, Shapes: shapes("k1", 1, 70, 4, 5)},
		{
			ID:        "k-1024",
			Why:       "top-k of DeepSeek-V4-Pro, which not every kernel supports",
			Contracts: open,
			Shapes:    shapes("pro", 1024, 2600, 64, 4),
		},
		{ID: "k-odd", Why: "top_k is odd", Contracts: stable, Shapes: shapes("k77", 77, 301, 32, 5)},
		{
			ID:        "padded-scores",
			Why:       "rows of scores sliced out of a wider buffer",
			Contracts: stable,
			Shapes:    nano(9),
			Layout:    map[string]bench.Layout{"scores": {Lead: 3, Gap: 37, Tail: 11}},
		},
		{
			ID:        "scores-by-key",
			Why:       "scores stored with keys outermost",
			Contracts: open,
			Shapes:    nano(5),
			Layout:    map[string]bench.Layout{"scores": {Swap: true, Lead: 2, Gap: 3, Tail: 5}},
		},
		{
			ID:        "padded-lengths",
			Why:       "lengths in the middle of a buffer",
			Contracts: open,
			Shapes:    nano(9),
			Layout:    map[string]bench.Layout{"lengths": {Lead: 4, Tail: 9}},
		},
		{
			ID:        "captured-shorter",
			Why:       "a graph captured at shorter lengths and replayed at these",
			Contracts: open,
			Shapes:    join(nano(9), flash(4)),
			Change:    captured,
		},
		{
			ID:        "repeated",
			Why:       "the same call three times from the same memory",
			Contracts: open,
			Shapes:    nano(5),
			Change:    func(_ bench.Gen, p *bench.Problem) error { p.Repeat = 3; return nil },
		},
	}
	if few {
		for i := range scenarios {
			scenarios[i].Shapes = scenarios[i].Shapes[:min(2, len(scenarios[i].Shapes))]
			scenarios[i].Contracts = open
		}
	}
	return scenarios
}

// captured replays a graph that was captured when every query saw about a third of its keys.
func captured(_ bench.Gen, p *bench.Problem) error {
	before := p.Clone()
	before.Change("lengths", func(_ int, v float64) float64 { return float64(int(v) / 3) })
	hide(&before)
	p.Mode, p.CaptureWith = "graph", &before
	return nil
}
