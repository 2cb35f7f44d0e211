package dense

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// gqaScenarios: prefill is all of a request at once, decode one query behind many keys, extend some behind some.
func gqaScenarios() []bench.Scenario {
	prefill := []req{{5, 5}, {17, 17}, {1, 1}, {9, 9}}
	extend := []req{{3, 20}, {8, 8}, {1, 33}, {4, 19}}
	decode := []req{{1, 1}, {1, 15}, {1, 16}, {1, 17}, {1, 49}}
	full := bench.Set(bench.Attrs{"window_left": -1.0})
	bf16 := []string{"bf16", "fp8-kv"}
	out := []bench.Scenario{
		{
			ID: "aligned", Why: "every page full and every page used: whatever is read is a valid row, so a misread page " +
				"table shows as wrong values only", Phase: "extend",
			Catches: []string{"G6 sgl-project/sglang#25556", "V4 tenstorrent/vllm#415"}, Shapes: []bench.Shape{
				shape("nano", 8, req{3, 24}, req{1, 24}, req{4, 24}), shape("odd", 2, req{3, 12}, req{12, 12}),
			},
		},
		{
			ID:      "aligned-decode",
			Why:     "the same for one query each",
			Phase:   "decode",
			Catches: []string{"G7 sgl-project/sglang#23757"},
			Shapes:  []bench.Shape{shape("nano", 4, req{1, 32}, req{1, 32}, req{1, 32})},
		},
		{
			ID: "page-edge", Why: "lengths one below, at and above multiples of the page", Phase: "decode", Catches: []string{
				"G12 flashinfer-ai/flashinfer#941",
			},
			Shapes: []bench.Shape{shape("nano", 16, req{1, 1}, req{1, 15}, req{1, 16}, req{1, 17}, req{1, 33})},
		},
		{
			ID:        "page-edge-grouped",
			Why:       "the same for eight query heads to one key-value head",
			Phase:     "decode",
			Contracts: bf16,
			Shapes:    []bench.Shape{shape("grouped8", 16, req{1, 15}, req{1, 17})},
		},
		{
			ID: "page-size", Why: "pages of one token, of two, of sizes that no tile divides", Phase: "decode",
			Catches: []string{
				"G6 sgl-project/sglang#25556",
			}, Contracts: bf16,
			Shapes: []bench.Shape{
				shape("odd", 1, req{1, 7}, req{1, 12}), shape("odd", 2, req{1, 7}, req{1, 12}),
				shape("odd", 3, req{1, 7}, req{1, 12}), shape("odd", 53, req{1, 54}, req{1, 12}),
				shape("odd", 64, req{1, 65}, req{1, 64}, req{1, 63}),
			},
		},
		{
			ID:      "prefill-ragged",
			Why:     "whole prompts side by side, no cache",
			Phase:   "prefill",
			Catches: []string{"Q14 flashinfer-ai/flashinfer#4979"},
			Shapes:  []bench.Shape{shape("nano", 0, req{5, 5}, req{9, 9}, req{1, 1}), shape("odd", 0, prefill...)},
		},
		{
			ID:      "prefill-paged",
			Why:     "whole prompts read back from their pages",
			Phase:   "prefill",
			Catches: []string{"Q15 flashinfer-ai/flashinfer#1023"},
			Shapes:  []bench.Shape{shape("nano", 8, req{5, 5}, req{9, 9}, req{1, 1}), shape("odd", 4, prefill...)},
		},
		{
			ID:      "extend",
			Why:     "chunks behind cached prefixes, some of them empty, with stale scratch",
			Phase:   "extend",
			Catches: []string{"S9 flashinfer-ai/flashinfer#3047"},
			Shapes:  []bench.Shape{shape("nano", 8, req{3, 20}, req{2, 2}, req{1, 17}), shape("odd", 0, extend...)},
		},
		{
			ID:      "decode",
			Why:     "one query each",
			Phase:   "decode",
			Catches: []string{"Q19 NVIDIA/TensorRT-LLM#16916"},
			Shapes:  []bench.Shape{shape("mha", 4, decode...), shape("grouped8", 8, req{1, 20}, req{1, 3})},
		},
		{
			ID:      "full-attention",
			Why:     "no window",
			Phase:   "extend",
			Catches: []string{"S12 HabanaAI/vllm-hpu-extension#413"},
			Shapes:  []bench.Shape{shape("odd", 8, extend...)},
			Change:  full,
		},
		{
			ID:      "empty-requests",
			Why:     "requests without keys, without queries, with neither, between others",
			Phase:   "extend",
			Catches: []string{"S9 flashinfer-ai/flashinfer#3047"},
			Shapes: []bench.Shape{
				shape("odd", 4, req{2, 9}, req{0, 0}, req{0, 6}, req{3, 3}),
				shape("odd", 0, req{0, 0}, req{4, 7}, req{0, 5}, req{1, 1}),
			},
		},
		{
			ID:    "no-key-in-sight",
			Why:   "more queries than keys: the first are before the first key, their rows are 0 and -inf, sink or not",
			Phase: "prefill",
			Shapes: []bench.Shape{
				shape("odd", 0, req{6, 2}, req{3, 8}, req{4, 0}), shape("odd", 4, req{6, 2}, req{3, 8}, req{4, 0}),
			},
		},
		{
			ID:     "not-causal",
			Why:    "every query sees all keys of its request",
			Phase:  "prefill",
			Shapes: []bench.Shape{shape("odd", 0, req{6, 6}, req{3, 11}, req{2, 0}), shape("odd", 4, req{5, 9}, req{2, 4})},
			Change: bench.Set(bench.Attrs{"causal": false, "window_left": -1.0}),
		},
		{
			ID:      "both-sides",
			Why:     "a window that includes future keys, causal off",
			Phase:   "prefill",
			Catches: []string{m1},
			Shapes:  []bench.Shape{shape("odd", 0, req{12, 12}, req{7, 15})},
			Change:  bench.Set(bench.Attrs{"causal": false, "window_left": 3.0, "window_right": 2.0}),
		},
		{
			ID:     "none-behind",
			Why:    "no key behind the query's own: by a right window of 0, which is a limit, and not by causality",
			Phase:  "prefill",
			Shapes: []bench.Shape{shape("odd", 0, req{7, 7}, req{5, 9}), shape("odd", 4, req{7, 7}, req{5, 9})},
			Change: bench.Set(bench.Attrs{"causal": false, "window_left": -1.0, "window_right": 0.0}),
		},
		{
			ID:      "window-one",
			Why:     "a window of only the query's own key",
			Phase:   "extend",
			Catches: []string{m6, "M2 huggingface/transformers#26792"},
			Shapes:  []bench.Shape{shape("odd", 4, extend...), shape("odd", 0, prefill...)},
			Change:  bench.Set(bench.Attrs{"window_left": 0.0}),
		},
		{
			ID: "window-page-edge", Why: "windows that begin one below, at and above a page's first token, needles on both " +
				"sides", Phase: "decode", Catches: []string{m1, m6},
			Shapes: []bench.Shape{shape("odd", 8, req{1, 24}, req{1, 25}, req{1, 26}, req{1, 31}, req{1, 32})},
			Change: bench.All(bench.Set(bench.Attrs{"window_left": 8.0}), needles(14, 15, 16, 17, 21, 22, 23, 24, 25)),
		},
		{
			ID:      "window-continuous-batch",
			Why:     "one query, window + 2 keys: the key before the window is the only one to drop",
			Phase:   "decode",
			Catches: []string{m4},
			Shapes:  []bench.Shape{shape("nano", 4, req{1, 11}, req{1, 10}, req{1, 12})},
			Change:  bench.All(bench.Set(bench.Attrs{"window_left": 8.0}), needles(0, 1, 2)),
		},
		{
			ID:        "masked-tiles",
			Why:       "whole leading tiles before the window, trailing ones after the causal edge",
			Phase:     "extend",
			Shapes:    []bench.Shape{shape("odd", 16, req{9, 90}, req{2, 70})},
			Change:    bench.Set(bench.Attrs{"window_left": 5.0}),
			Contracts: bf16,
		},
		{
			ID:    "index-coded",
			Why:   "uniform scores over values that encode their key; lse is the logarithm of the number of keys",
			Phase: "extend",
			Shapes: []bench.Shape{
				shape("nano", 8, req{3, 20}, req{1, 9}), shape("odd", 0, extend...), shape("odd", 8, decode...),
			},
			Change: indexCoded(),
		},
		{
			ID:        "needles",
			Why:       "one large value at the first and last key, at page and tile edges",
			Phase:     "decode",
			Shapes:    []bench.Shape{shape("nano", 16, req{1, 33}, req{1, 64}, req{1, 17})},
			Change:    bench.All(full, needles(0, 15, 16, 17, 31, 32, 63)),
			Contracts: bf16,
		},
		{
			ID:     "coherent",
			Why:    "nothing negative: no error cancels",
			Phase:  "extend",
			Shapes: []bench.Shape{shape("nano", 8, req{3, 40})},
			Change: bench.Each(func(_ int, v float64) float64 { return math.Abs(v) }, "q", "k_cache", "v_cache"),
		},
		{
			ID:     "peaked",
			Why:    "scores of tens: one weight is nearly 1, exponentials far down",
			Phase:  "extend",
			Shapes: []bench.Shape{shape("odd", 8, extend...)},
			Change: bench.Times(12, "q"),
		},
		{
			ID:        "flat",
			Why:       "scores of hundredths: all weights alike",
			Phase:     "extend",
			Shapes:    []bench.Shape{shape("odd", 8, extend...)},
			Change:    bench.Times(0.01, "q"),
			Contracts: bf16,
		},
		{
			ID:        "outlier-channel",
			Why:       "one channel a thousand times the others, small in q: rows of mixed exponents",
			Phase:     "decode",
			Contracts: []string{"fp32", "bf16"},
			Shapes:    []bench.Shape{shape("odd", 4, decode...)},
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("k_cache", outlier(24, 5, 1000))
				p.Change("q", outlier(24, 5, 1e-3))
				p.Change("v_cache", outlier(16, 3, 1000))
				return nil
			},
		},
		{
			ID:        "tiny",
			Why:       "values of 1e-30 and a few subnormal ones, which must be kept",
			Phase:     "decode",
			Contracts: []string{"fp32", "bf16"},
			Shapes:    []bench.Shape{shape("odd", 4, decode...)},
			Change: bench.Each(func(i int, v float64) float64 {
				if i%11 == 3 {
					return v * 1e-39
				}
				return v * 1e-30
			}, "v_cache"),
		},
		{
			ID:        "scales-powers-of-two",
			Why:       "k_scale 1/16 and v_scale 8",
			Phase:     "decode",
			Catches:   []string{"Q19 NVIDIA/TensorRT-LLM#16916", "Q17 sgl-project/sglang#18396"},
			Contracts: bf16,
			Shapes:    []bench.Shape{shape("nano", 8, req{1, 24}, req{1, 9})},
			Change:    bench.Set(bench.Attrs{"k_scale": 0.0625, "v_scale": 8.0}),
		},
		{
			ID:      "one-key",
			Why:     "one key: o is v times v_scale, lse the score",
			Phase:   "prefill",
			Catches: []string{"Q14 flashinfer-ai/flashinfer#4979"},
			Shapes:  []bench.Shape{shape("odd", 0, req{1, 1}, req{1, 1})},
			Change:  bench.Set(bench.Attrs{"v_scale": 0.5}),
		},
		{
			ID:     "sink-strong",
			Why:    "sinks above all scores, and one far below",
			Phase:  "extend",
			Shapes: []bench.Shape{shape("odd", 4, extend...)},
			Change: bench.Each(func(i int, _ float64) float64 { return []float64{9, 4.5, -40, 7, 0, 30}[i%6] }, "sink"),
		},
		{
			ID:     "no-sink",
			Why:    "no sinks, no scratch, lse in base e",
			Phase:  "extend",
			Shapes: []bench.Shape{shape("odd", 4, extend...)},
			Change: bench.All(bench.Without("sink", "workspace"), bench.Set(bench.Attrs{"lse_base": "e"})),
		},
		{
			ID:        "no-lse",
			Why:       "the log-sum-exp is not requested",
			Phase:     "decode",
			Shapes:    []bench.Shape{shape("odd", 4, decode...)},
			Change:    bench.Without("lse"),
			Contracts: bf16,
		},
		{
			ID:        "padded-batch",
			Why:       "rows behind the last request, as captured graphs have",
			Phase:     "decode",
			Shapes:    []bench.Shape{shape("odd", 4, req{1, 9}, req{1, 6}, req{2, 5})},
			Change:    padded(2),
			Contracts: bf16,
		},
		{
			ID:        "captured-short",
			Why:       "a graph captured with sequences half as long, replayed on these",
			Phase:     "decode",
			Shapes:    []bench.Shape{shape("odd", 4, req{1, 9}, req{1, 6}, req{1, 14})},
			Change:    captured,
			Contracts: bf16,
		},
		{
			ID:        "high-pages",
			Why:       "page ids in the hundreds, in a pool that mostly belongs to other requests",
			Phase:     "decode",
			Shapes:    []bench.Shape{shape("mha", 2, req{1, 9}, req{1, 6})},
			Change:    highPages(600),
			Contracts: []string{"fp8-kv"},
		},
		{
			ID:     "more-splits-than-keys",
			Why:    "splits without keys",
			Phase:  "decode",
			Shapes: []bench.Shape{shape("odd", 4, req{1, 3}, req{1, 1}, req{1, 12})},
			Change: bench.Set(bench.Attrs{"num_splits": 16.0}),
		},
		{
			ID:        "one-split",
			Why:       "the unsplit path",
			Phase:     "decode",
			Shapes:    []bench.Shape{shape("odd", 4, decode...)},
			Change:    bench.Set(bench.Attrs{"num_splits": 1.0}),
			Contracts: bf16,
		},
		{
			ID:        "large-decode",
			Why:       "64 requests of 8,192 keys over shared, shuffled pages",
			Phase:     "decode",
			Full:      true,
			Contracts: []string{"fp8-kv"},
			Shapes:    []bench.Shape{largeShape()},
		},
	}
	return append(append(inTurn(out), gqaStrided()...), gqaRelated()...)
}

