package checkpoint

import (
	"fmt"

	"github.com/assay-suite/assay/numerics/format"
)

// matrix is a decoded corner of a weight, row-major.
type matrix struct {
	rows, cols int
	data       []float64
}

func (m matrix) row(i int) []float64 { return m.data[i*m.cols : (i+1)*m.cols] }

// weight is a quantised or plain matrix that can be read in ranges of rows.
type weight struct {
	t          *tensor
	q          *quant // nil when stored without scales
	rows, cols int
	global     float32
}

// weightIn gives a readable weight; ok is false for what cannot be dequantised.
func (p *patient) weightIn(t *tensor) (weight, bool) {
	if t == nil || t.info == nil || len(t.info.Shape) != 2 || t.info.Elements() == 0 || t.odd() {
		return weight{}, false
	}
	w := weight{t: t, rows: t.info.Shape[0], cols: t.info.Shape[1]}
	if q := p.quantOf(t); q != nil {
		if !q.fits() || q.scale.odd() {
			return weight{}, false
		}
		w.q, w.cols = q, q.cols
		if q.scheme == nvfp4 {
			v, ok := q.global.scalar()
			if !ok || !(v > 0 && v <= format.FP32.Max()) {
				return weight{}, false
			}
			w.global = float32(v)
		}
		return w, true
	}
	return w, isFloat(t.info.DType)
}

// odd tells a tensor in which the scan found NaN or infinity.
func (t *tensor) odd() bool { return t.scan.nans+t.scan.infs > 0 }

// quantised reads the codes and scales of rows [from, to); from is a multiple of the block's rows.
func (w weight) quantised(from, to int) (format.Quantised, format.Block, error) {
	b, _ := w.q.block()
	codes, err := w.t.file.Rows(w.t.stored, from, to)
	if err != nil {
		return format.Quantised{}, b, err
	}
	sr0, _ := b.ScaleShape(from, w.cols)
	sr1, _ := b.ScaleShape(to, w.cols)
	scales, err := w.q.scale.file.Rows(w.q.scale.stored, sr0, sr1)
	return format.Quantised{Rows: to - from, Cols: w.cols, Codes: codes, Scales: scales, TensorScale: w.global}, b, err
}

// corner decodes the first rows and columns. For quantised weights cols is rounded down to whole blocks
// unless it is all of them.
func (w weight) corner(rows, cols int) (matrix, error) {
	rows, cols = min(rows, w.rows), min(cols, w.cols)
	if w.q == nil {
		raw, err := w.t.file.Rows(w.t.stored, 0, rows)
		if err != nil {
			return matrix{}, err
		}
		f, err := format.ByDType(string(w.t.info.DType))
		if err != nil {
			return matrix{}, fmt.Errorf("%s: %w", w.t.stored, err)
		}
		size := f.Width() / 8
		data, err := format.DecodeBytes(f, slice(raw, rows, w.cols*size, cols*size))
		return matrix{rows, cols, data}, err
	}
	q, b, err := w.quantised(0, rows)
	if err != nil {
		return matrix{}, err
	}
	if cols < w.cols {
		cols -= cols % b.BlockCols
		_, all := b.ScaleShape(rows, w.cols)
		sr, sc := b.ScaleShape(rows, cols)
		size := b.Scale.Width() / 8
		q.Codes = slice(q.Codes, rows, w.cols*b.Element.Width()/8, cols*b.Element.Width()/8)
		q.Scales = slice(q.Scales, sr, all*size, sc*size)
		q.Cols = cols
	}
	data, err := b.Decode(q)
	if err != nil {
		return matrix{}, fmt.Errorf("%s: %w", w.t.stored, err)
	}
	return matrix{rows, cols, data}, nil
}

// slice keeps the first keep of wide bytes in every row.
func slice(raw []byte, rows, wide, keep int) []byte {
	if keep == wide {
		return raw
	}
	out := make([]byte, 0, rows*keep)
	for r := range rows {
		out = append(out, raw[r*wide:r*wide+keep]...)
	}
	return out
}
