package indexer

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// cutRagged is queries t0 to t1-1 with only the keys lo to hi-1.
func cutRagged(p bench.Problem, t0, t1, lo, hi int) bench.Problem {
	c := p.Clone()
	c.Take(bench.Span(t0, t1), "q", "weights", "start", "end")
	c.Take(bench.Span(lo, hi), "k", "ks")
	for _, name := range []string{"start", "end"} {
		c.Change(name, func(_ int, v float64) float64 { return v - float64(lo) })
	}
	c.Resize("logits", t1-t0, hi-lo)
	sealRagged(&c)
	return c
}

// raggedParts cuts the queries at ends, each part with the keys of its queries alone.
func raggedParts(p bench.Problem, ends []int) bench.Relation {
	start, end := p.In("start").Ints(), p.In("end").Ints()
	shape := p.Outputs["logits"].Shape
	var r bench.Relation
	type place struct{ t0, t1, lo, hi int }
	var places []place
	from := 0
	for _, to := range ends {
		if to <= from {
			continue
		}
		lo, hi := start[from], end[from]
		for t := from; t < to; t++ {
			lo, hi = min(lo, start[t]), max(hi, end[t])
		}
		if hi == lo {
			hi++ // there is always a row after the last range
		}
		places = append(places, place{from, to, lo, hi})
		r.Parts = append(r.Parts, cutRagged(p, from, to, lo, hi))
		from = to
	}
	r.Join = func(parts []bench.Results) (bench.Results, error) {
		out := make([]float64, shape[0]*shape[1])
		for i := range out {
			out[i] = math.Inf(-1)
		}
		for i, x := range places {
			got, width := parts[i]["logits"], x.hi-x.lo
			if len(got) != (x.t1-x.t0)*width {
				return nil, fmt.Errorf("part %d has %d logits, want %d rows of %d", i, len(got), x.t1-x.t0, width)
			}
			for t := x.t0; t < x.t1; t++ {
				copy(out[t*shape[1]+x.lo:t*shape[1]+x.hi], got[(t-x.t0)*width:])
			}
		}
		return bench.Results{"logits": out}, nil
	}
	return r
}

// sequencesAlone runs every sequence by itself.
func sequencesAlone(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	n := g.Shape.Dim("next")
	var ends []int
	for t := n; t <= p.In("q").Dim(0); t += n {
		ends = append(ends, t)
	}
	return raggedParts(p, ends), nil
}

// raggedChunks cuts the queries at places.
func raggedChunks(cuts ...int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		t := p.In("q").Dim(0)
		var ends []int
		for _, c := range cuts {
			if c < t {
				ends = append(ends, c)
			}
		}
		return raggedParts(p, append(ends, t)), nil
	}
}

// compress asks for compressed rows.
func compress(_ bench.Gen, p *bench.Problem) error {
	start, end := p.In("start").Ints(), p.In("end").Ints()
	width := 1
	for t := range start {
		width = max(width, end[t]-start[t]+2)
	}
	p.Attrs["max_seqlen_k"], p.Attrs["clean_logits"] = float64(width), false
	p.Resize("logits", len(start), width)
	return nil
}

// uncompressed restates compressed rows in full.
func uncompressed(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	c := p.Clone()
	start, end := p.In("start").Ints(), p.In("end").Ints()
	s, width := p.In("k").Dim(0), p.Outputs["logits"].Shape[1]
	c.Attrs["max_seqlen_k"] = 0.0
	c.Resize("logits", len(start), s)
	return bench.Relation{Parts: []bench.Problem{c}, Join: func(parts []bench.Results) (bench.Results, error) {
		got := parts[0]["logits"]
		if len(got) != len(start)*s {
			return nil, fmt.Errorf("the uncompressed call has %d logits, want %d rows of %d", len(got), len(start), s)
		}
		out := make([]float64, len(start)*width)
		for t := range start {
			copy(out[t*width:(t+1)*width], got[t*s+start[t]:t*s+end[t]])
		}
		return bench.Results{"logits": out}, nil
	}}, nil
}

// permutedRows runs the queries in another order.
func permutedRows(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	c := p.Clone()
	order := g.Perm(p.In("q").Dim(0))
	c.Take(order, "q", "weights", "start", "end")
	return bench.Relation{Parts: []bench.Problem{c}, Join: bench.PutBack(p, order)}, nil
}
