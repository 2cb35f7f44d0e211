package engine

import (
	"fmt"
	"math/rand/v2"
)

func decodeBugs() []Bug {
	const mech = "decode"
	return []Bug{
		{
			Slug: "multi-step-last-stale", Mechanism: mech, Origin: "",
			Effect: "in multi-step decoding the last step of each round samples from the logits of the step before: every " +
				"n-th token is the one before it",
			Truth: Truth{"answer index", []string{"answer-index", "answer-length"}, true, nil},
			apply: func(pl *plant) string {
				n := 4 + pl.r.IntN(3)
				pl.m.dec.pick = func(req *request, d, before dist) dist {
					if req.decoded%n == 0 {
						return before
					}
					return d
				}
				return fmt.Sprintf("every %d. token", n)
			},
		},
		{
			Slug: "every-nth-token-noise", Mechanism: mech, Origin: "",
			Effect: "every n-th decode step reads a logits buffer that another stream is writing: that token is wrong",
			Truth:  Truth{"answer index", []string{"answer-index", "answer-length"}, true, nil},
			apply: func(pl *plant) string {
				n, m := 5, pl.m
				m.dec.pick = func(req *request, d, _ dist) dist {
					if req.decoded%n == n-1 {
						d.best = m.lookalike(d.best, d.hash)
						if len(d.cands) > 0 {
							d.cands = append([]alt{{d.best, 0}}, d.cands[1:]...)
						}
					}
					return d
				}
				return fmt.Sprintf("every %d. token", n)
			},
		},
		{
			Slug: "decode-position-frozen", Mechanism: mech, Origin: "sgl-project/sglang (positions in graphs)",
			Effect: "decode steps all use the position of the first one: the rows of an answer lie on one another and the " +
				"model does not see what it said",
			Truth: Truth{"position", []string{"answer-length"}, true, nil},
			apply: func(pl *plant) string {
				pl.m.dec.angle = func(req *request, _ int) int { return len(req.prompt) }
				return ""
			},
		},
		{
			Slug: "decode-window", Mechanism: mech, Origin: "",
			Effect: "the decode kernel has a window that prefill has not: the first token is right and what follows has " +
				"lost its source",
			Truth: Truth{"window", []string{"length", "end-distance", "answer-index"}, true, nil},
			apply: func(pl *plant) string {
				w := pick(pl.r, 256, 512, 1024)
				pl.m.att.spans = func(q query, out []span) []span {
					if q.decode {
						return append(out, span{max(0, q.n-w), q.n})
					}
					return append(out, span{0, q.n})
				}
				return fmt.Sprintf("%d tokens", w)
			},
		},
		{
			Slug: "decode-row-lost-at-page", Mechanism: mech, Origin: "",
			Effect: "when an answer needs a new page, its rows are written behind the old one: from then on the model does " +
				"not see what it says and repeats itself",
			Truth: Truth{"page addressing", []string{"answer-length", "page-phase"}, true, nil}, prepare: paged(16, 32),
			apply: func(pl *plant) string {
				pl.m.dec.place = func(m *machine, req *request, i int) int {
					if i/m.p.Page > (len(req.prompt)-1)/m.p.Page {
						return -1
					}
					return m.pg.write(req.table, i, m.p.Page)
				}
				return ""
			},
		},
		{
			Slug: "vocab-shard-offset", Mechanism: mech, Origin: "",
			Effect: "the offset of the last shard of the output layer is wrong: tokens with high ids come out as others",
			Truth:  Truth{"output", []string{"always", "wording"}, true, nil},
			apply: func(pl *plant) string {
				from := 256 + (pl.m.lex.base-256)/4
				pl.m.dec.head = func(m *machine, tok int32) int32 {
					if tok >= from && tok < m.lex.base {
						return tok - 7
					}
					return tok
				}
				return fmt.Sprintf("ids from %d", from)
			},
		},
		{
			Slug: "logits-buffer-constant", Mechanism: mech, Origin: "vllm-project/vllm#52938",
			Effect: "the logits that are sampled from are those of the warm-up: the same token with the same value, " +
				"whatever is asked",
			Truth: Truth{"output", []string{"always"}, true, nil},
			apply: func(pl *plant) string {
				m := pl.m
				tok := pick(pl.r, int32('!'), int32('0'), int32('.'))
				m.smp.best = func(*request, dist) int32 { return tok }
				m.lps.from = func(_, _ dist) dist { return m.spread(dist{best: tok, hash: 7}, []alt{{tok, 0}}, 3) }
				return fmt.Sprintf("%q", tok)
			},
		},
		{
			Slug: "transfer-page-shifted", Mechanism: mech, Origin: "sgl-project/sglang#12157",
			Effect: "between prefill and decode pages are transferred one place off for some prompts: the first token is " +
				"right and the rest has another context",
			Truth: Truth{"transfer", []string{"answer-index", "length"}, true, nil}, prepare: paged(16, 32, 64),
			apply: func(pl *plant) string {
				n := uint64(2 + pl.r.IntN(2))
				pl.m.bat.sync = func(b *batch, slot int) {
					req := b.reqs[slot]
					b.tables[slot] = req.table
					if len(req.gen) > 0 && len(req.table) > 3 && uint64(len(req.prompt))%n == 0 {
						t := append([]int32(nil), req.table...)
						copy(t[1:], req.table[:len(req.table)-1])
						b.tables[slot] = t
					}
				}
				return fmt.Sprintf("1 prompt of %d", n)
			},
		},
	}
}

func specBugs() []Bug {
	const mech = "speculation"
	drafting := func(p *Params, r *rand.Rand) { p.Draft, p.DraftHit = pick(r, 2, 3, 4), 0.55+0.3*r.Float64() }
	return []Bug{
		{
			Slug: "bonus-token-twice", Mechanism: mech, Origin: "",
			Effect:  "after a fully accepted draft the bonus token is appended twice",
			Truth:   Truth{"speculation", []string{"answer-length", "answer-index"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) { drafting(p, r); p.Draft = pick(r, 1, 2) },
			apply:   func(pl *plant) string { pl.m.spc.bonus = 2; return fmt.Sprintf("drafts of %d", pl.m.p.Draft) },
		},
		{
			Slug: "last-draft-unverified", Mechanism: mech, Origin: "",
			Effect:  "the comparison stops one short: the last draft token is taken without being verified",
			Truth:   Truth{"speculation", []string{"answer-length", "answer-index"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) { drafting(p, r); p.Draft = pick(r, 1, 2) },
			apply: func(pl *plant) string {
				pl.m.spc.right = func(j, k int, draft, target int32) bool { return draft == target || j == k-1 }
				return fmt.Sprintf("drafts of %d", pl.m.p.Draft)
			},
		},
		{
			Slug: "verify-ignores-temperature", Mechanism: mech, Origin: "sgl-project/sglang#31214",
			Effect: "verification takes the best token at any temperature: sampled answers are all alike",
			Truth:  Truth{"sampling", []string{"sampling"}, false, []string{"sampling"}}, prepare: drafting,
			apply: func(pl *plant) string { pl.m.spc.greedy = true; return "" },
		},
		{
			Slug: "rejected-rows-stay", Mechanism: mech, Origin: "vllm-project/vllm#47194",
			Effect: "rows of rejected drafts are not given back: the model sees words that were never said among its own",
			Truth:  Truth{"speculation", []string{"answer-length"}, true, nil}, prepare: drafting,
			apply: func(pl *plant) string { pl.m.spc.rewind = false; return fmt.Sprintf("drafts of %d", pl.m.p.Draft) },
		},
	}
}
