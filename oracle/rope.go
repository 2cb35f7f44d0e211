package oracle

import "math"

// Rope describes one rotary table: pair i of the rotated dims turns by position·Base^(-2i/Dims).
//
// Dims is the number of rotated channels; they are the LAST Dims of each head, in interleaved pairs
// (2i, 2i+1). There is no YaRN in nano-v4 and no amplitude factor in V4.
//
// Source: V4 inference/model.py precompute_freqs_cis and apply_rotary_emb.
type Rope struct {
	Base float64
	Dims int
}

// Angle is the rotation of pair i at a position, in radians, in float64. Implementations round
// Base^(-2i/Dims) and the product to fp32: the difference grows with the position.
func (r Rope) Angle(position, i int) float64 {
	return float64(position) * math.Pow(r.Base, -2*float64(i)/float64(r.Dims))
}

// RotateInterleaved applies rotary embedding to the trailing dims of every head:
//
//	(x, y) -> (x cos a - y sin a, x sin a + y cos a)
//
// x [T, H·D] with D = width; positions [T], absolute and 0-based. inverse turns by -a: V4 undoes the
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
