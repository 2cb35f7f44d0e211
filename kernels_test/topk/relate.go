package topk

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// relateScenarios restate rows (metamorphic checks). Their scores are distinct, so that every right answer has the
// same sets.
func relateScenarios(paged bool) []bench.Scenario {
	distinct := edit(reversedBits)
	scenarios := []bench.Scenario{
		{
			ID:     "alone",
			Why:    "every query alone gives its result in the batch",
			Shapes: nano(9),
			Change: distinct,
			Relate: relateRows(func(_ bench.Gen, rows int) [][]int { return bench.Alone(rows) }),
		},
		{
			ID:     "permuted-rows",
			Why:    "the queries in another order",
			Shapes: join(nano(9), flash(4)),
			Change: distinct,
			Relate: relateRows(permuted),
		},
		{
			ID:     "chunked-rows",
			Why:    "the queries in launches of 1, 2, 3, ...",
			Shapes: nano(17),
			Change: distinct,
			Relate: relateRows(growing),
		},
		{
			ID:     "narrower",
			Why:    "a buffer of scores that ends with the longest row",
			Shapes: nano(9),
			Change: edit(lengths(func(g gen, t int) int { return g.k + 3*t }), reversedBits),
			Relate: relateNarrow,
		},
		{
			ID:     "scaled",
			Why:    "all scores times 1/8: the same choice",
			Shapes: join(nano(9), flash(4)),
			Change: distinct,
			Relate: relateScaled,
		},
	}
	if paged {
		scenarios = append(scenarios[:2:2],
			bench.Scenario{
				ID:     "shuffled-pages",
				Why:    "the pages moved to other places",
				Shapes: join(nano(9), flash(4)),
				Change: distinct,
				Relate: relatePages,
			},
			bench.Scenario{
				ID:     "other-page-size",
				Why:    "pages of half the size, two in place of each",
				Shapes: join(nano(9), flash(4)),
				Change: distinct,
				Relate: relateHalves,
			},
		)
	}
	for i := range scenarios {
		scenarios[i].Contracts = open
	}
	return scenarios
}

func permuted(g bench.Gen, rows int) [][]int { return [][]int{g.Perm(rows)} }

// growing are launches of 1, 2, 3, ... queries.
func growing(_ bench.Gen, rows int) [][]int {
	var out [][]int
	for from, n := 0, 1; from < rows; from, n = from+n, n+1 {
		out = append(out, bench.Span(from, min(from+n, rows)))
	}
	return out
}

// relateRows runs groups of queries on their own.
func relateRows(cut func(g bench.Gen, rows int) [][]int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(g bench.Gen, p bench.Problem) (bench.Relation, error) {
		perQuery := map[string]bool{"scores": true, "lengths": true, "request": true}
		r, err := bench.InPieces(perQuery, func(rows int) [][]int { return cut(g, rows) })(g, p)
		for i := range r.Parts {
			hide(&r.Parts[i])
		}
		r.Exact = true
		return r, err
	}
}

// relateNarrow cuts off the columns that nobody sees.
func relateNarrow(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	longest := slices.Max(p.In("lengths").Ints())
	out, scores := p.Clone(), p.In("scores")
	var v []float64
	for t := range scores.Dim(0) {
		v = append(v, scores.Row(t)[:longest]...)
	}
	out.Operands["scores"] = bench.Operand{DType: bench.F32, Shape: []int{scores.Dim(0), longest}, Values: v}
	hide(&out)
	return one(out, nil), nil
}

// relateScaled multiplies by a power of two.
func relateScaled(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	p.Change("scores", func(_ int, v float64) float64 { return v / 8 })
	return one(p, nil), nil
}

// one is a single part whose slots are translated back, by query.
func one(p bench.Problem, back func(t, v int) int) bench.Relation {
	k := p.Attrs.Int("top_k")
	return bench.Relation{Parts: []bench.Problem{p}, Exact: true, Join: func(got []bench.Results) (bench.Results, error) {
		out := slices.Clone(got[0]["indices"])
		if back != nil {
			for i, v := range out {
				if v >= 0 {
					out[i] = float64(back(i/k, int(v)))
				}
			}
		}
		return bench.Results{"indices": out}, nil
	}}
}

// relatePages gives every page another id.
func relatePages(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	table, size := p.In("block_table"), p.Attrs.Int("page_size")
	home := map[int]int{}
	ids := g.Perm(len(table.Data))
	moved := p.Clone()
	moved.Change("block_table", func(i int, v float64) float64 {
		home[1000+ids[i]] = int(v)
		return float64(1000 + ids[i])
	})
	hide(&moved)
	return one(moved, func(_, row int) int {
		id, ok := home[row/size]
		if !ok {
			return -1
		}
		return id*size + row%size
	}), nil
}

// relateHalves says every page as two of half the size, at 2·id and 2·id+1: the same rows.
func relateHalves(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	table := p.In("block_table")
	out := p.Clone()
	v := make([]float64, 0, 2*len(table.Data))
	for _, id := range table.Data {
		v = append(v, 2*id, 2*id+1)
	}
	out.Operands["block_table"] = bench.Operand{DType: bench.I32, Shape: []int{table.Dim(0), 2 * table.Dim(1)}, Values: v}
	out.Attrs["page_size"] = p.Attrs.Num("page_size") / 2
	hide(&out)
	return one(out, nil), nil
}
