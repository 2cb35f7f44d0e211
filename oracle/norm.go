package oracle

import "math"

// RMSNorm divides groups of a row by their root mean square:
//
//	y_d = w_d · x_d / sqrt(mean(x²) + eps)
//
// x [T, G·D]: each row holds G groups that are normalised on their own (heads for the per-head query norm, one group
// otherwise). weight [D], or nil for the norm without weight (per-head query norm of V4); D = len(weight), or width
// when weight is nil, where 0 means the whole row. eps is added to the mean of squares, inside the root. Result [T,
// G·D].
//
// Source: V4 inference/model.py RMSNorm and the query-head norm; eps 1e-6.
func RMSNorm(x Mat, weight []float64, width int, eps float64) Mat {
	switch {
	case weight != nil:
		width = len(weight)
	case width == 0:
		width = x.Cols
	}
	out := NewMat(x.Rows, x.Cols)
	parallel(x.Rows, 64, func(from, to int) {
		for i := from * x.Cols; i < to*x.Cols; i += width {
			in, y := x.Data[i:i+width], out.Data[i:i+width]
			r := 1 / math.Sqrt(dot(in, in)/float64(width)+eps)
			for d, v := range in {
				y[d] = v * r
				if weight != nil {
					y[d] *= weight[d]
				}
			}
		}
	})
	return out
}
