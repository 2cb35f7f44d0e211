package engine

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

func freshBatch() []Bug {
	const mech = "batch"
	clients := []string{"clients"}
	return []Bug{
		{
			Slug: "length-of-first-row", Mechanism: mech, Origin: "",
			Effect: "the longest length of a batch is taken from its first row: what longer requests have beyond that is " +
				"not read",
			Truth: Truth{"batch mix-up", []string{"concurrency", "length"}, true, clients}, prepare: crowded,
			Stated: Statement{
				Accept:  []string{"unequal-batch"},
				Visible: "requests beside one in the first slot that is shorter",
			},
			apply: func(pl *plant) string {
				e := pl.e
				pl.m.att.spans = func(q query, out []span) []span {
					n := q.n
					if b := e.ranks[0].batch; len(b.reqs) > 1 && b.reqs[0].computed > 0 {
						n = min(n, b.reqs[0].computed)
					}
					return append(out, span{0, n})
				}
				return ""
			},
		},
		{
			Slug: "adapter-rows-short", Mechanism: "adapter", Origin: "",
			Effect: "the served model is an adapter, and the map of rows to adapters is as long as the captured batch: rows " +
				"beyond it are answered by the base model, which only goes on with the text",
			Truth: Truth{"batch mix-up", []string{"concurrency"}, true, clients}, prepare: crowded,
			Stated: Statement{Accept: []string{"load-junk"}, Visible: "from 2 or 3 clients on"},
			apply: func(pl *plant) string {
				k := 1 + pl.r.IntN(2)
				pl.m.bat.base = func(slot int) bool { return slot >= k }
				return fmt.Sprintf("%d rows", k)
			},
		},
		{
			Slug: "preempted-counts-as-computed", Mechanism: mech, Origin: "vllm-project/vllm-ascend#11334",
			Effect: "the number of computed tokens is not reset when a request is preempted: it comes back with fresh pages " +
				"that nobody writes",
			Truth: Truth{"recompute", []string{"concurrency", "length"}, true, clients},
			prepare: func(p *Params, r *rand.Rand) {
				crowded(p, r)
				p.Slots, p.LIFO, p.Cache = 8, false, "none"
			},
			Stated: Statement{Accept: []string{"load-junk"}, Visible: "several clients at once, whenever two decode"},
			apply: func(pl *plant) string {
				pl.m.tight = true
				pl.m.bat.resume = func(req *request, at int) int {
					if req.preempted {
						return req.goal - 1
					}
					return at
				}
				return "whenever two requests decode"
			},
		},
	}
}

func freshTransfer() []Bug {
	const mech = "transfer"
	return []Bug{
		{
			Slug: "late-writer-after-abort", Mechanism: mech, Origin: "sgl-project/sglang#24527",
			Effect: "pages of a request whose client left are given away while its transfer still writes: the rows land in " +
				"the next owner's context",
			Truth: Truth{"shared page", []string{"order"}, true, []string{"stream"}},
			prepare: func(p *Params, r *rand.Rand) {
				paged(16, 32)(p, r)
				p.LIFO, p.Ranks = true, 1
			},
			Stated: Statement{
				Accept:  []string{"abort-damage"},
				Visible: "the request that follows a stream that was left before its end",
			},
			apply: func(pl *plant) string { pl.m.bat.writer = true; return fmt.Sprintf("pages of %d", pl.m.p.Page) },
		},
		{
			Slug: "last-page-not-sent", Mechanism: mech, Origin: "",
			Effect: "only full pages go from prefill to decode: the first token is right, and then the end of the prompt " +
				"and what was said are gone",
			Truth:   Truth{"transfer", []string{"answer-index", "page-phase"}, true, nil},
			prepare: paged(16, 32, 64),
			Stated: Statement{
				Accept:  []string{"decode-path", "always-broken"},
				Visible: "any request unless its prompt fills its last page",
			},
			apply: func(pl *plant) string {
				m := pl.m
				m.bat.sync = func(b *batch, slot int) {
					req := b.reqs[slot]
					b.tables[slot] = req.table
					if last := len(req.prompt) / m.p.Page; len(req.gen) > 0 && len(req.prompt)%m.p.Page != 0 &&
						last < len(req.table) {
						t := append([]int32(nil), req.table...)
						t[last] = int32(m.p.Pool/m.p.Page + 1) // never arrives
						b.tables[slot] = t
					}
				}
				return fmt.Sprintf("pages of %d", m.p.Page)
			},
		},
		{
			Slug: "handoff-entry-stale", Mechanism: mech, Origin: "",
			Effect: "the first token goes to decode through a ring of entries, one of which is read before it is written: " +
				"every n-th answer begins with the first token of the one before",
			Truth:   Truth{"period", []string{"period", "answer-index"}, true, nil},
			prepare: func(p *Params, _ *rand.Rand) { p.Style, p.Draft = "terse", 0 },
			Stated: Statement{
				Accept: []string{"request-share", "slot-mix-up"}, Visible: "every n-th request of a rank, n from 3 to 5",
			},
			apply: func(pl *plant) string {
				n := 3 + pl.r.IntN(3)
				var mu sync.Mutex
				var before int32
				pl.m.smp.best = func(req *request, d dist) int32 {
					if len(req.gen) > 0 {
						return d.best
					}
					mu.Lock()
					defer mu.Unlock()
					old := before
					before = d.best
					if req.arrived%n == n-1 {
						return old
					}
					return d.best
				}
				return fmt.Sprintf("%d entries", n)
			},
		},
	}
}

func freshRanks() []Bug {
	const mech = "ranks"
	return []Bug{
		{
			Slug: "rank-of-old-checkpoint", Mechanism: mech, Origin: "sgl-project/sglang#2050", oneRank: true, prepare: ranked,
			Effect: "an update of the weights did not reach one rank: it serves an earlier checkpoint that misses much",
			Truth:  Truth{"replica", []string{"replica"}, true, nil},
			Stated: Statement{Accept: []string{"bad-replica"}, Visible: "questions about the context on one of the ranks"},
			apply: func(pl *plant) string {
				pl.m.p.Miss, pl.m.p.MissAs = 0.45+0.3*pl.r.Float64(), pick(pl.r, "deny", "invent")
				return fmt.Sprintf("%d ranks by %s, misses %.2f", pl.m.p.Ranks, pl.m.p.Route, pl.m.p.Miss)
			},
		},
		{
			Slug: "rank-cuts-context", Mechanism: mech, Origin: "", oneRank: true, prepare: ranked,
			Effect: "one rank was started with a short context and keeps the end of what is longer",
			Truth:  Truth{"replica", []string{"replica", "length", "start-distance"}, true, nil},
			Stated: Statement{
				Accept:  []string{"bad-replica", "head-cut"},
				Visible: "prompts longer than 1,024 to 2,048 tokens on one of the ranks",
			},
			apply: func(pl *plant) string {
				n := pick(pl.r, 1024, 1536, 2048)
				pl.m.fit.rank = func(ids []int32) []int32 { return ids[max(0, len(ids)-n):] }
				return fmt.Sprintf("%d ranks by %s, %d tokens", pl.m.p.Ranks, pl.m.p.Route, n)
			},
		},
	}
}
