package sparse

import (
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func attention() bench.Family {
	return bench.Family{
		Op: opAttention, Slug: "sparse-attention",
		Claim: "o, its log-sum-exp and its largest score MUST be attention over the listed rows and the sink within " +
			"the contract, in any order, tiling and splitting",
		Doc:       attentionDoc(),
		Contracts: attentionContracts(),
		Draw:      drawAttention, Expect: expectAttention, Twins: attentionTwins(),
		Scenarios: slices.Concat(listScenarios(), valueScenarios(), roundingScenarios(), pagedScenarios(),
			relatedScenarios(), longAttention()),
	}
}

// The contracts that a row runs under.
func flatContracts() []string  { return []string{fp32, v4First, v4Later, flashMLA, flashInfer} }
func pagedContracts() []string { return []string{fp32, v4Later, flashInfer, v4Pages} }
func twoContracts() []string   { return []string{fp32, flashMLA} }
func onlyFP32() []string       { return []string{fp32} }

// sized is a shape of nano-v4's head with dimensions changed.
func sized(name string, dims map[string]int) bench.Shape {
	all := map[string]int{
		"requests": 2, "context": 37, "extend": 4, "heads": 4, "dim": 64, "window": 16, "top_k": 12, "ratio": 4,
	}
	maps.Copy(all, dims)
	return bench.S(name, all)
}

// paged is sized with caches in pages.
func paged(name string, dims map[string]int) bench.Shape {
	all := map[string]int{"requests": 3, "extend": 1, "page": 8, "extra_page": 3}
	maps.Copy(all, dims)
	return sized(name, all)
}

type dims = map[string]int

func listScenarios() []bench.Scenario {
	nano := sized("nano", nil)
	one := func(s ...bench.Shape) []bench.Shape { return s }
	return []bench.Scenario{
		{
			ID:        "lengths",
			Why:       "lists of every length from one row on: the beginning of a sequence",
			Phase:     "prefill",
			Contracts: flatContracts(),
			Shapes: one(
				sized("from-start", dims{"context": 0, "extend": 21}), sized("nano", nil), sized("one-query", dims{
					"requests": 1,
					"extend":   1,
				})),
		},
		{
			ID:        "flash",
			Why:       "V4-Flash's head width, window and pages' ratio, fewer heads and keys",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes: one(
				sized("h4", dims{"requests": 1, "context": 300, "extend": 1, "heads": 4, "dim": 512, "window": 128, "top_k": 60})),
		},
		{
			ID:        "blocks-of-queries",
			Why:       "more queries than one block of 64 has",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes: one(
				sized("t65", dims{"requests": 1, "extend": 65, "heads": 2, "window": 8, "top_k": 6}), sized("t129", dims{
					"requests": 1,
					"extend":   129,
					"heads":    1,
					"window":   4,
					"top_k":    3,
				})),
		},
		{
			ID:        "stale-lanes",
			Why:       "stale rows stand behind every list",
			Phase:     "prefill",
			Catches:   []string{"T10 flashinfer-ai/flashinfer#5095"},
			Contracts: twoContracts(),
			Shapes: one(
				sized("t66", dims{"requests": 2, "extend": 33, "heads": 2, "window": 5, "top_k": 4})),
			Change: shorten,
		},
		{
			ID:        "leading-masked",
			Why:       "the first tile of 16 or 64 lanes names no row",
			Phase:     "prefill",
			Catches:   []string{"T9 vllm-project/vllm#48364"},
			Contracts: twoContracts(),
			Shapes: one(
				sized("tile-16", dims{"window": 19, "context": 40}), sized("tile-64", dims{
					"window":  70,
					"context": 90,
					"extend":  2,
				})),
			Change: maskLanes(func(_, lane, n int) bool { return lane < n/16*16 && lane < 64 }),
		},
		{
			ID:        "middle-masked",
			Why:       "a tile between others names no row",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes: one(
				sized("tile-16", dims{"window": 50, "context": 60}), sized("tile-64", dims{
					"window":  140,
					"context": 150,
					"extend":  1,
				})),
			Change: maskLanes(func(_, lane, n int) bool { return lane >= min(n/50*16, 64) && lane < min(n/50*32, 128) }),
		},
		{
			ID:        "tail-masked",
			Why:       "the last tile names no row: lists padded to a multiple of 16",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes: one(
				sized("tile-16", dims{"window": 40, "context": 50})),
			Change: maskLanes(func(_, lane, _ int) bool { return lane >= 16 }),
		},
		{
			ID:        "extra-only",
			Why:       "the main list names no row at all, the extra one does",
			Phase:     "prefill",
			Contracts: flatContracts(),
			Shapes:    one(sized("w16", nil), sized("w33", dims{"window": 33})),
			Change:    maskLanes(func(_, _, _ int) bool { return true }),
		},
		{
			ID:        "empty-rows",
			Why:       "queries without any row between others: length 0, and lists of -1",
			Phase:     "prefill",
			Contracts: flatContracts(),
			Shapes:    one(nano, sized("split", dims{"splits": 3})),
			Change:    emptyQueries(func(t int) bool { return t%3 == 1 }),
		},
		{
			ID:        "all-empty",
			Why:       "no query has a row",
			Phase:     "prefill",
			Contracts: flatContracts(),
			Shapes:    one(nano),
			Change:    emptyQueries(func(int) bool { return true }),
		},
		{
			ID:        "scattered",
			Why:       "lanes without row anywhere in a list",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(sized("w40", dims{"window": 40, "context": 60})),
			Change:    maskLanes(func(t, lane, _ int) bool { return (lane*7+t)%3 == 0 }),
		},
		{
			ID:        "out-of-range",
			Why:       "indices below -1 and beyond the cache name no row",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano),
			Change:    outOfRange,
		},
		{
			ID:        "duplicates",
			Why:       "a row listed twice counts twice",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano),
			Change:    duplicates,
		},
		{
			ID:        "one-list",
			Why:       "a layer without compressed rows",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(sized("w24", dims{"ratio": 0, "window": 24})),
		},
		{
			ID:        "no-sink",
			Why:       "the operator without sink",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(nano, sized("split", dims{"splits": 2})),
			Change: func(_ bench.Gen, p *bench.Problem) error {
				delete(p.Operands, "attn_sink")
				return nil
			},
		},
		{
			ID:        "channels",
			Why:       "a value is the leading part of a row",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes:    one(sized("dv48", dims{"d_v": 48})),
		},
		{
			ID:        "splits",
			Why:       "the same rows in parts: uneven ones, and more parts than rows",
			Phase:     "prefill",
			Contracts: twoContracts(),
			Shapes: one(
				sized("n2", dims{"splits": 2}), sized("n3", dims{"splits": 3}), sized("n7", dims{"splits": 7}),
				sized("n64", dims{"splits": 64})),
		},
		{
			ID:        "o-only",
			Why:       "no log-sum-exp is asked for, and the parts need theirs all the same",
			Phase:     "prefill",
			Catches:   []string{"S7 flashinfer-ai/flashinfer#50"},
			Contracts: twoContracts(),
			Shapes:    one(sized("n3", dims{"splits": 3}), sized("n2", dims{"splits": 2, "requests": 1})),
			Change:    bench.Without("lse", "max_logits"),
		},
		{
			ID:        "packed",
			Why:       "lists of a chunk as extend_rows builds them, at every residue of the ratio",
			Phase:     "extend",
			Contracts: flatContracts(),
			Shapes: one(
				sized("context-8", dims{"packed": 1, "context": 8}), sized("context-9", dims{"packed": 1, "context": 9}),
				sized("context-10", dims{
					"packed":  1,
					"context": 10,
				}), sized("context-11", dims{"packed": 1, "context": 11})),
		},
	}
}

