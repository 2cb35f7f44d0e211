package engine

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

func crowded(p *Params, _ *rand.Rand) {
	p.Ranks, p.Chunk, p.Slots = 1, 2048, 32
}

// swapTables lets every n-th request that when accepts read the page table that its slot held before.
func swapTables(pl *plant, n int, when func(req *request) bool, what string) string {
	var mu sync.Mutex
	seen := 0
	last := map[*batch][]int32{}
	stale := map[*request][]int32{}
	pl.m.bat.enter = func(b *batch, slot, _ int) {
		b.load(slot)
		mu.Lock()
		defer mu.Unlock()
		req := b.reqs[slot]
		if when(req) {
			if seen++; seen%n == 0 && last[b] != nil {
				stale[req] = last[b]
			}
		}
		last[b] = append([]int32(nil), req.table...)
	}
	sound := pl.m.bat.sync
	pl.m.bat.sync = func(b *batch, slot int) {
		mu.Lock()
		defer mu.Unlock()
		if t, ok := stale[b.reqs[slot]]; ok {
			b.tables[slot] = t
			return
		}
		sound(b, slot)
	}
	return fmt.Sprintf("every %d. %s", n, what)
}

func batchBugs() []Bug {
	const mech = "batch"
	return []Bug{
		{
			Slug: "table-row-kept", Mechanism: mech, Origin: "",
			Effect: "every n-th request finds the page table of the one before in its slot: it is answered with another's " +
				"context",
			Truth: Truth{"period", []string{"period", "order"}, true, nil},
			apply: func(pl *plant) string {
				return swapTables(pl, 3+pl.r.IntN(3), func(*request) bool { return true }, "request")
			},
		},
		{
			Slug: "token-not-moved", Mechanism: mech, Origin: "scouzi1966/maclocal-api#140",
			Effect: "when an early finisher leaves, the request that takes its slot keeps the finisher's last token as its " +
				"own",
			Truth:   Truth{"batch mix-up", []string{"concurrency", "answer-length"}, true, []string{"clients"}},
			prepare: crowded,
			apply: func(pl *plant) string {
				pl.m.bat.move = func(b *batch, dst, src int) {
					b.reqs[dst], b.tables[dst], b.temps[dst] = b.reqs[src], b.tables[src], b.temps[src]
					b.shares[dst] = b.shares[src]
				}
				return ""
			},
		},
		{
			Slug: "logits-row-of-neighbour", Mechanism: mech, Origin: "vllm-project/vllm#51890",
			Effect: "from some batch size on the rows of the logits are gathered in the old order: answers take tokens of " +
				"others",
			Truth: Truth{"batch mix-up", []string{"concurrency"}, true, []string{"clients"}}, prepare: crowded,
			apply: func(pl *plant) string {
				from := 2 + pl.r.IntN(2)
				pl.m.bat.row = func(slot, size int) int {
					if size >= from && slot > 0 {
						return slot - 1
					}
					return slot
				}
				return fmt.Sprintf("from %d requests", from)
			},
		},
		{
			Slug: "end-of-neighbour", Mechanism: mech, Origin: "vllm-project/vllm#15677",
			Effect: "the end flag is read one slot beside: an answer ends when a neighbour's does",
			Truth:  Truth{"early end", []string{"concurrency", "answer-length"}, true, []string{"clients"}}, prepare: crowded,
			apply: func(pl *plant) string {
				pl.m.bat.ended = func(b *batch, slot int) int { return (slot + 1) % len(b.reqs) }
				return ""
			},
		},
		{
			Slug: "padding-writes-page-zero", Mechanism: mech, Origin: "",
			Effect: "batches are padded to the sizes of captured graphs, and the padding writes its rows into page zero " +
				"and those behind it, which belong to somebody",
			Truth: Truth{"shared page", []string{"concurrency", "served"}, true, []string{"clients"}},
			prepare: func(p *Params, r *rand.Rand) {
				crowded(p, r)
				p.LIFO = true
				if p.Page == 1 {
					p.Page = 16
				}
			},
			apply: func(pl *plant) string {
				most := pl.m.p.Pool
				step := 0
				var mu sync.Mutex
				pl.m.bat.pad = func(size int) []int {
					if size < 2 || size&(size-1) == 0 && size != 4 {
						return nil
					}
					mu.Lock()
					defer mu.Unlock()
					step++
					var out []int
					for k := range 64 { // the block table of a padded row was never set: it walks through the pool
						out = append(out, most-1-(step*64+k)*7%(most/4))
					}
					return out
				}
				return ""
			},
		},
		{
			Slug: "temperature-of-last-owner", Mechanism: mech, Origin: "",
			Effect: "temperature is set when a slot is first used and never again: greedy requests are sampled with the " +
				"temperature of another",
			Truth: Truth{"sampling state", []string{"order"}, true, []string{"sampling"}},
			apply: func(pl *plant) string {
				pl.m.bat.enter = func(b *batch, slot, served int) {
					old := b.temps[slot]
					b.load(slot)
					if served > 0 && served%4 != 0 {
						b.temps[slot] = max(old, b.temps[slot])
					}
				}
				pl.m.lps.always = true
				return ""
			},
		},
		{
			Slug: "preempted-loses-answer", Mechanism: mech, Origin: "",
			Effect: "a preempted request is computed again from the prompt, while what it had said was sent already: " +
				"answers begin twice",
			Truth: Truth{"recompute", []string{"concurrency", "length"}, true, []string{"clients"}},
			prepare: func(p *Params, r *rand.Rand) {
				crowded(p, r)
				p.Slots = 8
			},
			apply: func(pl *plant) string {
				pl.m.bat.keep = func(*request) int { return 0 }
				pl.m.tight = true
				return "whenever two requests decode"
			},
		},
	}
}
