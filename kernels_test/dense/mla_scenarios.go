package dense

import "github.com/assay-suite/assay/kernels_test/bench"

// mlaScenarios: the shapes of gqaScenarios that concern a latent cache. IDs that both have mean the same.
func mlaScenarios() []bench.Scenario {
	extend := []req{{3, 20}, {8, 8}, {1, 33}, {4, 19}}
	decode := []req{{1, 1}, {1, 15}, {1, 16}, {1, 17}, {1, 49}}
	batch := []req{{3, 20}, {1, 9}, {4, 4}, {2, 17}}
	lone := []string{"fp32", "fp8-kv"}
	const s13 = "S13 NVIDIA/TensorRT-LLM#3675"
	paged := map[string]bench.Layout{
		"q_nope": {Lead: 3, Gap: 40, Inner: 8, Tail: 9}, "q_pe": {Lead: 3, Gap: 48, Inner: 32, Tail: 9}, "ckv_cache": {
			Lead:  5,
			Gap:   48,
			Inner: 16,
			Tail:  900,
		},
		"kpe_cache": {Lead: 2, Gap: 32, Inner: 48, Tail: 700}, "page_table": {Lead: 1, Gap: 3, Tail: 4},
		"qo_indptr": {Lead: 1, Tail: 2}, "seq_lens": {Lead: 2, Tail: 3},
	}
	out := []bench.Scenario{
		{
			ID:      "aligned",
			Why:     "every page full and every page used: whatever is read is a valid row",
			Phase:   "extend",
			Catches: []string{"G6 sgl-project/sglang#25556"},
			Shapes:  []bench.Shape{shape("mla-nano", 4, req{3, 12}, req{12, 12}, req{1, 12})},
		},
		{
			ID:      "page-edge",
			Why:     "lengths one below, at and above multiples of the page",
			Phase:   "decode",
			Catches: []string{"G12 flashinfer-ai/flashinfer#941"},
			Shapes:  []bench.Shape{shape("mla-nano", 16, decode...)},
		},
		{
			ID: "page-size", Why: "pages of one token, of two, of sizes that no tile divides", Phase: "decode", Contracts: lone,
			Catches: []string{
				"G6 sgl-project/sglang#25556",
			},
			Shapes: []bench.Shape{
				shape("mla-nano", 1, req{1, 7}, req{1, 12}), shape("mla-nano", 2, req{1, 7}, req{1, 12}),
				shape("mla-nano", 53, req{1, 54}, req{1, 12}), shape("mla-nano", 64, req{1, 65}, req{1, 3}),
			},
		},
		{
			ID:        "page-13-of-4",
			Why:       "13 tokens on pages of 4: three slots of the last page hold nothing",
			Phase:     "decode",
			Catches:   []string{"G12 flashinfer-ai/flashinfer#941"},
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{1, 13})},
		},
		{
			ID:        "v32",
			Why:       "the ranks of V3.2: 512 latent and 64 rotated channels",
			Phase:     "decode",
			Contracts: []string{"bf16", "fp8-kv"},
			Catches:   []string{s13},
			Shapes:    []bench.Shape{shape("v32", 64, req{1, 70}, req{1, 5})},
		},
		{
			ID:        "v32-extend",
			Why:       "two queries behind a prefix at V3.2's ranks",
			Phase:     "extend",
			Contracts: []string{"bf16-p-bf16"},
			Shapes:    []bench.Shape{shape("v32", 16, req{2, 18}, req{1, 3})},
		},
		{
			ID:        "prefill",
			Why:       "whole prompts in the absorbed form",
			Phase:     "prefill",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 8, req{5, 5}, req{9, 9}, req{1, 1})},
		},
		{
			ID:        "extend",
			Why:       "chunks behind cached prefixes, some of them empty",
			Phase:     "extend",
			Shapes:    []bench.Shape{shape("mla-nano", 8, extend...)},
			Contracts: []string{"bf16", "bf16-p-bf16", "fp8-kv"},
		},
		{
			ID:        "not-causal",
			Why:       "every query sees all keys of its request",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{3, 9}, req{2, 0}, req{0, 4})},
			Change:    bench.Set(bench.Attrs{"causal": false}),
		},
		{
			ID:        "empty-requests",
			Why:       "requests without keys, without queries, with neither; more queries than keys",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{2, 9}, req{0, 0}, req{0, 6}, req{5, 3})},
		},
		{
			ID:        "yarn-larger",
			Why:       "a factor of 160 with mscale 1.3: m is 1.66, the scale 2.76 times the bare one",
			Phase:     "decode",
			Catches:   []string{s13},
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{1, 2}, req{1, 11})},
			Change:    bench.Set(bench.Attrs{"rope_factor": 160.0, "mscale": 1.3}),
		},
		{
			ID:        "yarn-none",
			Why:       "a factor of 1, and one below: no YaRN in the scale",
			Phase:     "decode",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{1, 2}, req{1, 11})},
			Change:    bench.Set(bench.Attrs{"rope_factor": 0.5}),
		},
		{
			ID:        "scales-powers-of-two",
			Why:       "k_scale 1/16",
			Phase:     "decode",
			Catches:   []string{"Q17 sgl-project/sglang#18396", "Q19 NVIDIA/TensorRT-LLM#16916"},
			Contracts: []string{"bf16", "fp8-kv"},
			Shapes:    []bench.Shape{shape("mla-nano", 8, req{1, 24}, req{1, 9})},
			Change:    bench.Set(bench.Attrs{"k_scale": 0.0625}),
		},
		{
			ID:        "rope-only",
			Why:       "the latent part of the queries is 0: only the rotated part contributes",
			Phase:     "decode",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 8, req{1, 24}, req{1, 9})},
			Change:    bench.Times(0, "q_nope"),
		},
		{
			ID:        "latent-only",
			Why:       "the rotated part is 0",
			Phase:     "decode",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 8, req{1, 24}, req{1, 9})},
			Change:    bench.Times(0, "q_pe"),
		},
		{
			ID:        "peaked",
			Why:       "scores of tens",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 8, extend...)},
			Change:    bench.Times(10, "q_nope"),
		},
		{
			ID:        "base-2",
			Why:       "lse in base 2, one split",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 8, extend...)},
			Change:    bench.Set(bench.Attrs{"lse_base": "2", "num_splits": 1.0}),
		},
		{
			ID:        "more-splits-than-keys",
			Why:       "splits without keys",
			Phase:     "decode",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 8, req{1, 3}, req{1, 1}, req{1, 12})},
			Change:    bench.Set(bench.Attrs{"num_splits": 16.0}),
		},
		{
			ID:        "padded-batch",
			Why:       "rows behind the last request",
			Phase:     "decode",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 8, req{1, 9}, req{1, 6})},
			Change:    padded(3),
		},
		{
			ID:        "captured-short",
			Why:       "a graph captured with sequences half as long, replayed on these",
			Phase:     "decode",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{1, 9}, req{1, 6}, req{1, 14})},
			Change:    captured,
		},
		{
			ID:        "high-pages",
			Why:       "page ids in the hundreds",
			Phase:     "decode",
			Contracts: []string{"fp8-kv"},
			Shapes:    []bench.Shape{shape("mla-nano", 2, req{1, 9}, req{1, 6})},
			Change:    highPages(700),
		},
		{
			ID:        "all-strided",
			Why:       "every operand is a view into a wider buffer",
			Phase:     "extend",
			Contracts: []string{"bf16", "fp8-kv"},
			Shapes:    []bench.Shape{shape("mla-nano", 4, batch...)},
			Layout:    paged,
		},
		{
			ID:        "batch-is-alone",
			Why:       "each request gives the same result as alone",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, batch...)},
			Relate:    alone,
		},
		{
			ID:        "batch-permuted",
			Why:       "the order of the batch does not matter",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, batch...)},
			Relate:    permuted,
		},
		{
			ID:        "chunked-is-one-shot",
			Why:       "prefill in chunks that end one below, at and above every page",
			Phase:     "prefill",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{13, 13}, req{6, 17})},
			Relate:    chunked(4),
		},
		{
			ID:        "verify-is-decode",
			Why:       "a verify step of m tokens gives the same result as m decode steps",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{4, 20}, req{4, 4})},
			Relate:    steps,
		},
		{
			ID:        "pages-shuffled",
			Why:       "where pages lie does not matter",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, batch...)},
			Relate:    shuffled,
		},
		{
			ID:        "preempt-resume",
			Why:       "a request that continues on other pages, its old ones overwritten",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, batch...)},
			Relate:    resumed,
		},
		{
			ID:        "prefix-hit-is-miss",
			Why:       "requests that share the pages of a prefix give the same result as with copies of their own",
			Phase:     "extend",
			Contracts: lone,
			Shapes:    []bench.Shape{shape("mla-nano", 4, req{3, 20}, req{1, 13}, req{4, 17})},
			Change:    shared,
			Relate:    owned,
		},
	}
	for name, l := range paged {
		out = append(out, bench.Scenario{
			ID:        slug("strided-%s", dashed(name)),
			Why:       slug("%s is a view into a wider buffer", name),
			Phase:     "extend",
			Contracts: []string{"fp8-kv"},
			Shapes:    []bench.Shape{shape("mla-nano", 4, batch...)},
			Layout:    map[string]bench.Layout{name: l},
			Relate:    contiguous,
		})
	}
	return byName(out)
}
