package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

func freshPrefill() []Bug {
	const mech = "prefill"
	return []Bug{
		{
			Slug: "short-chunk-no-tiles", Mechanism: mech, Origin: "",
			Effect: "the tiles of a chunk are counted by a division that rounds down to none: a last chunk shorter than a " +
				"tile is not computed, and with it the question",
			Truth:   Truth{"length residue", []string{"length", "chunk-phase"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) { p.Chunk = pick(r, 256, 512) },
			Stated: Statement{
				Accept:  []string{"phase", "chunk-seam"},
				Visible: "prompts longer than a chunk of 256 or 512 whose remainder is below 64 or 128 tokens",
			},
			apply: func(pl *plant) string {
				tile := pick(pl.r, 64, 128)
				pl.m.pre.plan = func(req *request, lo, hi int, _ []*request) piece {
					pc := piece{from: lo, to: hi, source: req}
					if lo > req.hit && hi == req.goal && hi-lo < tile {
						pc.to = lo
					}
					return pc
				}
				return fmt.Sprintf("tiles of %d, chunks of %d", tile, pl.m.p.Chunk)
			},
		},
		{
			Slug: "staging-entry-short", Mechanism: mech, Origin: "",
			Effect: "prompts go to the device through a ring of buffers, and the last entry of the ring is too small: every " +
				"n-th prompt loses its last tokens",
			Truth: Truth{"period", []string{"period"}, true, nil},
			Stated: Statement{
				Accept: []string{"request-share"}, Visible: "every n-th request of a rank, n from 4 to 7",
			},
			apply: func(pl *plant) string {
				n, lost := 4+pl.r.IntN(4), 24+pl.r.IntN(24)
				pl.m.pre.plan = func(req *request, lo, hi int, _ []*request) piece {
					pc := piece{from: lo, to: hi, source: req}
					if req.arrived%n == n-1 && hi == req.goal {
						pc.to = max(lo, hi-lost)
					}
					return pc
				}
				return fmt.Sprintf("%d entries, %d tokens", n, lost)
			},
		},
	}
}

func freshAttention() []Bug {
	const mech = "attention"
	return []Bug{
		{
			Slug: "dynamic-base-mixed", Mechanism: mech, Origin: "huggingface/transformers#25104",
			Effect: "the base of the rotation grows with a prompt beyond the native length while the rows before it keep " +
				"the old one: they are read too close together",
			Truth: Truth{"position", []string{"length", "start-distance"}, true, nil},
			Stated: Statement{
				Accept:  []string{"position-encoding", "head-cut"},
				Visible: "prompts longer than the native 1,024 to 3,072 tokens, in what stands before that",
			},
			apply: func(pl *plant) string {
				native := pick(pl.r, 1024, 2048, 3072)
				pl.m.att.angle = func(q query, pos int32) (int32, bool) {
					if q.prompt <= native || int(pos) >= native {
						return pos, true
					}
					return int32(int(pos) * native / q.prompt), true
				}
				return fmt.Sprintf("native %d", native)
			},
		},
		{
			Slug: "length-rounded-to-tile", Mechanism: mech, Origin: "",
			Effect: "beyond the lengths that were captured the kernel is launched for whole tiles: the last rows, the head " +
				"of the answer among them, are not read",
			Truth: Truth{"length residue", []string{"length"}, true, nil},
			Stated: Statement{
				Accept:  []string{"overflow-swallowed", "junk-cliff"},
				Visible: "prompts longer than 1,536 to 3,072 tokens",
			},
			apply: func(pl *plant) string {
				from, tile := pick(pl.r, 1536, 2048, 3072), pick(pl.r, 64, 128)
				pl.m.pg.extent = func(n, _ int) int {
					if n > from {
						return (n - 1) / tile * tile
					}
					return n
				}
				return fmt.Sprintf("tiles of %d from %d tokens", tile, from)
			},
		},
	}
}

func freshSparse() []Bug {
	const mech = "sparse"
	sparse := func(p *Params, r *rand.Rand) {
		p.Sparse, p.Ratio, p.Local = true, pick(r, 16, 32), pick(r, 128, 256)
		p.setSparse()
		p.Family, p.Tools = pick(r, "deepseek", "chatml"), true
	}
	return []Bug{
		{
			Slug: "selection-kept-in-slot", Mechanism: mech, Origin: "",
			Effect: "the selected blocks are kept by slot and not cleared: later requests attend the blocks that the first " +
				"one in their slot chose",
			Truth: Truth{"selection", []string{"length", "order"}, true, nil}, prepare: sparse,
			Stated: Statement{
				Accept:  []string{"sparse-selection", "slot-mix-up"},
				Visible: "prompts longer than the local window, except for the first in each slot",
			},
			apply: func(pl *plant) string {
				var mu sync.Mutex
				first := map[int][]int{}
				owner := map[int]*request{}
				pl.m.sp.kept = func(req *request, now []int) []int {
					mu.Lock()
					defer mu.Unlock()
					if owner[req.slot] == nil && len(now) > 0 {
						first[req.slot], owner[req.slot] = slices.Clone(now), req
					}
					if old := first[req.slot]; old != nil && owner[req.slot] != req {
						return slices.Clone(old)
					}
					return now
				}
				return fmt.Sprintf("blocks of %d", pl.m.p.Ratio)
			},
		},
		{
			Slug: "groups-of-blocks-cut", Mechanism: mech, Origin: "",
			Effect: "blocks are scored in whole groups: those behind the last group, right before the local window, are " +
				"never selected",
			Truth: Truth{"selection", []string{"length", "end-distance"}, true, nil}, prepare: sparse,
			Stated: Statement{
				Accept:  []string{"sparse-selection", "middle-cut"},
				Visible: "prompts longer than the local window, in the last thousand tokens before it",
			},
			apply: func(pl *plant) string {
				group := 1024 / pl.m.p.Ratio
				pl.m.sp.blocks = func(n int) int { return n / group * group }
				return fmt.Sprintf("groups of %d blocks of %d", group, pl.m.p.Ratio)
			},
		},
	}
}