// inTurn gives rows that name no contract two of them in turn, but for the first nine, which run under all.
func inTurn(rows []bench.Scenario) []bench.Scenario {
	pairs := [][]string{{"fp32", "fp8-kv"}, {"bf16", "fp8-kv"}, {"bf16-p-bf16", "fp8-kv"}, {"fp32", "bf16-p-bf16"}}
	for i := 9; i < len(rows); i++ {
		if rows[i].Contracts == nil {
			rows[i].Contracts = pairs[i%len(pairs)]
		}
	}
	return rows
}

// outlier multiplies one channel of a width.
func outlier(width, channel int, by float64) func(int, float64) float64 {
	return func(i int, v float64) float64 {
		if i%width == channel {
			return v * by
		}
		return v
	}
}

// gqaStrided: padding around and inside of each operand on its own, then of all.
func gqaStrided() []bench.Scenario {
	paged := map[string]bench.Layout{
		"q": {Lead: 3, Gap: 40, Inner: 8, Tail: 9}, "k_cache": {Lead: 5, Gap: 48, Inner: 16, Tail: 700}, "v_cache": {
			Lead:  2,
			Gap:   32,
			Inner: 8,
			Tail:  500,
		},
		"page_table": {Lead: 1, Gap: 3, Tail: 4}, "seq_lens": {Lead: 2, Tail: 3}, "qo_indptr": {Lead: 1, Tail: 2},
		"sink": {Lead: 4, Tail: 4}, "workspace": {
			Lead:  2,
			Gap:   5,
			Inner: 3,
			Tail:  6,
		},
	}
	ragged := map[string]bench.Layout{
		"k":         {Lead: 5, Gap: 48, Inner: 16, Tail: 300},
		"v":         {Lead: 2, Gap: 32, Inner: 8, Tail: 200},
		"kv_indptr": {Lead: 2, Tail: 5},
	}
	reqs := []req{{3, 20}, {1, 9}, {4, 4}}
	var out []bench.Scenario
	for page, layouts := range map[int]map[string]bench.Layout{4: paged, 0: ragged} {
		for name, l := range layouts {
			out = append(out, bench.Scenario{
				ID: slug("strided-%s", dashed(name)), Why: slug("%s is a view into a wider buffer", name), Phase: "extend",
				Contracts: []string{"fp8-kv"},
				Shapes:    []bench.Shape{shape("odd", page, reqs...)}, Layout: map[string]bench.Layout{name: l}, Relate: contiguous,
			})
		}
		out = append(out, bench.Scenario{
			ID:        "all-strided",
			Why:       "every operand is a view into a wider buffer",
			Phase:     "extend",
			Contracts: []string{"bf16", "fp8-kv"},
			Shapes:    []bench.Shape{shape("odd", page, reqs...)},
			Layout:    layouts,
		})
	}
	out = append(out, bench.Scenario{
		ID: "strided-head-major", Why: "queries whose heads lie outermost in memory", Phase: "extend",
		Contracts: []string{"bf16"}, Shapes: []bench.Shape{
			shape("odd", 4, reqs...),
		},
		Layout: map[string]bench.Layout{"q": {Swap: true, Inner: 8}}, Relate: contiguous,
	})
	return byName(out)
}
