package gemm

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// contiguous restates the problem with every operand laid out without gaps.
func contiguous(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	p.Layout = map[string]bench.Layout{}
	return bench.Relation{Parts: []bench.Problem{p}, Join: only}, nil
}

func only(parts []bench.Results) (bench.Results, error) { return parts[0], nil }

// joined puts the outputs of parts one after the other.
func joined(parts []bench.Results) (bench.Results, error) {
	out := bench.Results{}
	for _, r := range parts {
		for name, v := range r {
			out[name] = append(out[name], v...)
		}
	}
	return out, nil
}

// take keeps rows of an operand's first dimension.
func take(p *bench.Problem, name string, rows []int) {
	o := p.Operands[name]
	width := size(o.Shape[1:])
	p.Operands[name] = bench.Operand{
		DType: o.DType, Shape: append([]int{len(rows)}, o.Shape[1:]...), Values: rowsAt(o.Values, width, rows),
	}
}

// keep makes a problem of some rows: operands that have the rows first, and tiles of scales for rows.
func keep(p bench.Problem, rows []int, first, tiled []string) bench.Problem {
	q := p.Clone()
	q.Layout = map[string]bench.Layout{}
	m := p.Outputs["y"].Shape[0]
	for _, name := range first {
		take(&q, name, rows)
	}
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
	shape := slices.Clone(p.Outputs["y"].Shape)
	shape[0] = len(rows)
	y := q.Outputs["y"]
	y.Shape = shape
	q.Outputs["y"] = y
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
		var parts []bench.Problem
		for lo, step := 0, 1; lo < m; lo, step = lo+step, 3*step {
			parts = append(parts, keep(p, rowsFrom(lo, min(step, m-lo)), first, tiled))
		}
		return bench.Relation{Parts: parts, Join: joined}, nil
	}
}

// reversed is the problem with its rows in the opposite order.
func reversed(first, tiled []string) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		rows := rowsFrom(0, p.Outputs["y"].Shape[0])
		slices.Reverse(rows)
		return bench.Relation{
			Parts: []bench.Problem{keep(p, rows, first, tiled)},
			Join: func(parts []bench.Results) (bench.Results, error) {
				y := parts[0]["y"]
				if len(rows) == 0 || len(y)%len(rows) != 0 {
					return nil, fmt.Errorf("y has %d elements and %d rows", len(y), len(rows))
				}
				return bench.Results{"y": rowsAt(y, len(y)/len(rows), rows)}, nil
			},
		}, nil
	}
}

// alone runs a batch, or the buffers of experts, one at a time.
func alone(first ...string) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		var parts []bench.Problem
		for b := range p.Outputs["y"].Shape[0] {
			q := keep(p, []int{b}, first, nil)
			for name, hidden := range p.Unread {
				width := size(p.Operands[name].Shape[1:])
				q.Unread[name] = func(i int) bool { return hidden(b*width + i) }
			}
			parts = append(parts, q)
		}
		return bench.Relation{Parts: parts, Join: joined}, nil
	}
}

// renumbered gives the experts the opposite numbers, their weights with them: no row's result changes.
func renumbered(weights ...string) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		experts := p.In("w").Dim(0)
		back := rowsFrom(0, experts)
		slices.Reverse(back)
		q := p.Clone()
		q.Layout = map[string]bench.Layout{}
		for _, name := range weights {
			take(&q, name, back)
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
