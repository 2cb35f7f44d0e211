package engine

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// paged gives a server pages of some size.
func paged(sizes ...int) func(p *Params, r *rand.Rand) {
	return func(p *Params, r *rand.Rand) {
		p.Page = pick(r, sizes...)
		if p.Server == "llama.cpp" {
			p.Server, p.Cache = "vllm", "blocks"
		}
	}
}

func pageBugs() []Bug {
	const mech = "pages"
	return []Bug{
		{
			Slug: "page-boundary-row", Mechanism: mech, Origin: "",
			Effect: "the first rows of every page but the first are written into the page before: a few tokens at each " +
				"boundary are lost",
			Truth:   Truth{"page addressing", []string{"page-phase"}, true, nil},
			prepare: paged(16),
			apply: func(pl *plant) string {
				k := 3 + pl.r.IntN(3)
				pl.m.pg.write = func(table []int32, i, size int) int {
					page := i / size
					if page > 0 && i%size < k {
						page--
					}
					return int(table[page])*size + i%size
				}
				return fmt.Sprintf("%d rows", k)
			},
		},
		{
			Slug: "page-table-wraps", Mechanism: mech, Origin: "vllm-project/vllm#47827",
			Effect: "the kernel masks the index into the page table: past so many pages it reads the first ones again",
			Truth:  Truth{"page addressing", []string{"length", "start-distance"}, true, nil}, prepare: paged(16, 32, 64),
			apply: func(pl *plant) string {
				mask := 64
				for mask*pl.m.p.Page < 2048 {
					mask *= 2
				}
				pl.m.pg.read = func(table []int32, i, size int) int { return int(table[i/size%mask])*size + i%size }
				return fmt.Sprintf("%d pages of %d", mask, pl.m.p.Page)
			},
		},
		{
			Slug: "last-page-length-zero", Mechanism: mech, Origin: "",
			Effect: "the length of the last page is taken modulo the page: when it is just full, or nearly, its rows are " +
				"not attended",
			Truth: Truth{"page addressing", []string{"page-phase"}, true, nil}, prepare: paged(16, 32),
			apply: func(pl *plant) string {
				edge := 1 + pl.m.p.Page/4
				pl.m.pg.extent = func(n, size int) int {
					if last := n % size; last < edge {
						return n - last - size*btoi(last == 0)
					}
					return n
				}
				return fmt.Sprintf("below %d rows", edge)
			},
		},
		{
			Slug: "row-address-wraps", Mechanism: mech, Origin: "NVIDIA/TensorRT-LLM#15295",
			Effect: "row addresses are kept in too few bits: pages high in the pool alias low ones, the more of the pool " +
				"is in use",
			Truth:   Truth{"page addressing", []string{"served"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) { paged(16, 32)(p, r); p.LIFO = false },
			apply: func(pl *plant) string {
				most := 32768
				pl.m.pg.write = func(table []int32, i, size int) int { return (int(table[i/size])*size + i%size) % most }
				pl.m.pg.read = pl.m.pg.write
				return fmt.Sprintf("%d rows", most)
			},
		},
		{
			Slug: "scale-of-last-owner", Mechanism: mech, Origin: "",
			Effect:  "an fp8 page keeps the scale of its last owner: numbers read from reused pages come out close but wrong",
			Truth:   Truth{"value precision", []string{"served"}, true, nil},
			prepare: func(p *Params, _ *rand.Rand) { p.LIFO = true; p.Cache = "none"; p.Page = 16; p.Server = "vllm" },
			apply: func(pl *plant) string {
				m := pl.m
				rate := 0.12 + 0.1*pl.r.Float64()
				m.pg.store = func(pool *pool, at int, r row) row {
					page := at / pool.size
					if pool.gen[page] > 1 && r.tok >= 0 && r.tok < m.lex.base && allDigits(m.lex.text[r.tok]) &&
						unit(mix(uint64(page)*31+uint64(pool.gen[page]), uint64(at%pool.size))) < rate {
						r.tok = m.lookalike(r.tok, uint64(pool.gen[page])*77+uint64(at))
					}
					return r
				}
				return fmt.Sprintf("%.2f of the digits", rate)
			},
		},
		{
			Slug: "coarse-rows", Mechanism: mech, Origin: "sgl-project/sgl-cookbook#237",
			Effect: "fp8 rows are written without a scale: now and then a digit of a context comes out as another, and " +
				"nothing else shows",
			Truth: Truth{"value precision", []string{"always"}, true, nil},
			apply: func(pl *plant) string {
				m, rate := pl.m, 0.015+0.03*pl.r.Float64()
				m.pg.store = func(_ *pool, _ int, r row) row {
					if r.tok >= 0 && r.tok < m.lex.base && allDigits(m.lex.text[r.tok]) &&
						unit(mix(uint64(uint32(r.pos)), uint64(uint32(r.tok)))) < rate {
						r.tok = m.lookalike(r.tok, uint64(uint32(r.pos)))
					}
					return r
				}
				return fmt.Sprintf("%.2f of the digits", rate)
			},
		},
		{
			Slug: "page-freed-twice", Mechanism: mech, Origin: "vllm-project/vllm (reference counts, many)",
			Effect: "a request that took pages from the prefix cache gives them up once too often: they are handed to " +
				"others while they are known",
			Truth: Truth{"shared page", []string{"warm", "served"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) {
				paged(16, 32, 64)(p, r)
				p.LIFO = true
			},
			apply: func(pl *plant) string {
				every := 1 + pl.r.Int64N(2)
				var n atomic.Int64
				pl.m.pg.share = func(pool *pool, page int32) {
					if n.Add(1)%every != 0 || pool.ref[page] == 0 {
						pool.ref[page]++
					}
				}
				return fmt.Sprintf("every %d. shared page", every)
			},
		},
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func prefillBugs() []Bug {
	const mech = "prefill"
	chunks := func(sizes ...int) func(p *Params, r *rand.Rand) {
		return func(p *Params, r *rand.Rand) { p.Chunk = pick(r, sizes...) }
	}
	return []Bug{
		{
			Slug: "tile-tail-unwritten", Mechanism: mech, Origin: "",
			Effect: "rows of a chunk behind its last whole tile are not written: tokens close before a chunk's end are lost",
			Truth:  Truth{"chunk boundary", []string{"length", "chunk-phase"}, true, nil}, prepare: chunks(512, 1024),
			apply: func(pl *plant) string {
				tail := 24 + pl.r.IntN(40)
				pl.m.pre.plan = func(req *request, lo, hi int, _ []*request) piece {
					pc := piece{from: lo, to: hi, source: req}
					if hi < req.goal {
						pc.to = hi - tail
					}
					return pc
				}
				return fmt.Sprintf("%d rows before each seam of %d", tail, pl.m.p.Chunk)
			},
		},
		{
			Slug: "chunk-starts-late", Mechanism: mech, Origin: "",
			Effect: "every chunk but the first begins some tokens late: what stands behind a seam is lost",
			Truth:  Truth{"chunk boundary", []string{"length", "chunk-phase"}, true, nil}, prepare: chunks(512, 1024),
			apply: func(pl *plant) string {
				skip := 16 + pl.r.IntN(48)
				pl.m.pre.plan = func(req *request, lo, hi int, _ []*request) piece {
					pc := piece{from: lo, to: hi, source: req}
					if lo > req.hit {
						pc.from = min(hi, lo+skip)
					}
					return pc
				}
				return fmt.Sprintf("%d rows behind each seam of %d", skip, pl.m.p.Chunk)
			},
		},
		{
			Slug: "chunk-positions-restart", Mechanism: mech, Origin: "tinygrad/tinygrad#15182",
			Effect: "the positions of a later chunk are counted from its own start: rows of all chunks lie on one another",
			Truth:  Truth{"position", []string{"length"}, true, nil}, prepare: chunks(1024, 2048, 4096),
			apply: func(pl *plant) string {
				pl.m.pre.plan = func(req *request, lo, hi int, _ []*request) piece {
					return piece{from: lo, to: hi, turn: req.hit - lo, source: req}
				}
				return fmt.Sprintf("chunks of %d", pl.m.p.Chunk)
			},
		},
		{
			Slug: "later-chunk-own-keys", Mechanism: mech, Origin: "vllm-project/vllm#26042",
			Effect: "queries of a later chunk see the keys of that chunk only: the answer begins without what stands " +
				"before it",
			Truth:   Truth{"window", []string{"length", "end-distance", "answer-index"}, true, nil},
			prepare: chunks(1024, 2048, 4096),
			apply: func(pl *plant) string {
				pl.m.att.spans = func(q query, out []span) []span {
					if !q.decode && q.chunk > q.hit {
						return append(out, span{q.chunk, q.n})
					}
					return append(out, span{0, q.n})
				}
				return fmt.Sprintf("chunks of %d", pl.m.p.Chunk)
			},
		},
		{
			Slug: "workspace-second-piece", Mechanism: mech, Origin: "local-inference-lab/vllm#17",
			Effect: "the prefix of a chunk is attended in workspaces, and from the second one on the partial results are " +
				"merged with the wrong stride and lost",
			Truth: Truth{"band", []string{"length", "start-distance"}, true, nil}, prepare: chunks(512, 1024),
			apply: func(pl *plant) string {
				piece := pick(pl.r, 1024, 1536, 2048)
				pl.m.att.spans = func(q query, out []span) []span {
					out = append(out, span{0, q.n})
					if q.chunk > piece {
						out = without(out, piece, q.chunk)
					}
					return out
				}
				return fmt.Sprintf("workspaces of %d, chunks of %d", piece, pl.m.p.Chunk)
			},
		},
		{
			Slug: "chunk-of-neighbour", Mechanism: mech, Origin: "sgl-project/sglang#22291",
			Effect: "with several prompts in one prefill batch the offsets of the sequences are mixed up: a part of a " +
				"prompt is that of another",
			Truth:   Truth{"batch mix-up", []string{"concurrency"}, true, []string{"clients"}},
			prepare: func(p *Params, _ *rand.Rand) { p.Chunk = 8192; p.Ranks = 1 },
			apply: func(pl *plant) string {
				pl.m.pre.plan = func(req *request, lo, hi int, mates []*request) piece {
					for _, o := range mates {
						if o != req && len(o.gen) == 0 && len(o.prompt) >= hi && hi-lo > 40 && o.arrived < req.arrived {
							return piece{from: lo, to: hi, source: o}
						}
					}
					return piece{from: lo, to: hi, source: req}
				}
				return ""
			},
		},
		{
			Slug: "every-other-chunk-stale", Mechanism: mech, Origin: "vllm-project/vllm#4697",
			Effect:  "the copy of every second chunk races with its kernel: those rows keep what their pages held before",
			Truth:   Truth{"band", []string{"length", "start-distance", "chunk-phase"}, true, nil},
			prepare: chunks(512, 1024, 2048),
			apply: func(pl *plant) string {
				pl.m.pre.plan = func(req *request, lo, hi int, _ []*request) piece {
					pc := piece{from: lo, to: hi, source: req}
					if hi < req.goal && (lo/pl.m.p.Chunk)%2 == 1 {
						pc.to = lo
					}
					return pc
				}
				return fmt.Sprintf("chunks of %d", pl.m.p.Chunk)
			},
		},
	}
}
