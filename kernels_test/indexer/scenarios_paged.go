package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

// stored runs a shape in every page format.
func stored(f func(bits int) []bench.Shape) []bench.Shape {
	var out []bench.Shape
	for _, bits := range []int{8, 16, 4} {
		out = append(out, f(bits)...)
	}
	return out
}

func each(model string, page, ratio, next int, first ...int) []bench.Shape {
	return stored(func(bits int) []bench.Shape {
		return []bench.Shape{decode(model, bits, page, ratio, next, first...)}
	})
}

func eachChunk(model string, page, ratio, tokens int, first ...int) []bench.Shape {
	return stored(func(bits int) []bench.Shape {
		return []bench.Shape{extend(model, bits, page, ratio, tokens, first...)}
	})
}

func only(bits int, model string, page, ratio, next int, first ...int) []bench.Shape {
	return []bench.Shape{decode(model, bits, page, ratio, next, first...)}
}

var (
	exact   = []string{"fp32"}
	fp8Only = []string{"fp32", "hopper-fp8", "bf16-dot"}
	// rows about structure run under a sharp contract and a loose one
	plainly = []string{"fp32", "hopper-fp8"}
	roughly = []string{"fp32", "v4-reference"}
)

// T6 and T7 are found in a second chunk; the rows that were written for them say so.
var chunkRows = []string{"T6 ml-explore/mlx-lm#1189", "T7 brontoguana/krasis#29"}

