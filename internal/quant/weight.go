package quant

import (
	"fmt"
	"maps"

	"github.com/assay-suite/assay/safetensors"
)

// Weight is one matrix of a checkpoint, or several of one shape behind each other (the experts of a fused tensor), with
// everything that decodes it. It may be used by several goroutines.
type Weight struct {
	Module string           // "model.layers.0.self_attn.q_proj"
	Info   safetensors.Info // the tensor of the codes
	Layout string           // one of the constants
	Detail string           // "scale F32 per 128 x 128"
	Slices int              // experts of a fused tensor; 1 otherwise
	Rows   int              // of one slice, in elements
	Cols   int

	// InputMajor tells that rows are inputs and columns outputs (GPTQ, AWQ), the transpose of a linear layer's weight.
	InputMajor bool

	params Params
	parts  map[Part]string
	store  Store
	elem   codec
	scale  grid
	zero   grid
	bias   grid
	factor []float64 // one for the tensor or one a slice; nil is 1
	full   int       // stored columns, where fewer are read
	order  []int     // scale row of every row, or scale column of every column where order is by columns
}

// Name is the stored name of the codes.
func (w *Weight) Name() string { return w.Info.Name }

// Part gives the stored name of a part, "" where the weight has none.
func (w *Weight) Part(p Part) string { return w.parts[p] }

// Parts gives all stored tensors that make up the weight, by what they are.
func (w *Weight) Parts() map[Part]string { return maps.Clone(w.parts) }

// Plain tells a weight that is stored in a float dtype without scales.
func (w *Weight) Plain() bool { return w.Layout == Plain }

// Declared is what the checkpoint says of the weight.
func (w *Weight) Declared() Params { return w.params }

// Order gives the group of every input where they are not in order (act-order); nil where they are.
func (w *Weight) Order() []int { return w.order }

// Total is the number of rows of all slices.
func (w *Weight) Total() int { return w.Slices * w.Rows }

// Elements is the number of values.
func (w *Weight) Elements() int { return w.Total() * w.Cols }

// Block is how many rows and columns share a scale; 0, 0 without scales.
func (w *Weight) Block() (rows, cols int) {
	if w.scale.name == "" {
		return 0, 0
	}
	return w.scale.blockRows, w.scale.blockCols
}

// Align is the number of rows that a range must be a multiple of to be read without reading a stored row twice.
func (w *Weight) Align() int {
	n := 1
	if w.scale.name != "" && w.scale.blockRows < w.Rows {
		n = max(n, w.scale.blockRows)
	}
	if w.elem.kind == down {
		n = max(n, 32)
	}
	return n
}

// Read decodes rows [from, to) of all slices together to float64, row by row. Every product of a code with its scale is
// exact; a factor that divides, and an added bias, round once.
func (w *Weight) Read(from, to int) ([]float64, error) {
	v, _, _, err := w.decode(from, to, false)
	return v, err
}

// Strip is Read with half the distance to the neighbouring representable values: a value that was rounded to nearest
// under the stored scale lies in [v-below, v+above]. For a float layout both are nil.
func (w *Weight) Strip(from, to int) (v, below, above []float64, err error) {
	return w.decode(from, to, !w.Plain())
}

// Corner decodes the first rows and columns, at least those asked for where there are as many; it gives how many of
// each.
func (w *Weight) Corner(rows, cols int) (v []float64, r, c int, err error) {
	rows, cols = min(rows, w.Total()), (cols+31)/32*32
	if cols >= w.Cols || w.elem.kind == down {
		v, err = w.Read(0, rows)
		return v, rows, w.Cols, err
	}
	part := *w
	part.full, part.Cols = w.Cols, cols
	v, err = part.Read(0, rows)
	return v, rows, cols, err
}

// width is the number of stored columns.
func (w *Weight) width() int {
	if w.full > 0 {
		return w.full
	}
	return w.Cols
}

func (w *Weight) decode(from, to int, steps bool) (v, below, above []float64, err error) {
	if from < 0 || to < from || to > w.Total() {
		return nil, nil, nil, fmt.Errorf("%s: rows %d to %d of %d", w.Name(), from, to, w.Total())
	}
	v, err = w.elem.read(w, from, to)
	if err != nil {
		return nil, nil, nil, err
	}
	if steps {
		below, above = w.elem.gaps(v)
	}
	if w.zero.name != "" {
		z, err := w.zero.rowsFor(w, from, to)
		if err != nil {
			return nil, nil, nil, err
		}
		w.each(&w.zero, z, from, to, func(i int, zero float64) { v[i] -= zero })
	}
	if w.scale.name != "" || w.factor != nil {
		s := gridRows{}
		if w.scale.name != "" {
			if s, err = w.scale.rowsFor(w, from, to); err != nil {
				return nil, nil, nil, err
			}
		}
		w.each(&w.scale, s, from, to, func(i int, scale float64) {
			v[i] *= scale
			if below != nil {
				below[i], above[i] = below[i]*scale, above[i]*scale
				if below[i] < 0 { // a negative scale mirrors the codes
					below[i], above[i] = -above[i], -below[i]
				}
			}
		})
	}
	if w.bias.name != "" {
		b, err := w.bias.rowsFor(w, from, to)
		if err != nil {
			return nil, nil, nil, err
		}
		w.each(&w.bias, b, from, to, func(i int, bias float64) { v[i] += bias })
	}
	return v, below, above, nil
}

// each calls f with the grid's value at every element of rows [from, to); without a grid the value is the factor alone.
func (w *Weight) each(g *grid, rows gridRows, from, to int, f func(i int, value float64)) {
	at := 0
	for r := from; r < to; r++ {
		factor := 1.0
		if g == &w.scale && w.factor != nil {
			factor = w.factor[0]
			if len(w.factor) > 1 {
				factor = w.factor[r/w.Rows]
			}
			if w.params.Divide {
				factor = 1 / factor
			}
		}
		switch {
		case g.name == "":
			for range w.Cols {
				f(at, factor)
				at++
			}
		case g.flat > 0:
			for c := range w.Cols {
				f(at, factor*rows.v[(r*w.width()+c)/g.flat-rows.base])
				at++
			}
		default:
			row := rows.row(g, w.gridRow(g, r))
			switch {
			case w.order != nil && !w.InputMajor:
				for c := range w.Cols {
					f(at, factor*row[w.order[c]])
					at++
				}
			default:
				for c := range w.Cols {
					f(at, factor*row[c/g.blockCols])
					at++
				}
			}
		}
	}
}

// gridRow is the row of the grid, of all slices together, for a row of the weight.
func (w *Weight) gridRow(g *grid, r int) int {
	if w.order != nil && w.InputMajor {
		return w.order[r]
	}
	return r/w.Rows*g.rows + r%w.Rows/g.blockRows
}
