package oracle

import (
	"fmt"
	"math"
)

// Pairing says which two of d rotated channels turn together.
type Pairing int

const (
	// PairInterleaved rotates channels 2i and 2i+1 (V3.2's MLA; V4 throughout).
	PairInterleaved Pairing = iota
	// PairHalf rotates channels i and d/2+i, the NeoX way (V3.2's indexer, in the corrected demo).
	PairHalf
)

// Rotary is a rotary embedding as data, for any model: RotateInterleaved is V4's case of it.
type Rotary struct {
	Frequencies []float64 // [d/2]: pair i is rotated by position · Frequencies[i]
	Pairing     Pairing
	Leading     bool // the first d channels of a head turn (V3.2's indexer), not the last d (V4)
	// Amplitude multiplies cos and sin; 0 reads as 1. It is 1 in V4 and in V3.2, whose mscale is in the
	// attention scale; the factor YaRNMScale is a known fault in V4.
	Amplitude float64
	// FP32Table takes the angle as V4 and V3.2 do: the frequency rounded to fp32, the product rounded to
	// fp32. At position 2^20 pairs next to the first are then off by up to a few hundredths of a radian.
	FP32Table bool
}

// Angle is the rotation of pair i at a position, in radians.
func (r Rotary) Angle(position, i int) float64 {
	if r.FP32Table {
		return float64(float32(position) * float32(r.Frequencies[i]))
	}
	return float64(position) * r.Frequencies[i]
}

// Apply rotates every head:
//
//	(x, y) -> A · (x cos a - y sin a, x sin a + y cos a)
//
// x [T, H·D] with D = width; positions [T], absolute, 0-based; result [T, H·D], other channels copied.
// inverse rotates by -a, which with an amplitude of 1 undoes it. It fails when a head is narrower than
// the rotated channels or does not divide the row.
//
// Source: V3.2 inference/model.py apply_rotary_emb with and without interleaving; V4 inference/model.py.
func (r Rotary) Apply(x Mat, width int, positions []int, inverse bool) (Mat, error) {
	pairs := len(r.Frequencies)
	if width < max(1, 2*pairs) || x.Cols%width != 0 {
		return Mat{}, fmt.Errorf("rope: heads of %d channels do not hold %d rotated ones or do not divide a row of %d", width,
			2*pairs, x.Cols)
	}
	amplitude := r.Amplitude
	if amplitude == 0 {
		amplitude = 1
	}
	first := width - 2*pairs
	if r.Leading {
		first = 0
	}
	out := x.Clone()
	for t := range x.Rows {
		row := out.Row(t)
		for i := range pairs {
			sin, cos := math.Sincos(r.Angle(positions[t], i))
			if inverse {
				sin = -sin
			}
			sin, cos = amplitude*sin, amplitude*cos
			a, b := first+2*i, first+2*i+1
			if r.Pairing == PairHalf {
				a, b = first+i, first+pairs+i
			}
			for head := 0; head < len(row); head += width {
				u, v := row[head+a], row[head+b]
				row[head+a], row[head+b] = u*cos-v*sin, u*sin+v*cos
			}
		}
	}
	return out, nil
}

// Frequencies are Base^(-2i/Dims), i < Dims/2, not rounded.
func (r Rope) Frequencies() []float64 {
	out := make([]float64, r.Dims/2)
	for i := range out {
		out[i] = r.frequency(i)
	}
	return out
}