func pagedScenarios() []bench.Scenario {
	rows := []bench.Scenario{
		{
			ID:     "lengths",
			Why:    "contexts of no key, one, and a page of 8 less one, full, plus one, side by side",
			Phase:  "decode",
			Shapes: each("nano", 8, 1, 1, -1, 0, 6, 7, 8, 15, 16),
		},
		{
			ID:     "lengths-64",
			Why:    "the production page of 64 tokens at its edges, contexts after compression by 4",
			Phase:  "decode",
			Shapes: each("mid", 64, 4, 1, 250, 254, 255, 259, 515),
		},
		{
			ID:        "no-block-closed",
			Why:       "positions before the first block of 4 closes see nothing: rows of -inf between others",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    each("nano", 4, 4, 1, 0, 2, 3, 40, 1),
		},
		{
			ID:        "flash",
			Why:       "64 heads of 128 channels",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    only(8, "flash", 64, 4, 1, 30, 275),
		},
		{
			ID:        "flash-bf16",
			Why:       "64 heads of 128 channels, keys as the reference stores them",
			Phase:     "decode",
			Contracts: roughly,
			Shapes:    only(16, "flash", 64, 4, 1, 30, 260),
		},
		{
			ID:        "flash-fp4",
			Why:       "64 heads of 128 channels, four scales a key",
			Phase:     "decode",
			Contracts: roughly,
			Shapes:    only(4, "flash", 64, 4, 1, 30, 260),
		},
		{
			ID:        "flash-verify",
			Why:       "two drafts of 64 heads at the edge of a page of 64",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    only(8, "flash", 64, 1, 2, 62, 5),
		},
		{
			ID:        "flash-chunk",
			Why:       "three tokens of 64 heads, the last key of a page among them",
			Phase:     "extend",
			Contracts: plainly,
			Shapes:    []bench.Shape{extend("flash", 8, 64, 4, 3, 254)},
		},
		{
			ID:     "verify",
			Why:    "a step of 4 drafts, each sees one key more at ratio 1",
			Phase:  "decode",
			Shapes: each("nano", 8, 1, 4, 5, 12, 0),
			Relate: stepwise,
		},
		{
			ID:        "verify-compressed",
			Why:       "drafts over the edge of a block of 4: some see a key more, some do not",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    each("nano", 4, 4, 3, 9, 30, 17),
			Relate:    stepwise,
		},
		{
			ID:        "uneven",
			Why:       "every query of a request has a context of its own, not a ladder",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    each("nano", 8, 1, 3, 20, 9),
			Change:    uneven,
		},
		{ID: "page-1", Why: "pages of one token", Phase: "decode", Contracts: plainly, Shapes: each("nano", 1, 1, 1, 12, 5)},
		{ID: "page-2", Why: "pages of two tokens", Phase: "decode", Contracts: roughly, Shapes: each("nano", 2, 1, 2, 12, 5)},
		{
			ID:        "many-pages",
			Why:       "page ids beyond 8 bits",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    []bench.Shape{decode("nano", 8, 2, 1, 1, 30, 21).With("nano-fp8-page2-pool600", "spare", 570)},
		},
		{
			ID:        "subnormal",
			Why:       "queries at the small end of e4m3 and bf16 against keys at the large end",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    each("nano", 8, 1, 1, 20, 9),
			Change:    subnormal,
		},
		{
			ID:     "coherent",
			Why:    "all products positive: errors of a narrow or truncating accumulator add up",
			Phase:  "decode",
			Shapes: each("flash", 8, 1, 1, 9),
			Change: coherent,
		},
		{
			ID:     "coherent-non-negative",
			Why:    "head weights positive, too: nothing cancels",
			Phase:  "decode",
			Shapes: each("mid", 8, 1, 1, 30, 11),
			Change: bench.All(coherent, nonNegative),
		},
		{
			ID:     "opposed",
			Why:    "every dot product negative: exact zeros after relu",
			Phase:  "decode",
			Shapes: each("nano", 8, 1, 1, 20, 11),
			Change: opposed,
		},
		{
			ID:     "negative-weights",
			Why:    "all logits below 0, so that a fill of 0 outranks them",
			Phase:  "decode",
			Shapes: each("nano", 8, 1, 1, 20, 11),
			Change: negative,
		},
		{
			ID:        "zero-weights",
			Why:       "a third of the head weights is 0",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    each("nano", 8, 1, 2, 20, 11),
			Change:    someZero,
		},
		{
			ID:     "index-coded",
			Why:    "a logit tells which key it was computed from",
			Phase:  "decode",
			Shapes: each("nano", 8, 1, 1, 40, 25, 33),
			Change: indexCoded,
		},
		{
			ID:        "needle",
			Why:       "keys at both edges of every page stand out",
			Phase:     "decode",
			Contracts: roughly,
			Shapes:    each("nano", 16, 1, 1, 63, 40),
			Change:    needle,
		},
		{
			ID:     "outlier-channel",
			Why:    "one channel of every key is 1,000 times the others",
			Phase:  "decode",
			Shapes: each("mid", 8, 1, 1, 20),
			Change: outlierChannel,
		},
		{
			ID:        "spread-scales",
			Why:       "sizes of neighbouring keys differ by up to 2^30",
			Phase:     "decode",
			Shapes:    only(8, "mid", 8, 1, 1, 33, 18),
			Contracts: fp8Only,
			Change:    spread,
		},
		{
			ID:        "power-scales",
			Why:       "scales that are powers of two",
			Phase:     "decode",
			Shapes:    only(8, "mid", 8, 1, 1, 20, 9),
			Contracts: fp8Only,
			Change:    powers,
		},
		{
			ID:        "unclean",
			Why:       "logits beyond a context may be left unwritten",
			Phase:     "decode",
			Contracts: roughly,
			Shapes:    each("nano", 8, 1, 2, 20, 3),
			Change:    bench.Set(bench.Attrs{"clean_logits": false}),
		},
		{
			ID:        "splits",
			Why:       "a scheduler cuts the keys into 5 pieces",
			Phase:     "decode",
			Contracts: roughly,
			Shapes:    each("nano", 8, 1, 1, 50, 3, 17),
			Change:    bench.Set(bench.Attrs{"num_splits": 5.0}),
		},
		{
			ID:        "alone",
			Why:       "a batch is each of its requests alone",
			Phase:     "decode",
			Contracts: roughly,
			Shapes:    each("nano", 8, 1, 2, 20, 3, 40),
			Relate:    alone,
		},
		{
			ID:        "permuted",
			Why:       "requests in another order",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    each("nano", 8, 1, 2, 20, 3, 40, 9),
			Relate:    permuted,
		},
		{
			ID:        "preempted",
			Why:       "resumed on other pages of a larger pool",
			Phase:     "decode",
			Contracts: roughly,
			Shapes:    each("nano", 8, 1, 1, 37, 12, 20),
			Relate:    moved,
		},
		{
			ID:        "compacted",
			Why:       "the pool after a defragmentation",
			Phase:     "decode",
			Contracts: plainly,
			Shapes:    each("nano", 8, 1, 1, 37, 12, 20),
			Relate:    compacted,
		},
		{
			ID:        "prefix-hit",
			Why:       "requests share their first pages; a miss has copies",
			Phase:     "decode",
			Contracts: roughly,
			Shapes:    each("nano", 8, 1, 1, 37, 30, 20),
			Change:    shared,
			Relate:    unshared,
		},
		{
			ID:        "one-shot",
			Why:       "a whole prompt at once: nothing was stored before",
			Phase:     "extend",
			Contracts: roughly,
			Shapes:    eachChunk("nano", 8, 4, 45, 0),
		},
		{
			ID:      "second-chunk",
			Why:     "more keys from earlier chunks than this one brings",
			Phase:   "extend",
			Catches: chunkRows,
			Shapes:  eachChunk("nano", 8, 4, 12, 80, 33),
		},
		{
			ID:     "ratio-1-chunks",
			Why:    "no compression (V3.2): 3 tokens after 5, 2 after 20",
			Phase:  "extend",
			Shapes: eachChunk("nano", 8, 1, 3, 5, 20),
		},
		{
			ID:        "needle-in-history",
			Why:       "keys of chunk 0 that stand out, seen by chunk 1",
			Phase:     "extend",
			Catches:   chunkRows,
			Contracts: roughly,
			Shapes:    eachChunk("nano", 8, 1, 3, 9),
			Change:    needle,
		},
		{
			ID:        "bitwise",
			Why:       "three runs are bit-identical",
			Phase:     "decode",
			Contracts: []string{"fp32-bitwise"},
			Shapes:    each("mid", 8, 1, 2, 20, 3),
			Change:    repeated(3),
		},
	}
	for r := range 4 {
		rows = append(rows, bench.Scenario{
			ID: slug("chunk-residue-%d", r), Why: "chunks cut at this residue of 4, and at the edge of a page, against one shot",
			Phase: "extend", Contracts: [][]string{plainly, roughly}[r%2],
			Shapes: eachChunk("nano", 4, 4, 26, r), Relate: chunked(5+r, 13, 16-r, 20),
		})
	}
	return append(append(rows, paddedPaged()...), production())
}

