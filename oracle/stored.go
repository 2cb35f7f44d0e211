package oracle

import (
	"fmt"

	"github.com/assay-suite/assay/numerics/format"
)

// Stored is a matrix as a checkpoint or a cache keeps it: codes and scales of a block format.
type Stored struct {
	Block format.Block
	format.Quantised
}

// Mat dequantises to [Rows, Cols], exactly (format.Block.Decode). A code or scale of NaN gives NaN
// in the elements that it reaches.
func (s Stored) Mat() (Mat, error) {
	values, err := s.Block.Decode(s.Quantised)
	if err != nil {
		return Mat{}, err
	}
	return Mat{Rows: s.Rows, Cols: s.Cols, Data: values}, nil
}

// StoredLinear is x·wᵀ of two quantised operands:
//
//	C[m, n] = alpha · sum_b (sum_{k in b} x_code w_code) · sx[m, b] · sw[n, b]
//
// x [T, K], w [N, K], each in its own format, so that fp8 activations meet fp8 (block-fp8), e2m1
// (MXFP4 experts) or fp8 weights; result [T, N]. With NVFP4 on both sides the tensor scales of x
// (input_scale) and w (weight_scale_2) are part of the decoded values. Blocks whose widths differ, or
// that are short at the end, need nothing special: every element is decoded by its own scale, in
// exact arithmetic the order of sums and scales does not matter. What a kernel adds to this is its
// accumulator and its output format. alpha is a further factor, 1 for none.
//
// It fails on operands that cannot be decoded and on K that differ.
//
// Source: V3.2 and V4 inference/kernel.py fp8_gemm and fp4_gemm; ModelOpt nvfp4_tensor.py.
func StoredLinear(x, w Stored, alpha float64) (Mat, error) {
	if x.Cols != w.Cols {
		return Mat{}, fmt.Errorf("stored linear: x is [%d, %d] and w [%d, %d]; the last axes must agree", x.Rows, x.Cols,
			w.Rows, w.Cols)
	}
	a, err := x.Mat()
	if err != nil {
		return Mat{}, fmt.Errorf("stored linear: x: %w", err)
	}
	b, err := w.Mat()
	if err != nil {
		return Mat{}, fmt.Errorf("stored linear: w: %w", err)
	}
	out := Linear(a, b)
	if alpha != 1 {
		for i := range out.Data {
			out.Data[i] *= alpha
		}
	}
	return out, nil
}