func pagedScenarios() []bench.Scenario {
	var edges, others, sizes []bench.Shape
	for _, n := range []int{7, 8} {
		edges = append(edges, paged(slug("context-%d", n), dims{"context": n}))
	}
	for _, n := range []int{9, 15, 16, 24} {
		others = append(others, paged(slug("context-%d", n), dims{"context": n}))
	}
	for _, s := range [][2]int{{1, 2}, {2, 53}, {61, 1}, {64, 16}} {
		sizes = append(sizes, paged(slug("p%d-p%d", s[0], s[1]), dims{"page": s[0], "extra_page": s[1], "context": 66}))
	}
	return []bench.Scenario{
		{
			ID:        "page-edges",
			Why:       "sequences that end at the edges of a page",
			Phase:     "decode",
			Contracts: pagedContracts(),
			Shapes:    edges,
		},
		{
			ID:        "page-edges-later",
			Why:       "sequences that end at the edges of a later page",
			Phase:     "decode",
			Contracts: twoContracts(),
			Shapes:    others,
		},
		{
			ID:        "page-sizes",
			Why:       "pages of one token, of primes, of powers of two, other ones for each cache",
			Phase:     "decode",
			Contracts: twoContracts(),
			Shapes:    sizes,
		},
		{
			ID:        "v4-sizes",
			Why:       "V4's window of 128 in pages of 256, its compressed rows in pages of 64 and of 2",
			Phase:     "decode",
			Contracts: []string{fp32},
			Shapes: []bench.Shape{
				paged("c4", dims{
					"requests":   2,
					"context":    300,
					"heads":      2,
					"window":     128,
					"page":       256,
					"extra_page": 64,
					"top_k":      40,
				}), paged("c128", dims{
					"requests":   2,
					"context":    700,
					"heads":      2,
					"window":     128,
					"page":       256,
					"extra_page": 2,
					"ratio":      128,
					"top_k":      6,
				}),
			},
		},
		{
			ID:        "v4-cache",
			Why:       "V4's pages of bytes: codes, bf16 tail, scales behind all rows",
			Phase:     "decode",
			Contracts: []string{v4Pages},
			Shapes: []bench.Shape{
				paged("p16-p4", dims{"page": 16, "extra_page": 4}), paged("p5-p2", dims{"page": 5, "extra_page": 2, "splits": 2}),
				paged("p64-p16", dims{
					"requests":   1,
					"page":       64,
					"extra_page": 16,
					"window":     32,
					"context":    90,
				}),
			},
		},
		{
			ID:        "v32-cache",
			Why:       "V3.2's rows of bytes: one list of latent rows, 512 of 576 channels are the value",
			Phase:     "decode",
			Contracts: []string{v32Pages},
			Shapes: []bench.Shape{
				paged("k24", dims{"window": 0, "ratio": 0, "top_k": 24, "page": 8}), paged("k40", dims{
					"requests": 2,
					"window":   0,
					"ratio":    0,
					"top_k":    40,
					"page":     64,
					"splits":   3,
					"context":  70,
				}),
			},
			Change: v32Scale,
		},
		{
			ID:        "high-ids",
			Why:       "pages far into a cache",
			Phase:     "decode",
			Contracts: twoContracts(),
			Shapes:    []bench.Shape{paged("spare-300", dims{"spare": 300, "page": 4, "extra_page": 3})},
		},
		{
			ID:        "decode-splits",
			Why:       "a paged cache in parts",
			Phase:     "decode",
			Contracts: pagedContracts(),
			Shapes:    []bench.Shape{paged("n2", dims{"splits": 2}), paged("n5", dims{"splits": 5})},
		},
		{
			ID:        "unsplit",
			Why:       "a launch in one part returns the log-sum-exp that a merge needs",
			Phase:     "decode",
			Catches:   []string{"S10 ROCm/aiter#3606"},
			Contracts: twoContracts(),
			Shapes:    []bench.Shape{paged("n1", nil)},
		},
		{
			ID:        "decode-o-only",
			Why:       "decode in parts without a log-sum-exp asked for",
			Phase:     "decode",
			Contracts: twoContracts(),
			Shapes:    []bench.Shape{paged("n4", dims{"splits": 4})},
			Change:    bench.Without("lse", "max_logits"),
		},
		{
			ID:        "decode-empty",
			Why:       "padding requests of a decode batch have no rows",
			Phase:     "decode",
			Contracts: pagedContracts(),
			Shapes:    []bench.Shape{paged("nano", nil), paged("n3", dims{"splits": 3})},
			Change:    emptyQueries(func(t int) bool { return t == 1 }),
		},
		{
			ID:        "repeated",
			Why:       "two runs of a launch give the same bits",
			Phase:     "decode",
			Contracts: []string{production},
			Change:    twice,
			Shapes:    []bench.Shape{paged("nano", nil), paged("n3", dims{"splits": 3, "extend": 2})},
		},
		{
			ID:        "production",
			Why:       "8,192 queries, 6,912 compressed keys and the window on shuffled pages of production size",
			Phase:     "extend",
			Contracts: []string{production},
			Full:      true,
			Change:    twice,
			Shapes: []bench.Shape{
				paged("t8192", dims{
					"requests":   1,
					"context":    27648 - 8192,
					"extend":     8192,
					"heads":      2,
					"dim":        32,
					"window":     128,
					"top_k":      512,
					"page":       256,
					"extra_page": 64,
					"splits":     2,
				}),
			},
		},
	}
}
