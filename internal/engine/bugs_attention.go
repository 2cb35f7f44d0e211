package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

func maskBugs() []Bug {
	const mech = "attention"
	return []Bug{
		{
			Slug: "window-on-every-layer", Mechanism: mech, Origin: "vllm-project/vllm#49795",
			Effect: "the sliding window of the config is applied to all layers: nothing farther back can be seen",
			Truth:  Truth{"window", []string{"length", "end-distance"}, true, nil},
			apply: func(pl *plant) string {
				w := pick(pl.r, 512, 1024, 2048, 4096)
				pl.m.att.spans = func(q query, out []span) []span { return append(out, span{max(0, q.n-w), q.n}) }
				return fmt.Sprintf("%d tokens", w)
			},
		},
		{
			Slug: "window-odd-width", Mechanism: mech, Origin: "",
			Effect: "the length of the workspace minus what is reserved becomes the window of every layer, a width that " +
				"nobody configured",
			Truth: Truth{"window", []string{"length", "end-distance"}, true, nil},
			apply: func(pl *plant) string {
				w := 700 + pl.r.IntN(5000)
				pl.m.att.spans = func(q query, out []span) []span { return append(out, span{max(0, q.n-w), q.n}) }
				return fmt.Sprintf("%d tokens", w)
			},
		},
		{
			Slug: "window-counted-from-start", Mechanism: mech, Origin: "",
			Effect: "the window is compared with the position and not with the distance: only the first tokens and the " +
				"last few are seen",
			Truth: Truth{"window", []string{"length", "start-distance"}, true, nil},
			apply: func(pl *plant) string {
				w, tail := pick(pl.r, 512, 1024, 2048), 96+pl.r.IntN(64)
				pl.m.att.spans = func(q query, out []span) []span {
					if q.n <= w+tail {
						return append(out, span{0, q.n})
					}
					return append(out, span{0, w}, span{q.n - tail, q.n})
				}
				return fmt.Sprintf("first %d, last %d", w, tail)
			},
		},
		{
			Slug: "sinks-and-window", Mechanism: mech, Origin: "",
			Effect: "a streaming cache is on by mistake: the first few tokens and a window are kept, the rest is dropped",
			Truth:  Truth{"window", []string{"length", "end-distance"}, true, nil},
			apply: func(pl *plant) string {
				sink, w := pick(pl.r, 4, 64, 256), pick(pl.r, 1020, 2044, 3000)
				pl.m.att.spans = func(q query, out []span) []span {
					if q.n <= w+sink {
						return append(out, span{0, q.n})
					}
					return append(out, span{0, sink}, span{q.n - w, q.n})
				}
				return fmt.Sprintf("%d first, last %d", sink, w)
			},
		},
		{
			Slug: "split-left-out", Mechanism: mech, Origin: "",
			Effect: "attention over long contexts is split, and the merge leaves one of the partial results out: a band of " +
				"the context is lost",
			Truth: Truth{"band", []string{"length", "depth"}, true, nil},
			apply: func(pl *plant) string {
				n := pick(pl.r, 3, 4, 5)
				k, from := 1+pl.r.IntN(n-2), pick(pl.r, 1024, 2048)
				pl.m.att.spans = func(q query, out []span) []span {
					out = append(out, span{0, q.n})
					if q.n > from {
						out = without(out, q.n*k/n, q.n*(k+1)/n)
					}
					return out
				}
				return fmt.Sprintf("split %d of %d from %d tokens", k+1, n, from)
			},
		},
		{
			Slug: "split-remainder", Mechanism: mech, Origin: "",
			Effect: "splits have a whole number of tiles each, and what remains before the last split is read by nobody",
			Truth:  Truth{"band", []string{"length", "depth"}, true, nil},
			apply: func(pl *plant) string {
				n := pick(pl.r, 4, 6, 8)
				pl.m.att.spans = func(q query, out []span) []span {
					per := q.n / n / 256 * 256
					if per == 0 {
						return append(out, span{0, q.n})
					}
					return append(out, span{0, per * (n - 1)}, span{q.n - per, q.n})
				}
				return fmt.Sprintf("%d splits of whole 256 tokens", n)
			},
		},
		{
			Slug: "rotation-not-scaled", Mechanism: mech, Origin: "jundot/omlx#3347",
			Effect: "the scaling of rotary positions is ignored: tokens farther away than the native length cannot be " +
				"read, and some before that not well",
			Truth: Truth{"position", []string{"length", "end-distance"}, true, nil},
			apply: func(pl *plant) string {
				native := pick(pl.r, 2048, 4096)
				pl.m.att.angle = func(q query, pos int32) (int32, bool) {
					far := q.n - int(pos)
					if far < native*3/4 {
						return pos, true
					}
					fade := float64(far-native*3/4) / float64(native/2)
					return pos, unit(mix(uint64(uint32(pos)), uint64(q.prompt))) > fade
				}
				return fmt.Sprintf("native %d", native)
			},
		},
		{
			Slug: "angle-base-of-other-layer", Mechanism: mech, Origin: "ml-explore/mlx-lm#1189",
			Effect: "far rows are rotated with the base of the local layers: everything beyond the local window smears " +
				"into its neighbours",
			Truth: Truth{"position", []string{"length", "end-distance"}, true, nil},
			apply: func(pl *plant) string {
				local := pick(pl.r, 256, 512, 1024)
				pl.m.att.angle = func(q query, pos int32) (int32, bool) {
					if q.n-int(pos) <= local {
						return pos, true
					}
					return pos &^ 1, true
				}
				return fmt.Sprintf("local %d", local)
			},
		},
	}
}

