package layers

import (
	"fmt"
	"math"
)

// Curve is an error by row and depth: Abs[row][l] is ||got − want||₂ of the state after layer l+1, Ref[row][l] is
// ||want||₂.
type Curve struct {
	Abs, Ref [][]float64
}

// CurveOf compares two lists of states, one per depth, each [rows, width]. A NaN in a state makes its error NaN.
func CurveOf(got, want [][]float64, rows int) (Curve, error) {
	if len(got) != len(want) || len(got) == 0 {
		return Curve{}, fmt.Errorf("%d states against %d: want as many of both, at least 1", len(got), len(want))
	}
	c := newCurve(rows)
	for l := range got {
		if err := c.add(got[l], want[l]); err != nil {
			return Curve{}, fmt.Errorf("depth %d: %w", l+1, err)
		}
	}
	return c, nil
}

func newCurve(rows int) Curve {
	return Curve{make([][]float64, max(rows, 0)), make([][]float64, max(rows, 0))}
}

// add appends one depth.
func (c *Curve) add(got, want []float64) error {
	abs, ref, err := rowNorms(got, want, len(c.Abs))
	if err != nil {
		return err
	}
	for r := range abs {
		c.Abs[r], c.Ref[r] = append(c.Abs[r], abs[r]), append(c.Ref[r], ref[r])
	}
	return nil
}

// rowNorms returns ||got − want|| and ||want|| of every row.
func rowNorms(got, want []float64, rows int) (abs, ref []float64, err error) {
	if rows < 1 || len(got) != len(want) || len(got) == 0 || len(got)%rows != 0 {
		return nil, nil, fmt.Errorf("states of %d and %d values do not fill %d rows of one width", len(got), len(want), rows)
	}
	width := len(got) / rows
	abs, ref = make([]float64, rows), make([]float64, rows)
	for r := range rows {
		var d2, w2 float64
		for i := r * width; i < (r+1)*width; i++ {
			d := got[i] - want[i]
			d2, w2 = d2+d*d, w2+want[i]*want[i]
		}
		abs[r], ref[r] = math.Sqrt(d2), math.Sqrt(w2)
	}
	return abs, ref, nil
}

// Depths is the number of layers measured.
func (c Curve) Depths() int {
	if len(c.Abs) == 0 {
		return 0
	}
	return len(c.Abs[0])
}

// Depth is 1, 2, ..., Depths().
func (c Curve) Depth() []float64 {
	d := make([]float64, c.Depths())
	for l := range d {
		d[l] = float64(l + 1)
	}
	return d
}

// Relative is the relative error of every row by depth; +Inf where only the reference vanishes, 0 where both do.
func (c Curve) Relative() [][]float64 {
	out := make([][]float64, len(c.Abs))
	for r := range out {
		out[r] = make([]float64, len(c.Abs[r]))
		for l := range out[r] {
			out[r][l] = quotient(c.Abs[r][l], c.Ref[r][l])
		}
	}
	return out
}

// RMS is the relative error of all rows together by depth: sqrt(Σ||got − want||² / Σ||want||²).
func (c Curve) RMS() []float64 {
	out := make([]float64, c.Depths())
	for l := range out {
		out[l] = quotient(norm(c.Abs, l), norm(c.Ref, l))
	}
	return out
}

// Law is the power law of the relative error over rows and all depths (Slopes).
func (c Curve) Law(confidence float64) (Law, error) {
	return Slopes(c.Depth(), c.Relative(), confidence)
}

// norm is the root of the sum of squares of one depth over the rows.
func norm(v [][]float64, l int) float64 {
	var sum float64
	for _, row := range v {
		sum += row[l] * row[l]
	}
	return math.Sqrt(sum)
}

func quotient(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a / b
}
