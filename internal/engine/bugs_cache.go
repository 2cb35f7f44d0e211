package engine

import (
	"fmt"
	"math/rand/v2"
)

// cacheOf gives a server a prefix cache of a kind.
func cacheOf(kind string, sizes ...int) func(p *Params, r *rand.Rand) {
	return func(p *Params, r *rand.Rand) {
		if p.Server == "llama.cpp" || p.Server == "tgi" {
			p.Server = map[string]string{"blocks": "vllm", "radix": "sglang"}[kind]
		}
		p.Cache, p.Page, p.Cached = kind, pick(r, sizes...), true
		p.Ranks = 1
	}
}

// small gives a server little more KV memory than one context: what is not asked for again soon is evicted.
func small(p *Params) { p.Context, p.Pool = 12288, 14336 }

func cacheBugs() []Bug {
	const mech = "prefix cache"
	return []Bug{
		{
			Slug: "hash-of-few-tokens", Mechanism: mech, Origin: "",
			Effect: "the hash of a block takes its first tokens only: prompts that fork inside a block share it",
			Truth:  Truth{"cache key", []string{"warm", "fork"}, true, nil}, prepare: cacheOf("blocks", 32, 64),
			apply: func(pl *plant) string {
				k := 2 + pl.r.IntN(3)
				sound := pl.m.cch.block
				pl.m.cch.block = func(parent uint64, ids []int32) uint64 { return sound(parent, ids[:min(k, len(ids))]) }
				return fmt.Sprintf("%d tokens of %d", k, pl.m.p.Page)
			},
		},
		{
			Slug: "images-not-in-key", Mechanism: mech, Origin: "vllm-project/vllm (multimodal hashes)",
			Effect: "pictures are not part of the cache key and have one placeholder: the answer is about the picture of " +
				"an earlier request",
			Truth:   Truth{"cache key", []string{"warm", "images"}, true, []string{"images"}},
			prepare: func(p *Params, r *rand.Rand) { cacheOf("blocks", 16)(p, r); p.Images = true },
			apply: func(pl *plant) string {
				pl.m.cch.images = false
				sound, lex := pl.m.cch.block, pl.m.lex
				pl.m.cch.block = func(parent uint64, ids []int32) uint64 {
					flat := make([]int32, len(ids))
					for i, t := range ids {
						if lex.class(t) == spImage {
							t = lex.image(0)
						}
						flat[i] = t
					}
					return sound(parent, flat)
				}
				return ""
			},
		},
		{
			Slug: "full-hit-computes-nothing", Mechanism: mech, Origin: "",
			Effect: "of a prompt that is known to the last page nothing is computed, and the first token comes of a page " +
				"that was never written",
			Truth:   Truth{"cache boundary", []string{"warm"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) { cacheOf("radix", 1)(p, r) },
			apply: func(pl *plant) string {
				// The tail that is recomputed begins a few tokens late.
				pl.m.cch.resume = func(hit, _ int) int { return hit + btoi(hit > 16)*12 }
				return "12 tokens behind every hit"
			},
		},
		{
			Slug: "hit-rounded-up", Mechanism: mech, Origin: "ggml-org/llama.cpp (checkpoints)",
			Effect: "the length of a hit is rounded up to the next page and more: the first tokens of what is new are " +
				"never computed",
			Truth: Truth{"cache boundary", []string{"warm", "fork"}, true, nil}, prepare: cacheOf("blocks", 16, 32),
			apply: func(pl *plant) string {
				pl.m.cch.resume = func(hit, size int) int {
					if hit == 0 {
						return 0
					}
					return hit + size
				}
				return fmt.Sprintf("pages of %d", pl.m.p.Page)
			},
		},
		{
			Slug: "split-keeps-upper-pages", Mechanism: mech, Origin: "",
			Effect: "when a node of the radix tree is split, the lower half keeps the pages of the upper one: later hits " +
				"below the fork read shifted rows",
			Truth: Truth{"cache content", []string{"warm", "fork"}, true, nil}, prepare: cacheOf("radix", 1, 16),
			apply: func(pl *plant) string {
				pl.m.cch.split = func(int, int) int { return 0 }
				return ""
			},
		},
		{
			Slug: "evicted-still-known", Mechanism: mech, Origin: "",
			Effect: "eviction frees pages and leaves the entry in the index: later hits read what others wrote there",
			Truth:  Truth{"stale entry", []string{"warm", "served"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) {
				cacheOf("blocks", 16, 32)(p, r)
				small(p)
				p.LIFO = true
			},
			apply: func(pl *plant) string { pl.m.cch.forget = false; return "" },
		},
		{
			Slug: "prefix-not-attended", Mechanism: mech, Origin: "tenstorrent/vllm#415",
			Effect: "the length of the reused prefix is zero in the attention metadata: after a hit only what is new is seen",
			Truth:  Truth{"cache content", []string{"warm"}, true, nil}, prepare: cacheOf("blocks", 16, 32, 64),
			apply: func(pl *plant) string {
				pl.m.att.spans = func(q query, out []span) []span {
					if q.hit > 64 {
						return append(out, span{q.hit, q.n})
					}
					return append(out, span{0, q.n})
				}
				return ""
			},
		},
		{
			Slug: "hit-of-neighbour", Mechanism: mech, Origin: "",
			Effect:  "on some hits the pages are copied from the row of the table beside: another conversation is reused",
			Truth:   Truth{"cache content", []string{"warm", "period"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) { cacheOf("blocks", 16, 32)(p, r) },
			apply: func(pl *plant) string {
				return swapTables(pl, 3, func(req *request) bool { return req.hit > 256 }, "of the long hits")
			},
		},
		{
			Slug: "known-before-written", Mechanism: mech, Origin: "",
			Effect: "pages are made known when they are allocated: a request with the same beginning that comes in " +
				"between reads them half written",
			Truth:   Truth{"race", []string{"concurrency", "warm"}, true, []string{"clients"}},
			prepare: func(p *Params, r *rand.Rand) { cacheOf("blocks", 16)(p, r); p.Chunk = 512 },
			apply:   func(pl *plant) string { pl.m.cch.early = true; return fmt.Sprintf("chunks of %d", pl.m.p.Chunk) },
		},
	}
}

func tierBugs() []Bug {
	const mech = "host tier"
	tiered := func(p *Params, r *rand.Rand) {
		cacheOf(pick(r, "blocks", "radix"), 16, 32, 64)(p, r)
		small(p)
		p.Tier = 8 * p.Pool / p.Page
	}
	return []Bug{
		{
			Slug: "restore-cursor-stuck", Mechanism: mech, Origin: "sgl-project/sglang#39830",
			Effect:  "the cursor into host memory is not moved on: every restored page is the first one",
			Truth:   Truth{"restored content", []string{"warm", "served"}, true, nil},
			prepare: tiered,
			apply: func(pl *plant) string {
				pl.m.cch.restore = func(int, int) int { return 0 }
				return fmt.Sprintf("pool of %d tokens", pl.m.p.Pool)
			},
		},
		{
			Slug: "restored-without-base", Mechanism: mech, Origin: "",
			Effect:  "restored rows are rotated as if the restored part began at zero",
			Truth:   Truth{"restored content", []string{"warm", "served"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) { tiered(p, r); p.Cache = "blocks" },
			apply: func(pl *plant) string {
				by := pl.m.p.Page
				pl.m.cch.angle = func(pos, base int) int { return pos - base - by }
				return fmt.Sprintf("pool of %d tokens", pl.m.p.Pool)
			},
		},
	}
}