func sparseBugs() []Bug {
	const mech = "sparse"
	sparse := func(p *Params, r *rand.Rand) {
		p.Sparse, p.Ratio, p.Local = true, pick(r, 4, 16, 32), pick(r, 128, 256)
		p.setSparse()
		if p.Family != "deepseek" {
			p.Family = pick(r, "deepseek", "chatml")
		}
		p.Tools = true
	}
	cached := func(p *Params, r *rand.Rand) {
		sparse(p, r)
		p.Page, p.Cache = 64, "radix"
		if p.Server == "llama.cpp" {
			p.Server = "sglang"
		}
	}
	return []Bug{
		{
			Slug: "topk-counts-tokens", Mechanism: mech, Origin: "vllm-project/vllm#52109",
			Effect: "the budget of the selection is divided by the ratio once too often: far too few blocks are kept, and " +
				"only what resembles the question is found",
			Truth: Truth{"selection", []string{"length", "wording", "end-distance"}, true, nil}, prepare: sparse,
			apply: func(pl *plant) string {
				k := max(1, pl.m.p.TopK/pl.m.p.Ratio/pick(pl.r, 4, 8))
				pl.m.sp.budget = func(int, int) int { return k }
				return fmt.Sprintf("%d blocks of %d", k, pl.m.p.Ratio)
			},
		},
		{
			Slug: "scores-all-zero", Mechanism: mech, Origin: "ml-explore/mlx-lm#1454",
			Effect: "the sum of index scores is zero for long contexts, and the selection falls back to the last blocks",
			Truth:  Truth{"window", []string{"length", "end-distance"}, true, nil}, prepare: sparse,
			apply: func(pl *plant) string {
				pl.m.sp.score = func(query, int, float32) float32 { return 0 }
				pl.m.sp.budget = func(k, ratio int) int { return min(k, 1024/ratio) }
				return ""
			},
		},
		{
			Slug: "sort-ascending", Mechanism: mech, Origin: "",
			Effect: "blocks are sorted the wrong way round: the least relevant are attended",
			Truth:  Truth{"selection", []string{"length", "end-distance"}, true, nil}, prepare: sparse,
			apply: func(pl *plant) string {
				pl.m.sp.better = func(a, b scored) int {
					return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.block, a.block))
				}
				return ""
			},
		},
		{
			Slug: "block-index-shifted", Mechanism: mech, Origin: "",
			Effect: "a selected block is turned into tokens with the index of one some blocks on: what was found is not " +
				"what is read",
			Truth: Truth{"selection", []string{"length", "end-distance"}, true, nil}, prepare: sparse,
			apply: func(pl *plant) string {
				by := reach/pl.m.p.Ratio + 2
				pl.m.sp.budget = func(k, ratio int) int { return min(k, 512/ratio) }
				pl.m.sp.tokens = func(block, ratio, n int) span {
					return span{(block + by) * ratio, min(n, (block+by+1)*ratio)}
				}
				return fmt.Sprintf("%d blocks", by)
			},
		},
		{
			Slug: "index-keys-not-restored", Mechanism: mech, Origin: "Mesh-LLM/mesh-llm#1901",
			Effect: "a prefix hit brings back keys and values and no index keys: the selection finds nothing in a reused " +
				"prefix",
			Truth: Truth{"cache content", []string{"warm", "length", "end-distance"}, true, nil}, prepare: cached,
			apply: func(pl *plant) string {
				pl.m.sp.budget = func(k, ratio int) int { return min(k, 1024/ratio) }
				pl.m.sp.score = func(q query, block int, s float32) float32 {
					if (block+1)*pl.m.p.Ratio <= q.hit {
						return -1
					}
					return s + 1e-3
				}
				pl.m.sp.better = func(a, b scored) int {
					return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.block, a.block))
				}
				return ""
			},
		},
		{
			Slug: "residue-of-four", Mechanism: mech, Origin: "vllm-project/vllm#55927",
			Effect: "with one residue of the length the selected rows are misaligned by one, and values lose their last token",
			Truth:  Truth{"length residue", []string{"length", "page-phase"}, true, nil}, prepare: sparse,
			apply: func(pl *plant) string {
				mod := pick(pl.r, 4, 4, 8)
				rem := mod - 1
				pl.m.att.angle = func(q query, pos int32) (int32, bool) {
					if q.prompt%mod != rem || q.prompt-int(pos) < pl.m.p.Local || q.prompt < 1024 {
						return pos, true
					}
					return pos, int(pos)%3 != 0
				}
				return fmt.Sprintf("length = %d mod %d", rem, mod)
			},
		},
	}
}