// paddedPaged has gaps in one operand at a time, and in all.
func paddedPaged() []bench.Scenario {
	layouts := map[string]bench.Layout{
		"q": {Lead: 5, Gap: 64, Inner: 32, Tail: 9}, "pages": {Lead: 16, Gap: 24, Tail: 40}, "weights": {
			Lead: 2,
			Gap:  6,
			Tail: 3,
		},
		"context-lens": {Lead: 1, Gap: 3, Tail: 2}, "block-table": {Lead: 3, Gap: 5, Tail: 4},
	}
	var out []bench.Scenario
	all := map[string]bench.Layout{}
	for _, name := range []string{"q", "pages", "weights", "context-lens", "block-table"} {
		operand := map[string]string{"context-lens": "context_lens", "block-table": "block_table"}[name]
		if operand == "" {
			operand = name
		}
		all[operand] = layouts[name]
		out = append(out, bench.Scenario{
			ID: "padded-" + name, Why: "a view into a wider buffer", Phase: "decode", Contracts: exact,
			Shapes: each("nano", 8, 1, 2, 20, 3, 9),
			Layout: map[string]bench.Layout{operand: layouts[name]}, Relate: unpadded,
		})
	}
	out = append(out, bench.Scenario{
		ID: "padded-all", Why: "every operand is a view into a wider buffer", Phase: "decode",
		Shapes: each("nano", 8, 1, 1, 20, 3, 9), Layout: all,
	}, bench.Scenario{
		ID: "q-swapped", Why: "queries with their second axis outermost in memory", Phase: "decode", Contracts: exact,
		Shapes: each("nano", 8, 1, 3, 20, 3),
		Layout: map[string]bench.Layout{"q": {Swap: true, Lead: 2, Tail: 4}},
	}, bench.Scenario{
		ID: "padded-prefix-lens", Why: "a chunk's operands in wider buffers", Phase: "extend",
		Shapes: eachChunk("nano", 8, 4, 9, 50, 22),
		Layout: map[string]bench.Layout{"prefix_lens": {Lead: 2, Tail: 2}, "pages": {Lead: 3, Gap: 8, Tail: 1}},
	})
	return out
}

func repeated(n int) bench.Change {
	return func(_ bench.Gen, p *bench.Problem) error {
		p.Repeat = n
		return nil
	}
}
