package oracle

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Linear is x·wᵀ, the projection of every row of x.
//
// x [T, K], w [N, K] as checkpoints store it (output-major); result [T, N].
//
// The summation order is gonum's and unspecified: a tolerance reference, never a bit golden.
func Linear(x, w Mat) Mat {
	out := NewMat(x.Rows, w.Rows)
	if x.Rows == 0 {
		return out
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, general(x), general(w), 0, general(out))
	return out
}

func general(m Mat) blas64.General {
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: m.Data}
}

func dot(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Inc: 1, Data: a}, blas64.Vector{N: len(b), Inc: 1, Data: b})
}

func axpy(alpha float64, x, y []float64) {
	blas64.Axpy(alpha, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
}
