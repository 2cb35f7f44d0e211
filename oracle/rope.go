package oracle

import "math"

// Rope describes one rotary table: pair i of the rotated dims is rotated by position·Base^(-2i/Dims).
//
// Dims is the number of rotated channels; they are the LAST Dims of each head, in interleaved pairs
// (2i, 2i+1). There is no YaRN in nano-v4 and no amplitude factor in V4.
//
// Source: V4 inference/model.py precompute_freqs_cis and apply_rotary_emb.
type Rope struct {
	Base float64
	Dims int
}

// Angle is the rotation of pair i at a position, in radians, from a table in fp32: Base^(-2i/Dims) and its
// product with the position are rounded to fp32. That is part of the model, not of a kernel's
// precision: it was trained and is served with this table everywhere, and one in float64 would turn
// other angles by half an fp32 ulp of the product, 3e-5 rad at 1,024 tokens and 0.03 rad at 2^20.
//
// Source: V4 inference/model.py precompute_freqs_cis. Its pow and reciprocal round twice where this
// rounds once, so that a frequency may differ in its last bit.
func (r Rope) Angle(position, i int) float64 {
	return float64(float32(position) * float32(r.frequency(i)))
}

// frequency is Base^(-2i/Dims), not rounded.
func (r Rope) frequency(i int) float64 {
	return math.Pow(r.Base, -2*float64(i)/float64(r.Dims))
}

// RotateInterleaved applies rotary embedding to the trailing dims of every head:
//
//	(x, y) -> (x cos a - y sin a, x sin a + y cos a)
//
// x [T, H·D] with D = width; positions [T], absolute and 0-based. inverse rotates by -a: V4 undoes the
// rotation on the attention output at the query's position, because its values carry it too.
// Result [T, H·D]; leading dims of each head are copied.
func RotateInterleaved(x Mat, width int, positions []int, rope Rope, inverse bool) Mat {
	out := x.Clone()
	pairs := rope.Dims / 2
	parallel(x.Rows, 64, func(from, to int) {
		sin, cos := make([]float64, pairs), make([]float64, pairs)
		for t := from; t < to; t++ {
			for i := range pairs {
				sin[i], cos[i] = math.Sincos(rope.Angle(positions[t], i))
				if inverse {
					sin[i] = -sin[i]
				}
			}
			row := out.Row(t)
			for end := width; end <= len(row); end += width {
				tail := row[end-rope.Dims : end]
				for i := range pairs {
					a, b := tail[2*i], tail[2*i+1]
					tail[2*i], tail[2*i+1] = a*cos[i]-b*sin[i], a*sin[i]+b*cos[i]
				}
			}
		}
	})
	return out
}
