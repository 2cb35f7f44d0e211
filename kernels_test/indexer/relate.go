package indexer

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// piece is queries from to to-1 of request b.
type piece struct{ b, from, to int }

// whole lists every request of a paged problem as a piece.
func whole(p bench.Problem) []piece {
	lens := p.In("context_lens")
	var out []piece
	for b := range lens.Dim(0) {
		out = append(out, piece{b, 0, lens.Dim(1)})
	}
	return out
}

// cutPaged is the problem of some pieces, all with as many queries, and the rows of the whole's logits that it gives.
// Keys that a piece's queries do not see are not there yet: their bytes are another's.
func cutPaged(p bench.Problem, pieces []piece) (bench.Problem, []int) {
	c := p.Clone()
	lens := p.In("context_lens")
	n := lens.Dim(1)
	var requests, queries []int
	for _, x := range pieces {
		requests = append(requests, x.b)
		for i := x.from; i < x.to; i++ {
			queries = append(queries, x.b*n+i)
		}
	}
	m := 0
	if len(pieces) > 0 {
		m = pieces[0].to - pieces[0].from
	}
	perQuery := func(name string) {
		o := p.Operands[name]
		o.Shape = append([]int{o.Shape[0] * n}, o.Shape[2:]...)
		o = o.Take(queries)
		o.Shape = append([]int{len(pieces), m}, o.Shape[1:]...)
		c.Operands[name] = o
	}
	perQuery("q")
	perQuery("context_lens")
	c.Take(queries, "weights")
	c.Take(requests, "block_table")
	if o, ok := p.Operands["prefix_lens"]; ok {
		prefix := o.Take(requests)
		for i, x := range pieces {
			if x.from > 0 {
				prefix.Values[i] = lens.Row(x.b)[x.from-1]
			}
		}
		c.Operands["prefix_lens"] = prefix
	}
	c.Resize("logits", len(queries), p.Outputs["logits"].Shape[1])
	sealPaged(&c)
	hidden := c.Unread["pages"]
	c.Change("pages", func(i int, v float64) float64 {
		if hidden(i) {
			return float64((i*37 + 11) % 120)
		}
		return v
	})
	return c, queries
}

// inParts is a relation of a paged problem and some cuts of it.
func inParts(p bench.Problem, groups ...[]piece) bench.Relation {
	var r bench.Relation
	var maps [][]int
	for _, g := range groups {
		part, queries := cutPaged(p, g)
		r.Parts, maps = append(r.Parts, part), append(maps, queries)
	}
	r.Join = bench.PutBack(p, maps...)
	return r
}

func alone(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	var groups [][]piece
	for _, x := range whole(p) {
		groups = append(groups, []piece{x})
	}
	return inParts(p, groups...), nil
}

func permuted(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	pieces := whole(p)
	g.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	return inParts(p, pieces), nil
}

// stepwise runs N queries per request as N calls with one: verify = decode.
func stepwise(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	var groups [][]piece
	for i := range p.In("context_lens").Dim(1) {
		var g []piece
		for _, x := range whole(p) {
			g = append(g, piece{x.b, i, i + 1})
		}
		groups = append(groups, g)
	}
	return inParts(p, groups...), nil
}

// chunked cuts the queries of every request at every given place.
func chunked(cuts ...int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		n := p.In("context_lens").Dim(1)
		ends := append(slices.Clone(cuts), n)
		var groups [][]piece
		from := 0
		for _, to := range ends {
			if to <= from || to > n {
				continue
			}
			var g []piece
			for _, x := range whole(p) {
				g = append(g, piece{x.b, from, to})
			}
			groups = append(groups, g)
			from = to
		}
		return inParts(p, groups...), nil
	}
}

// repaged is the same problem with page i moved to place[i] of a pool.
func repaged(p bench.Problem, place []int, pool int) bench.Problem {
	c := p.Clone()
	o := p.Operands["pages"]
	size := o.Shape[1]
	moved := make([]float64, pool*size)
	for i := range moved {
		moved[i] = float64((i*29 + 5) % 120)
	}
	for i, at := range place {
		if at >= 0 {
			copy(moved[at*size:(at+1)*size], o.Values[i*size:(i+1)*size])
		}
	}
	c.Operands["pages"] = bench.Operand{DType: o.DType, Shape: []int{pool, size}, Values: moved}
	c.Change("block_table", func(_ int, v float64) float64 { return float64(max(place[int(v)], 0)) })
	sealPaged(&c)
	return c
}

// sameRows joins one part that has the whole's rows.
func sameRows(p bench.Problem) func(parts []bench.Results) (bench.Results, error) {
	return bench.PutBack(p, bench.Span(0, p.Outputs["logits"].Shape[0]))
}

// moved puts every page elsewhere in a larger pool: preempted and resumed.
func moved(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	n := p.In("pages").Dim(0)
	return bench.Relation{Parts: []bench.Problem{repaged(p, g.Perm(n + 5)[:n], n+5)}, Join: sameRows(p)}, nil
}

// compacted keeps only pages that are used, in the order of the tables: a pool after defragmentation.
func compacted(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	return bench.Relation{Parts: []bench.Problem{compact(p)}, Join: sameRows(p)}, nil
}

func compact(p bench.Problem) bench.Problem {
	table, page := p.In("block_table"), p.Attrs.Int("page_size")
	place := make([]int, p.In("pages").Dim(0))
	for i := range place {
		place[i] = -1
	}
	next := 0
	for b, n := range longestOf(p) {
		for i := range (n + page - 1) / page {
			if id := int(table.Row(b)[i]); place[id] < 0 {
				place[id] = next
				next++
			}
		}
	}
	return repaged(p, place, max(next, 1))
}

// unshared gives every request pages of its own: a prefix miss.
func unshared(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	c := p.Clone()
	o, table := p.Operands["pages"], p.In("block_table")
	var pages []int
	ids := make([]int, len(table.Data))
	for i, id := range table.Ints() {
		ids[i] = i
		pages = append(pages, id)
	}
	c.Operands["pages"] = o.Take(pages)
	c.Operands["block_table"] = bench.Ints(ids, table.Shape...)
	sealPaged(&c)
	return bench.Relation{Parts: []bench.Problem{c}, Join: sameRows(p)}, nil
}

// unpadded restates the problem with dense operands.
func unpadded(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	c := p.Clone()
	c.Layout = map[string]bench.Layout{}
	return bench.Relation{Parts: []bench.Problem{c}, Join: sameRows(p)}, nil
}
