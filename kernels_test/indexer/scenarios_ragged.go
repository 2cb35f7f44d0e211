package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

func two(model string, ratio, tokens int, first ...int) []bench.Shape {
	return []bench.Shape{ragged(model, 8, ratio, tokens, first...), ragged(model, 16, ratio, tokens, first...)}
}

func raggedScenarios() []bench.Scenario {
	rows := []bench.Scenario{
		{
			ID:     "lengths",
			Why:    "sequences of a few tokens, some without a key",
			Phase:  "prefill",
			Shapes: two("nano", 4, 6, 0, 30, 61, 2),
		},
		{
			ID:        "ratio-1",
			Why:       "no compression (V3.2): every token is a key",
			Phase:     "prefill",
			Contracts: plainly,
			Shapes:    two("nano", 1, 5, 0, 14),
		},
		{
			ID:        "flash",
			Why:       "64 heads of 128 channels",
			Phase:     "prefill",
			Contracts: roughly,
			Shapes:    two("flash", 4, 2, 60, 97),
		},
		{
			ID:        "windows",
			Why:       "ranges in no order: empty ones, the first key, the last",
			Phase:     "prefill",
			Contracts: plainly,
			Shapes:    two("nano", 1, 7, 20, 11),
			Change:    ranges,
		},
		{
			ID:        "unclean",
			Why:       "keys not visible to a query may be left unwritten",
			Phase:     "prefill",
			Contracts: roughly,
			Shapes:    two("nano", 4, 5, 40, 9),
			Change:    bench.Set(bench.Attrs{"clean_logits": false}),
		},
		{
			ID:        "compressed",
			Why:       "rows begin at the first key of their range",
			Phase:     "prefill",
			Contracts: roughly,
			Shapes:    two("nano", 4, 5, 40, 9, 21),
			Change:    compress,
			Relate:    uncompressed,
		},
		{
			ID:     "coherent",
			Why:    "all products positive: errors of a narrow or truncating accumulator add up",
			Phase:  "prefill",
			Shapes: two("mid", 1, 3, 9),
			Change: coherent,
		},
		{
			ID:     "coherent-non-negative",
			Why:    "head weights positive, too: nothing cancels",
			Phase:  "prefill",
			Shapes: two("mid", 1, 2, 6),
			Change: bench.All(coherent, nonNegative),
		},
		{
			ID:     "opposed",
			Why:    "every dot product negative: exact zeros after relu",
			Phase:  "prefill",
			Shapes: two("nano", 1, 3, 9),
			Change: opposed,
		},
		{
			ID:        "negative-weights",
			Why:       "all logits below 0",
			Phase:     "prefill",
			Contracts: roughly,
			Shapes:    two("nano", 1, 3, 9, 17),
			Change:    negative,
		},
		{
			ID:        "zero-weights",
			Why:       "a third of the head weights is 0",
			Phase:     "prefill",
			Contracts: plainly,
			Shapes:    two("nano", 1, 3, 9, 17),
			Change:    someZero,
		},
		{
			ID:     "index-coded",
			Why:    "a logit tells which key it was computed from",
			Phase:  "prefill",
			Shapes: two("nano", 4, 5, 70, 33),
			Change: indexCoded,
		},
		{
			ID:     "outlier-channel",
			Why:    "one channel of every key is 1,000 times the others",
			Phase:  "prefill",
			Shapes: two("mid", 1, 2, 12),
			Change: outlierChannel,
		},
		{
			ID:        "spread-scales",
			Why:       "sizes of neighbouring keys differ by up to 2^30",
			Phase:     "prefill",
			Contracts: fp8Only,
			Shapes:    two("mid", 1, 2, 30, 12)[:1],
			Change:    spread,
		},
		{
			ID:        "power-scales",
			Why:       "scales that are powers of two",
			Phase:     "prefill",
			Contracts: fp8Only,
			Shapes:    two("mid", 1, 2, 30, 12)[:1],
			Change:    powers,
		},
		{
			ID:        "alone",
			Why:       "each sequence alone, with its own keys only",
			Phase:     "prefill",
			Contracts: roughly,
			Shapes:    two("nano", 4, 6, 40, 0, 21),
			Relate:    sequencesAlone,
		},
		{
			ID:        "permuted",
			Why:       "queries in another order",
			Phase:     "prefill",
			Contracts: plainly,
			Shapes:    two("nano", 4, 6, 40, 3),
			Relate:    permutedRows,
		},
		{
			ID:        "bitwise",
			Why:       "three runs are bit-identical",
			Phase:     "prefill",
			Contracts: []string{"fp32-bitwise"},
			Shapes:    two("mid", 4, 3, 40, 3),
			Change:    repeated(3),
		},
		{
			ID: "padded-all", Why: "every operand is a view into a wider buffer", Phase: "prefill",
			Shapes: two("nano", 4, 5, 40, 3),
			Layout: map[string]bench.Layout{
				"q":       {Lead: 5, Gap: 64, Inner: 32, Tail: 9},
				"k":       {Lead: 4, Gap: 16, Tail: 40},
				"weights": {Lead: 2, Gap: 6, Tail: 3},
				"start":   {Lead: 1, Tail: 2},
				"end":     {Lead: 3, Tail: 4},
			},
		},
		{
			ID: "padded-scales", Why: "scales at an offset in a larger buffer", Phase: "prefill", Contracts: fp8Only,
			Shapes: two("nano", 4, 5, 40, 3)[:1],
			Layout: map[string]bench.Layout{"ks": {Lead: 7, Tail: 5}}, Relate: unpadded,
		},
	}
	for r := range 4 {
		rows = append(rows, bench.Scenario{
			ID: slug("chunk-residue-%d", r), Why: "queries cut at this residue of 4 against one shot", Phase: "prefill",
			Contracts: [][]string{plainly, roughly}[r%2], Shapes: two("nano", 4, 22, r), Relate: raggedChunks(4+r, 9, 17+r),
		})
	}
	for _, x := range []struct {
		name   string
		layout bench.Layout
	}{
		{"q", bench.Layout{Gap: 32, Inner: 8, Lead: 1}},
		{"k", bench.Layout{Gap: 16, Lead: 8, Tail: 5}},
		{"weights", bench.Layout{Gap: 3, Lead: 1}},
	} {
		rows = append(rows, bench.Scenario{
			ID: "padded-" + x.name, Why: "a view into a wider buffer", Phase: "prefill", Contracts: exact,
			Shapes: two("nano", 4, 5, 40, 3),
			Layout: map[string]bench.Layout{x.name: x.layout}, Relate: unpadded,
		})
	}
	return rows
}
