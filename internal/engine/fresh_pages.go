package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// rough is what a digit reads as whose scale is not its own; other tokens are far enough from their neighbours.
func (m *machine) rough(tok int32, h uint64) int32 {
	if tok >= 0 && tok < m.lex.base && allDigits(m.lex.text[tok]) {
		return m.lookalike(tok, h)
	}
	return tok
}

func freshPages() []Bug {
	const mech = "pages"
	return []Bug{
		{
			Slug: "scale-by-place-in-table", Mechanism: mech, Origin: "ovg-project/kvcached#424",
			Effect: "the scale of a quantised page is looked up by its place in the request's table and not by its place " +
				"in the pool: where the two scales differ, digits come out as others now and then",
			Truth: Truth{"value precision", []string{"always"}, true, nil}, prepare: paged(16, 32),
			Stated: Statement{Accept: []string{"coarse-kv"}, Visible: "any request with digits to copy"},
			apply: func(pl *plant) string {
				m, rate := pl.m, 0.05+0.08*pl.r.Float64()
				m.att.value = func(q query, i, at int, tok int32) int32 {
					own, used := uint64(at/m.p.Page), uint64(i/m.p.Page)
					if i >= q.prompt || mix(own, 3)%4 == mix(used, 3)%4 ||
						unit(mix(uint64(at)*31+used, uint64(uint32(tok)))) > rate {
						return tok
					}
					return m.rough(tok, mix(own, uint64(i)))
				}
				return fmt.Sprintf("pages of %d, %.2f of the digits under another scale", m.p.Page, rate)
			},
		},
		{
			Slug: "prefix-read-unscaled", Mechanism: mech, Origin: "sgl-project/sglang#24198",
			Effect: "the path that attends a reused prefix does not get the scales: its rows are read as something else " +
				"while the first token is made",
			Truth:   Truth{"cache content", []string{"warm"}, true, nil},
			prepare: onRadix(1, 16),
			Stated: Statement{
				Accept:  []string{"warm-forgets", "warm-junk"},
				Visible: "prompts that begin like an earlier one, with what is asked for in the shared part",
			},
			apply: func(pl *plant) string {
				m, rate := pl.m, 0.5+0.3*pl.r.Float64()
				m.att.value = func(q query, i, _ int, tok int32) int32 {
					if i >= q.hit || q.hit < 64 || tok < 0 || tok >= m.lex.base ||
						unit(mix(uint64(i), uint64(uint32(tok)))) > rate {
						return tok
					}
					return m.lookalike(tok, uint64(i))
				}
				return fmt.Sprintf("%.2f of the rows", rate)
			},
		},
		{
			Slug: "scale-of-first-batch", Mechanism: mech, Origin: "vllm-project/vllm#11906",
			Effect: "scales are taken from the first rows that are written and kept: digits beyond the largest of those " +
				"are clipped to it",
			Truth:  Truth{"value precision", []string{"always", "order"}, true, nil},
			Stated: Statement{Accept: []string{"coarse-kv"}, Visible: "any request with digits above the first ones to copy"},
			apply: func(pl *plant) string {
				m, rows := pl.m, 60+pl.r.IntN(60)
				var once sync.Once
				most := byte('5')
				m.att.value = func(q query, i, _ int, tok int32) int32 {
					once.Do(func() {
						for _, t := range q.request.prompt[:min(rows, q.prompt)] {
							if t >= 0 && t < m.lex.base && allDigits(m.lex.text[t]) {
								most = max(most, min('8', slices.Max([]byte(m.lex.text[t]))))
							}
						}
					})
					if i >= q.prompt || tok < 0 || tok >= m.lex.base || !allDigits(m.lex.text[tok]) {
						return tok
					}
					b := []byte(m.lex.text[tok])
					for k, c := range b {
						b[k] = min(c, most)
					}
					if id, ok := m.lex.rank[string(b)]; ok {
						return id
					}
					return tok
				}
				return fmt.Sprintf("of the first %d rows", rows)
			},
		},
		{
			Slug: "null-page-for-a-full-pool", Mechanism: mech, Origin: "",
			Effect: "the check for room looks at the size of the pool and evicts nothing: once the cache has filled it, " +
				"every further page of a request is page zero",
			Truth: Truth{"shared page", []string{"served"}, true, nil},
			prepare: func(p *Params, r *rand.Rand) {
				cacheOf(pick(r, "blocks", "radix"), 16, 32)(p, r)
				small(p)
			},
			Stated: Statement{
				Accept:  []string{"drift", "always-broken"},
				Visible: "once more tokens were served than the pool holds, some 14,000; all requests from then on",
			},
			apply: func(pl *plant) string {
				pl.m.pg.null = true
				return fmt.Sprintf("pool of %d tokens", pl.m.p.Pool)
			},
		},
		{
			Slug: "embedding-shards-swapped", Mechanism: mech, Origin: "",
			Effect: "the two halves of a sharded embedding sit on each other's ranks: every word of a prompt is read as " +
				"another",
			Truth: Truth{"output", []string{"always"}, true, nil},
			Stated: Statement{
				Accept: []string{"always-broken", "generation-prompt"}, Visible: "any request with words",
			},
			apply: func(pl *plant) string {
				m := pl.m
				half := (m.lex.base - 256) / 2
				m.pg.store = func(_ *pool, _ int, r row) row {
					switch k := r.tok - 256; {
					case k >= 0 && k < half:
						r.tok += half
					case k >= half && k < 2*half:
						r.tok -= half
					}
					return r
				}
				return fmt.Sprintf("%d ids each", half)
			},
		},
	}
}
