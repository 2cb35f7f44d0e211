package format

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Quantise stores x [rows, cols], row by row, in the recipe's block format; Block.Decode reads it
// back. A format with a tensor scale takes it from the largest magnitude of x. It reports a recipe
// or a shape that does not fit, and a tensor scale that would be 0 or not finite.
func (r Recipe) Quantise(x []float32, rows, cols int) (Quantised, error) {
	return r.QuantiseShared(x, rows, cols, 0)
}

// QuantiseShared is Quantise with the largest magnitude that a two-level format's tensor scale is
// taken from: ModelOpt shares one between w1 and w3 of an expert, and activations have a recorded
// one. 0 takes x's own.
func (r Recipe) QuantiseShared(x []float32, rows, cols int, tensorAmax float32) (Quantised, error) {
	b := r.Block
	q := Quantised{Rows: rows, Cols: cols}
	if err := r.Validate(); err != nil {
		return q, err
	}
	if rows < 0 || cols < 0 || cols > 0 && len(x)/cols != rows || len(x) != rows*cols {
		return q, fmt.Errorf("recipe %q: %d values do not fill shape [%d, %d]", r.Name, len(x), rows, cols)
	}
	if cols*b.Element.Width()%8 != 0 {
		return q, fmt.Errorf("recipe %q: %d columns of %d-bit %s do not fill whole bytes, so rows cannot be stored apart",
			r.Name, cols, b.Element.Width(), b.Element.Name)
	}
	if r.BF16First {
		rounded := make([]float32, len(x))
		for i, v := range x {
			rounded[i] = DecodeBF16(EncodeBF16(v))
		}
		x = rounded
	}
	var t tensorFactors
	if b.TensorScale {
		if tensorAmax == 0 {
			tensorAmax = r.amax(x, 1, len(x), len(x))
		}
		if t = r.tensorScale(tensorAmax); !(t.scale > 0 && t.scale <= math.MaxFloat32) {
			return q, fmt.Errorf("recipe %q: the tensor's largest magnitude is %v, which gives a tensor scale of %v; give one "+
				"whose scale is positive and finite", r.Name, tensorAmax, t.scale)
		}
		q.TensorScale = t.scale
	}
	quotient := make([]float32, len(x))
	sr, sc := b.ScaleShape(rows, cols)
	q.Scales = make([]byte, 0, sr*sc*b.Scale.Width()/8)
	for i := 0; i < rows; i += b.BlockRows {
		for j := 0; j < cols; j += b.BlockCols {
			h, w, at := min(b.BlockRows, rows-i), min(b.BlockCols, cols-j), i*cols+j
			code, scale := r.scale(r.amax(x[at:], h, w, cols), t)
			if b.Scale.Width() == 8 {
				q.Scales = append(q.Scales, byte(code))
			} else {
				q.Scales = binary.LittleEndian.AppendUint32(q.Scales, code)
			}
			for k := range h {
				r.divide(quotient[at+k*cols:at+k*cols+w], x[at+k*cols:], scale)
			}
		}
	}
	var err error
	if q.Codes, err = AppendEncoded(nil, b.Element, quotient, r.Rounding, r.Saturation); err != nil {
		return q, fmt.Errorf("recipe %q: %w", r.Name, err)
	}
	if r.ZeroSign == SignCleared {
		q.Codes, err = clearZeroSigns(q.Codes, b.Element)
	}
	return q, err
}

// amax is the largest magnitude in h rows of w values, the rows stride apart.
func (r Recipe) amax(x []float32, h, w, stride int) float32 {
	var m uint32 // words of magnitudes order as their values do, and NaN above infinity
	for k := range h {
		row := x[k*stride : k*stride+w]
		if r.AmaxNaN == NaNIgnored {
			for _, v := range row {
				if a := math.Float32bits(v) & 0x7fffffff; a <= 0x7f800000 {
					m = max(m, a)
				}
			}
			continue
		}
		for _, v := range row {
			m = max(m, math.Float32bits(v)&0x7fffffff)
		}
	}
	return math.Float32frombits(m)
}

// divide writes x/scale for as many values as dst holds. A power of two whose reciprocal is normal
// may be multiplied with instead: both are the same real number, rounded once.
func (r Recipe) divide(dst, x []float32, scale float32) {
	x = x[:len(dst)]
	w := math.Float32bits(scale)
	exact := w&(1<<23-1) == 0 && w >= 1<<23 && w <= 253<<23
	switch inv := 1 / scale; {
	case r.ElementOp == Multiply || exact:
		for i, v := range x {
			dst[i] = v * inv
		}
	default:
		for i, v := range x {
			dst[i] = v / scale
		}
	}
	if r.ZeroSign == SignOfNegative {
		zero := 0 / scale // NaN if the scale is 0 or NaN
		for i, v := range x {
			if v == 0 {
				dst[i] = zero // -0 is not below zero
			}
		}
	}
}

// clearZeroSigns makes every -0 a +0.
func clearZeroSigns(raw []byte, f Format) ([]byte, error) {
	switch f.Width() {
	case 8:
		for i, c := range raw {
			if c == 0x80 {
				raw[i] = 0
			}
		}
		return raw, nil
	case 4:
		for i, c := range raw {
			if c&0x0f == 0x08 {
				c &^= 0x08
			}
			if c&0xf0 == 0x80 {
				c &^= 0x80
			}
			raw[i] = c
		}
		return raw, nil
	}
	codes, err := UnpackCodes(f, raw)
	if err != nil {
		return nil, err
	}
	for i, c := range codes {
		if c == 1<<(f.Width()-1) {
			codes[i] = 0
		}
	}
	return PackCodes(f, codes)
}
