package checkpoint

import (
	"math"

	"github.com/assay-suite/assay/internal/quant"
)

// matrix is a decoded corner of a weight, row-major.
type matrix struct {
	rows, cols int
	data       []float64
}

func (m matrix) row(i int) []float64 { return m.data[i*m.cols : (i+1)*m.cols] }

// weight is a matrix that can be read in ranges of rows.
type weight struct {
	t          *tensor
	q          *coded // nil when stored without scales
	w          *quant.Weight
	rows, cols int
	flip       bool // read by columns: rows and cols are exchanged
}

// weightIn gives a readable weight; ok is false for what cannot be dequantised, or holds what is not finite.
func (p *patient) weightIn(t *tensor) (weight, bool) {
	if t == nil || t.info == nil || t.weight == nil || t.info.Elements() == 0 || t.odd() || t.part != quant.None {
		return weight{}, false
	}
	w := weight{t: t, w: t.weight, rows: t.weight.Total(), cols: t.weight.Cols}
	if w.rows == 0 || w.cols == 0 {
		return weight{}, false
	}
	if q := p.codedOf(t); q != nil {
		for _, part := range []*tensor{q.scale, q.global} {
			if part != nil && part.odd() {
				return weight{}, false
			}
		}
		if v, ok := q.global.scalar(); ok && !(v > 0 && v <= math.MaxFloat32) {
			return weight{}, false
		}
		w.q = q
	}
	return w, true
}

// odd tells a tensor in which the scan found NaN or infinity.
func (t *tensor) odd() bool { return t.scan.nans+t.scan.infs > 0 }

// corner decodes the first rows and columns, at least as many as asked for where there are as many.
func (w weight) corner(rows, cols int) (matrix, error) {
	v, r, c, err := w.w.Corner(rows, cols)
	return matrix{r, c, v}, err
}
