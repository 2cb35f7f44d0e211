package gemm

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// contiguous restates the problem with every operand laid out without gaps.
func contiguous(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	p.Layout = map[string]bench.Layout{}
	return bench.Relation{Parts: []bench.Problem{p}, Join: only}, nil
}

func only(parts []bench.Results) (bench.Results, error) { return parts[0], nil }

// keep makes a problem of some rows: operands that have the rows first, and tiles of scales for rows.
func keep(p bench.Problem, rows []int, first, tiled []string) bench.Problem {
	q := p.Clone()
	q.Layout = map[string]bench.Layout{}
	m := p.Outputs["y"].Shape[0]
	q.Take(rows, first...)
	for _, name := range tiled {
		cols := q.In("x").Dim(1) / 8 // two codes a byte, 16 elements a scale
		linear := make([]float64, 0, m*cols)
		for _, r := range rows {
			for c := range cols {
				linear = append(linear, p.Operands[name].Values[format.SwizzledOffset(r, c, cols)])
			}
		}
		q.Operands[name], q.Unread[name] = retiled(p.Operands[name].DType, linear, len(rows), cols)
	}
	q.Resize("y", append([]int{len(rows)}, p.Outputs["y"].Shape[1:]...)...)
	return q
}

// retiled lays scales [rows, cols] into tiles whose padding holds 2.
func retiled(dtype string, linear []float64, rows, cols int) (bench.Operand, func(i int) bool) {
	pr, pc := format.SwizzledShape(rows, cols)
	o := bench.Operand{DType: dtype, Shape: []int{pr * pc}, Values: make([]float64, pr*pc)}
	used := make([]bool, pr*pc)
	for i := range o.Values {
		o.Values[i] = 2
	}
	for r := range rows {
		for c := range cols {
			at := format.SwizzledOffset(r, c, cols)
			o.Values[at], used[at] = linear[r*cols+c], true
		}
	}
	return o, func(i int) bool { return !used[i] }
}

// inParts splits the rows at uneven places: every row is then computed beside others.
func inParts(first, tiled []string) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		m := p.Outputs["y"].Shape[0]
		var rows [][]int
		for lo, step := 0, 1; lo < m; lo, step = lo+step, 3*step {
			rows = append(rows, bench.Span(lo, min(lo+step, m)))
		}
		return byRows(p, first, tiled, rows...), nil
	}
}

// byRows computes sets of rows.
func byRows(p bench.Problem, first, tiled []string, rows ...[]int) bench.Relation {
	r := bench.Relation{Join: bench.PutBack(p, rows...)}
	for _, which := range rows {
		r.Parts = append(r.Parts, keep(p, which, first, tiled))
	}
	return r
}

// reversed is the problem with its rows in the opposite order.
func reversed(first, tiled []string) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		return byRows(p, first, tiled, bench.Backwards(p.Outputs["y"].Shape[0])[0]), nil
	}
}

// alone runs a batch, or the buffers of experts, one at a time.
func alone(first ...string) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		r := byRows(p, first, nil, bench.ChunksOf(1)(p.Outputs["y"].Shape[0])...)
		for b, part := range r.Parts {
			for name, hidden := range p.Unread {
				width := size(p.Operands[name].Shape[1:])
				part.Unread[name] = func(i int) bool { return hidden(b*width + i) }
			}
		}
		return r, nil
	}
}

// renumbered gives the experts the opposite numbers, their weights with them: no row's result changes.
func renumbered(weights ...string) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		experts := p.In("w").Dim(0)
		back := bench.Backwards(experts)[0]
		q := p.Clone()
		q.Layout = map[string]bench.Layout{}
		for _, name := range weights {
			q.Take(back, name)
			if hidden := p.Unread[name]; hidden != nil {
				width := size(p.Operands[name].Shape[1:])
				q.Unread[name] = func(i int) bool { return hidden(back[i/width]*width + i%width) }
			}
		}
		q.Change("expert", func(_ int, v float64) float64 {
			if v < 0 {
				return v
			}
			return float64(experts-1) - v
		})
		return bench.Relation{Parts: []bench.Problem{q}, Join: only}, nil
	}
}

// rowsApart quantises two rows at a time.
func rowsApart(g bench.Gen, p bench.Problem) (bench.Relation, error) {
	r, err := bench.InPieces(map[string]bool{"x": true}, bench.ChunksOf(2))(g, p)
	r.Exact = true
	return r, err
}
