package format

import (
	"fmt"
	"math"
)

// Block is a block-scaled matrix format as data: element codes times a scale for each BlockRows x
// BlockCols block, and for NVFP4 a scale for the tensor.
type Block struct {
	Name                 string
	Element, Scale       Format
	BlockRows, BlockCols int
	TensorScale          bool // a further fp32 factor for the whole tensor
}

// Quantised is a matrix as stored: Rows = N (output channels), Cols = K (the reduction axis, never
// halved for packing). Codes are the element bytes row by row, Scales the block scales row by row.
// TensorScale must be set for a Block with TensorScale, and 0 for the others.
type Quantised struct {
	Rows, Cols    int
	Codes, Scales []byte
	TensorScale   float32
}

// ScaleShape is the number of block scales along each axis of a [rows, cols] matrix.
func (b Block) ScaleShape(rows, cols int) (int, int) {
	return (rows + b.BlockRows - 1) / b.BlockRows, (cols + b.BlockCols - 1) / b.BlockCols
}

// Decode dequantises to [Rows, Cols] float64, row by row: element x block scale x tensor scale. The
// factors have at most 4, 4 and 24 significant bits and exponents far inside float64's, so every
// product is exact (with an fp32 block scale, 4 + 24 bits, too). A checkpoint loader that
// multiplies in bf16 rounds this value once more. A NaN scale or code gives NaN.
func (b Block) Decode(q Quantised) ([]float64, error) {
	out, scales, err := b.parts(q)
	if err != nil {
		return nil, err
	}
	b.scaleRows(q, out, scales)
	return out, nil
}

// parts decodes elements and block scales, the latter with the tensor scale in them, after checking
// every shape.
func (b Block) parts(q Quantised) (elems, scales []float64, err error) {
	if q.Rows < 0 || q.Cols < 0 {
		return nil, nil, fmt.Errorf("%s: shape [%d, %d] is negative", b.Name, q.Rows, q.Cols)
	}
	if b.BlockRows < 1 || b.BlockCols < 1 {
		return nil, nil, fmt.Errorf("%s: blocks of %d x %d; both sides must be at least 1", b.Name, b.BlockRows, b.BlockCols)
	}
	if q.Rows > 0 && q.Cols > math.MaxInt/64/q.Rows {
		return nil, nil, fmt.Errorf("%s: shape [%d, %d] has more elements than memory can hold; the stored shape is wrong",
			b.Name, q.Rows, q.Cols)
	}
	if q.Cols*b.Element.Width()%8 != 0 {
		return nil, nil, fmt.Errorf("%s: %d columns of %d-bit %s do not fill whole bytes, so rows cannot be stored apart",
			b.Name, q.Cols, b.Element.Width(), b.Element.Name)
	}
	if want := q.Rows * q.Cols * b.Element.Width() / 8; len(q.Codes) != want {
		return nil, nil, fmt.Errorf("%s: [%d, %d] needs %d bytes of %s codes, got %d (Cols counts elements, not packed "+
			"bytes)",
			b.Name, q.Rows, q.Cols, want, b.Element.Name, len(q.Codes))
	}
	sr, sc := b.ScaleShape(q.Rows, q.Cols)
	if want := sr * sc * b.Scale.Width() / 8; len(q.Scales) != want {
		return nil, nil, fmt.Errorf("%s: [%d, %d] needs %s scales of shape [%d, %d], %d bytes; got %d",
			b.Name, q.Rows, q.Cols, b.Scale.Name, sr, sc, want, len(q.Scales))
	}
	t := float64(q.TensorScale)
	if b.TensorScale && !(t > 0 && t <= FP32.Max()) {
		return nil, nil, fmt.Errorf("%s: tensor scale is %v, want the positive finite factor stored with the tensor", b.Name,
			q.TensorScale)
	}
	if !b.TensorScale && t != 0 {
		return nil, nil, fmt.Errorf("%s: tensor scale is %v, but this format has none; leave it 0", b.Name, q.TensorScale)
	}
	if elems, err = DecodeBytes(b.Element, q.Codes); err != nil {
		return nil, nil, fmt.Errorf("%s: elements: %w", b.Name, err)
	}
	if scales, err = DecodeBytes(b.Scale, q.Scales); err != nil {
		return nil, nil, fmt.Errorf("%s: scales: %w", b.Name, err)
	}
	if b.TensorScale {
		for i := range scales {
			scales[i] *= t
		}
	}
	return elems, scales, nil
}

// scaleRows multiplies every element of v by its block's scale.
func (b Block) scaleRows(q Quantised, v, scales []float64) {
	_, sc := b.ScaleShape(q.Rows, q.Cols)
	for r := range q.Rows {
		row, s := v[r*q.Cols:(r+1)*q.Cols], scales[r/b.BlockRows*sc:]
		for k := range row {
			row[k] *= s[k/b.BlockCols]
		}
	}
}
