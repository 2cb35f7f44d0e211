package dense

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// exact is the contract of operators that compute indices and masks.
func exact() []numerics.Contract { return []numerics.Contract{{Name: "exact"}} }

var pageTable = bench.Family{
	Op: "page_table", Slug: "page-table",
	Claim:     "page ids, page counts and slots MUST be exactly those of the requests' token tables",
	Doc:       pageTableDoc,
	Contracts: exact(),
	Draw:      drawPageTable, Expect: expectPageTable,
	Twins: []bench.Twin{
		bench.Dense(),
		bench.Fixed("mask-edge", "no window", bench.Attrs{"window_size": 0.0}),
		{Class: "paging", Name: "pages of one token", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			was := p.Attrs.Num("page_size") != 1
			p.Attrs["page_size"] = 1.0
			o := p.Outputs["page_table"]
			o.Shape = []int{o.Shape[0], slices.Max(append(p.In("seq_lens").Ints(), 1)) + 1}
			p.Outputs["page_table"] = o
			return was
		}},
		{Class: "paging", Name: "requests in the order of their rows", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			old, o := p.In("req_pool_indices").Ints(), p.Operands["req_to_token"]
			rest := old
			for r := range o.Shape[0] {
				if !slices.Contains(old, r) {
					rest = append(rest, r)
				}
			}
			p.Operands["req_to_token"] = pick(o, rest)
			p.Change("req_pool_indices", func(i int, _ float64) float64 { return float64(i) })
			sealTokens(p)
			return true
		}},
	},
	Scenarios: []bench.Scenario{
		{
			ID: "lengths", Why: "lengths around multiples of the page, an empty request, one without new tokens",
			Catches: []string{
				"G7 sgl-project/sglang#23757",
			},
			Shapes: []bench.Shape{
				shape("mha", 4, req{1, 4}, req{3, 5}, req{0, 3}, req{0, 0}, req{2, 17}),
				shape("mha", 16, req{1, 15}, req{4, 16}, req{2, 17}),
			},
		},
		{
			ID: "page-size", Why: "pages of one token, of two, of sizes that are no power of two", Catches: []string{
				"G6 sgl-project/sglang#25556",
			},
			Shapes: []bench.Shape{
				shape("mha", 1, req{1, 4}, req{3, 5}), shape("mha", 2, req{1, 3}, req{3, 6}),
				shape("mha", 53, req{1, 54}, req{3, 53}), shape("mha", 64, req{1, 65}, req{64, 64}),
			},
		},
		{
			ID:     "window",
			Why:    "a prompt longer than the window: its first tokens are not stored",
			Shapes: []bench.Shape{shape("mha", 4, req{12, 12}, req{3, 30}, req{9, 11})},
			Change: bench.Set(bench.Attrs{"window_size": 5.0}),
		},
		{
			ID:     "window-edge",
			Why:    "as many new tokens as the window holds, one fewer, one more",
			Shapes: []bench.Shape{shape("mha", 4, req{7, 9}, req{8, 9}, req{9, 9})},
			Change: bench.Set(bench.Attrs{"window_size": 8.0}),
		},
		{
			ID:     "strided",
			Why:    "every operand is a slice of something wider",
			Shapes: []bench.Shape{shape("mha", 4, req{1, 4}, req{3, 5}, req{2, 17})},
			Layout: map[string]bench.Layout{
				"req_to_token": {Lead: 3, Gap: 5, Tail: 40}, "req_pool_indices": {Lead: 2, Tail: 3}, "seq_lens": {Lead: 1, Tail: 4},
				"qo_indptr": {Lead: 1, Tail: 3},
			},
		},
		longTables(),
		longRequests(),
	},
}

// drawPageTable turns page tables over a shuffled pool into token tables in shuffled rows of a request pool.
func drawPageTable(g bench.Gen) (bench.Problem, error) {
	reqs, page := batch(g.Shape), g.Shape.Dim("page")
	lens, most, pages := make([]int, len(reqs)), 1, spare
	for b, r := range reqs {
		lens[b], most, pages = r.kv, max(most, r.kv), pages+(r.kv+page-1)/page
	}
	table, err := oracle.BuildPageTable(lens, page, g.Perm(pages), 0)
	if err != nil {
		return bench.Problem{}, err
	}
	rows, width := len(reqs)+2, most+3
	tokens := make([]int, rows*width)
	for i := range tokens {
		tokens[i] = g.IntN(pages * page)
	}
	pool := g.Perm(rows)[:len(reqs)]
	for b, n := range lens {
		for j := range n {
			at, err := oracle.PageSlot(table[b], page, j)
			if err != nil {
				return bench.Problem{}, err
			}
			tokens[pool[b]*width+j] = at
		}
	}
	indptr := running(reqs, queries)
	p := bench.Problem{
		Attrs: bench.Attrs{"page_size": float64(page), "window_size": 0.0},
		Operands: map[string]bench.Operand{
			"req_to_token": bench.Ints(tokens, rows, width), "req_pool_indices": bench.Ints(pool, len(reqs)),
			"seq_lens": bench.Ints(lens, len(reqs)), "qo_indptr": bench.Ints(indptr, len(indptr)),
		},
		Outputs: map[string]bench.Output{
			"page_table": bench.OutI32(len(reqs), (most+page-1)/page+1), "kv_indptr": bench.OutI32(len(reqs) + 1),
			"kv_last_page_len": bench.OutI32(len(reqs)), "slot_mapping": bench.OutI32(indptr[len(reqs)]),
		},
	}
	sealTokens(&p)
	return p, nil
}

// sealTokens marks the token table beyond the lengths, and rows of other requests.
func sealTokens(p *bench.Problem) {
	width := p.In("req_to_token").Dim(1)
	lens := map[int]int{}
	for b, r := range p.In("req_pool_indices").Ints() {
		lens[r] = p.In("seq_lens").Ints()[b]
	}
	p.Unread = map[string]func(int) bool{"req_to_token": func(i int) bool { return i%width >= lens[i/width] }}
}

func expectPageTable(_ bench.Case, p bench.Problem) ([]bench.Expected, error) {
	tokens, pool, lens, indptr := p.In("req_to_token"), p.In("req_pool_indices").Ints(), p.In("seq_lens").Ints(),
		p.In("qo_indptr").Ints()
	page, window, shape := p.Attrs.Int("page_size"), p.Attrs.Int("window_size"), p.Outputs["page_table"].Shape
	counts := []float64{0}
	var table, last, slot []float64
	for b, n := range lens {
		row := tokens.Row(pool[b])
		pages := 0
		for i := range shape[1] {
			id := -1.0
			if i*page < n {
				id, pages = float64(int(row[i*page])/page), pages+1
			}
			table = append(table, id)
		}
		counts = append(counts, counts[b]+float64(pages))
		last = append(last, float64(n-max(pages-1, 0)*page))
		for j := n - (indptr[b+1] - indptr[b]); j < n; j++ {
			if window > 0 && j < n-window {
				slot = append(slot, -1)
			} else {
				slot = append(slot, row[j])
			}
		}
	}
	return []bench.Expected{
		bench.Exactly("page_table", table, []string{"request", "page"}, shape...),
		bench.Exactly("kv_indptr", counts, []string{"request"}, len(lens)+1),
		bench.Exactly("kv_last_page_len", last, []string{"request"}, len(lens)),
		bench.Exactly("slot_mapping", slot, []string{"token"}, len(slot)),
	}, nil
}
