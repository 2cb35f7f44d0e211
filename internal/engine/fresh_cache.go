package engine

import (
	"fmt"
	"math/rand/v2"
)

func freshPrefix() []Bug {
	const mech = "prefix cache"
	return []Bug{
		{
			Slug: "index-slot-unchecked", Mechanism: mech, Origin: "",
			Effect: "the index of pages has few slots and compares no key: a new prompt is given the pages of older ones, " +
				"the more of them the more was served",
			Truth: Truth{"cache key", []string{"served"}, true, nil}, prepare: onBlocks(32, 64),
			Stated: Statement{
				Accept:  []string{"replay", "drift"},
				Visible: "after some thousand tokens were served, in prompts longer than a page",
			},
			apply: func(pl *plant) string {
				bits := 8 + pl.r.IntN(2)
				sound := pl.m.cch.block
				pl.m.cch.block = func(parent uint64, ids []int32) uint64 { return sound(parent, ids) >> (64 - bits) }
				return fmt.Sprintf("%d slots, pages of %d", 1<<bits, pl.m.p.Page)
			},
		},
		{
			Slug: "window-of-hit-missing", Mechanism: mech, Origin: "sgl-project/sglang#26577",
			Effect: "layers with a window give their rows up early, and a hit does not ask whether they are there: of a " +
				"reused prefix the last stretch is not seen",
			Truth: Truth{"cache content", []string{"warm", "depth"}, true, nil}, prepare: onRadix(1, 16, 64),
			Stated: Statement{
				Accept:  []string{"warm-forgets"},
				Visible: "prompts that begin like an earlier one, with what is asked for late in the shared part",
			},
			apply: func(pl *plant) string {
				w := pick(pl.r, 512, 1024)
				pl.m.att.spans = func(q query, out []span) []span {
					out = append(out, span{0, q.n})
					if q.hit > 64 {
						out = without(out, max(0, q.hit-w), q.hit)
					}
					return out
				}
				return fmt.Sprintf("%d tokens before the fork", w)
			},
		},
		{
			Slug: "positions-rounded-behind-hit", Mechanism: mech, Origin: "",
			Effect: "behind a hit positions go on at the next multiple of the kernel's block: the new rows stand too far " +
				"away and the last of them beyond the end",
			Truth: Truth{"position", []string{"warm", "page-phase"}, true, nil}, prepare: onRadix(1, 16),
			Stated: Statement{
				Accept:  []string{"warm-junk", "warm-forgets"},
				Visible: "prompts that begin like an earlier one, unless the shared part ends on a multiple of the block",
			},
			apply: func(pl *plant) string {
				block := pick(pl.r, 128, 256)
				off := func(req *request) int {
					if req.hit == 0 {
						return 0
					}
					return (block - req.hit%block) % block
				}
				pl.m.pre.plan = func(req *request, lo, hi int, _ []*request) piece {
					return piece{from: lo, to: hi, turn: off(req), source: req}
				}
				pl.m.dec.angle = func(req *request, i int) int { return i + off(req) }
				return fmt.Sprintf("blocks of %d", block)
			},
		},
	}
}

func freshTier() []Bug {
	const mech = "host tier"
	tiered := func(p *Params, r *rand.Rand) {
		cacheOf("blocks", 16, 32, 64)(p, r)
		small(p)
		p.Tier, p.LIFO = 8*p.Pool/p.Page, true
	}
	visible := "prompts that begin like one that was evicted and kept in host memory, after some 14,000 other tokens"
	return []Bug{
		{
			Slug: "restore-copies-half", Mechanism: mech, Origin: "",
			Effect: "the size of a page in host memory is counted in elements of half the width: the second half of every " +
				"restored page keeps what its memory held",
			Truth: Truth{"restored content", []string{"warm", "served"}, true, nil}, prepare: tiered,
			Stated: Statement{Accept: []string{"tier-restore"}, Visible: visible},
			apply: func(pl *plant) string {
				pl.m.cch.copied = func(i, size int) bool { return i < size/2 }
				return fmt.Sprintf("pages of %d, pool of %d tokens", pl.m.p.Page, pl.m.p.Pool)
			},
		},
		{
			Slug: "backup-after-reuse", Mechanism: mech, Origin: "sgl-project/sglang#31427",
			Effect: "an evicted page is copied into host memory after it was given away: what is kept under the old " +
				"prefix is the new owner's",
			Truth: Truth{"restored content", []string{"warm", "served"}, true, nil}, prepare: tiered,
			Stated: Statement{Accept: []string{"tier-restore", "replay"}, Visible: visible},
			apply: func(pl *plant) string {
				pl.m.cch.late = true
				return fmt.Sprintf("pages of %d, pool of %d tokens", pl.m.p.Page, pl.m.p.Pool)
			},
		},
	}
}
