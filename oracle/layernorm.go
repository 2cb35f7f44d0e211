package oracle

import "math"

// LayerNorm centres every row, divides it by its standard deviation and applies an affine map:
//
//	y_d = w_d · (x_d - mean(x)) / sqrt(mean((x - mean(x))²) + eps) + b_d
//
// x [T, D], weight and bias [D] (nil for 1 and 0); result [T, D]. The variance is the biased one,
// computed from the centred row. V3.2's index keys have it, V4 has no LayerNorm.
//
// Source: V3.2 inference/model.py LayerNorm (fp32 inside, eps 1e-6).
func LayerNorm(x Mat, weight, bias []float64, eps float64) Mat {
	out := NewMat(x.Rows, x.Cols)
	for t := range x.Rows {
		in, y := x.Row(t), out.Row(t)
		mean := 0.0
		for _, v := range in {
			mean += v
		}
		mean /= float64(len(in))
		for d, v := range in {
			y[d] = v - mean
		}
		r := 1 / math.Sqrt(dot(y, y)/float64(len(in))+eps)
		for d := range y {
			y[d] *= r
			if weight != nil {
				y[d] *= weight[d]
			}
			if bias != nil {
				y[d] += bias[d]
			}
		}
	}
	return out
}
