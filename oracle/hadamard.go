package oracle

import (
	"fmt"
	"math"
	"math/bits"
)

// Hadamard multiplies groups of a row by the normalised Hadamard matrix in natural (Sylvester)
// order:
//
//	y_i = D^-½ sum_j (-1)^popcount(i AND j) x_j
//
// x [T, G·D] with D = width (128 for the index keys and queries); result [T, G·D]. The matrix is
// symmetric and orthogonal, so it is its own inverse, and logits do not change when q and k are both
// rotated: before quantisation it cannot be seen, after it it can.
//
// It fails on a width that is no power of two or does not divide the row.
//
// Source: V3.2 inference/model.py rotate_activation, V4 inference/model.py Indexer; absent in vLLM's V4 path.
func Hadamard(x Mat, width int) (Mat, error) {
	if width < 1 || bits.OnesCount(uint(width)) != 1 || x.Cols%width != 0 {
		return Mat{}, fmt.Errorf("hadamard: width %d must be a power of two that divides the %d channels of a row", width,
			x.Cols)
	}
	out := x.Clone()
	norm := 1 / math.Sqrt(float64(width))
	for from := 0; from < len(out.Data); from += width {
		v := out.Data[from : from+width]
		for half := 1; half < width; half *= 2 {
			for i := range v {
				if i&half == 0 {
					v[i], v[i|half] = v[i]+v[i|half], v[i]-v[i|half]
				}
			}
		}
		for i := range v {
			v[i] *= norm
		}
	}
	return out, nil
}
