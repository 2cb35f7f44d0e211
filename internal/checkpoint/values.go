package checkpoint

import (
	"context"
	"fmt"
	"math"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/safetensors"
)

// valuesOf is weightIn for a tensor of any shape: a vector is taken as one column.
func (p *patient) valuesOf(t *tensor) (weight, bool) {
	if w, ok := p.weightIn(t); ok {
		return w, true
	}
	n := t.info.Elements()
	if n == 0 || !isFloat(t.info.DType) || t.odd() || t.weight != nil {
		return weight{}, false
	}
	return weight{t: t, rows: n, cols: 1}, true
}

// strip is decoded rows with the half steps around them.
type strip struct {
	v            []float64
	below, above []float64 // nil for float storage: u is used
	u, eta       float64   // of the stored float format: |v - w| <= u |w| + eta when w was rounded to v
}

// stripRows is a number of rows of about a quarter of a million values, in whole blocks.
func (w weight) stripRows() int {
	n := max(1, (1<<18)/max(1, w.cols))
	if w.w != nil {
		a := w.w.Align()
		n = (n + a - 1) / a * a
	}
	return n
}

func (w weight) strip(from, to int) (strip, error) {
	if w.flip {
		return w.columns(from, to)
	}
	if w.w != nil && !w.w.Plain() {
		var s strip
		var err error
		s.v, s.below, s.above, err = w.w.Strip(from, to)
		return s, err
	}
	if w.t.info.DType == safetensors.F64 {
		v, err := w.w.Read(from, to)
		return strip{v: v, u: 0x1p-53}, err
	}
	f, err := format.ByDType(string(w.t.info.DType))
	if err != nil {
		return strip{}, fmt.Errorf("%s: %w", w.t.stored, err)
	}
	raw, err := w.bytes(from, to)
	if err != nil {
		return strip{}, err
	}
	v, err := format.DecodeBytes(f, raw)
	return strip{v: v, u: f.U(), eta: f.Eta()}, err
}

// flipped is the weight read by columns, as one whose inputs are its rows.
func (w weight) flipped() weight {
	w.rows, w.cols, w.flip = w.cols, w.rows, !w.flip
	return w
}

// columns is strip of a flipped weight: columns [from, to) become rows. All rows are read, a strip of them at a time.
func (w weight) columns(from, to int) (strip, error) {
	inner := w.flipped()
	out := strip{v: make([]float64, (to-from)*w.cols)}
	step := inner.stripRows()
	for r := 0; r < inner.rows; r += step {
		s, err := inner.strip(r, min(r+step, inner.rows))
		if err != nil {
			return out, err
		}
		out.u, out.eta = s.u, s.eta
		if s.below != nil && out.below == nil {
			out.below, out.above = make([]float64, len(out.v)), make([]float64, len(out.v))
		}
		for i := range len(s.v) / inner.cols {
			for c := from; c < to; c++ {
				at, of := (c-from)*w.cols+r+i, i*inner.cols+c
				out.v[at] = s.v[of]
				if out.below != nil {
					out.below[at], out.above[at] = s.below[of], s.above[of]
				}
			}
		}
	}
	return out, nil
}

// bytes reads rows of a tensor that is stored without scales.
func (w weight) bytes(from, to int) ([]byte, error) {
	s, err := w.t.file.Section(w.t.stored)
	if err != nil {
		return nil, err
	}
	row := int64(w.cols * w.t.info.DType.Bits() / 8)
	raw := make([]byte, int64(to-from)*row)
	if n, err := s.ReadAt(raw, int64(from)*row); n < len(raw) {
		return nil, fmt.Errorf("%s: byte %d cannot be read: %w", w.t.stored, int64(from)*row+int64(n), err)
	}
	return raw, nil
}

// reach is how far w may lie below or above element i.
func (s strip) reach(i int, w float64) (below, above float64) {
	if s.below != nil {
		return s.below[i], s.above[i]
	}
	h := s.u*math.Abs(w) + s.eta
	return h, h
}

// quantiserSlack allows for a quantiser that divides by the scale in fp32: one rounding of the quotient and
// one of the product move the tie by at most 2^-23 of the value.
const quantiserSlack = 0x1p-22

// outside tells by how many half steps a value differs from the base's; at most 1 is rounding.
func outside(v, w strip, i int) float64 {
	d := w.v[i] - v.v[i]
	if d == 0 {
		return 0
	}
	below, above := v.reach(i, w.v[i])
	h := above
	if d < 0 {
		h = below
	}
	if w.below != nil { // the base is rounded too
		h += math.Max(w.below[i], w.above[i])
	} else if w.u > 0x1p-24 {
		h += w.u * math.Abs(w.v[i])
	}
	h += quantiserSlack * math.Abs(w.v[i]) * step(v.below != nil)
	if math.IsNaN(d) {
		return math.Inf(1)
	}
	return math.Abs(d) / h // h is 0 only for a zero in a format without subnormals: then d counts in full
}

func step(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// deviation compares strip by strip.
func deviation(ctx context.Context, v, w weight) (Deviation, error) {
	var d Deviation
	var num, den float64
	n := max(v.stripRows(), w.stripRows())
	for from := 0; from < v.rows; from += n {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		to := min(from+n, v.rows)
		a, err := v.strip(from, to)
		if err != nil {
			return d, err
		}
		b, err := w.strip(from, to)
		if err != nil {
			return d, err
		}
		for i := range a.v {
			h := outside(a, b, i)
			if h > 1 {
				d.Outside++
			}
			d.HalfSteps = max(d.HalfSteps, h)
			num += (a.v[i] - b.v[i]) * (a.v[i] - b.v[i])
			den += b.v[i] * b.v[i]
		}
	}
	if den > 0 {
		d.RelL2 = math.Sqrt(num / den)
	}
	return d, nil
}
