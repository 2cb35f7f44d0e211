package oracle

import "fmt"

// GroupLayout lays the rows of G experts one after the other, each expert's start a multiple of
// align (DeepGEMM's contiguous grouped layout; 128 there). It returns the expert of every row, -1 for
// the padding, and the first row of every expert. It fails on an align below 1 and a negative count.
func GroupLayout(counts []int, align int) (expert, first []int, err error) {
	if align < 1 {
		return nil, nil, fmt.Errorf("group layout: align is %d; it must be 1 or more", align)
	}
	for e, n := range counts {
		if n < 0 {
			return nil, nil, fmt.Errorf("group layout: expert %d has %d rows", e, n)
		}
		first = append(first, len(expert))
		for i := range (n + align - 1) / align * align {
			if i < n {
				expert = append(expert, e)
			} else {
				expert = append(expert, -1)
			}
		}
	}
	return expert, first, nil
}

// GroupedLinear is the contiguous grouped GEMM, every row with the weights of its own expert:
//
//	y[m] = w[expert[m]] x[m]
//
// x [M, K]; w[e] [N, K]; expert [M] as GroupLayout gives it. Result [M, N]; rows of padding (-1) are 0
// here and unspecified in a kernel, and their x is never read. It fails on an expert that is not there.
//
// Source: DeepGEMM m_grouped_fp8_gemm_nt_contiguous, tests/generators.py.
func GroupedLinear(x Mat, w []Mat, expert []int) (Mat, error) {
	if len(w) == 0 {
		return Mat{}, fmt.Errorf("grouped linear: there are no experts")
	}
	rows := make([][]int, len(w))
	for m, e := range expert {
		if e < -1 || e >= len(w) {
			return Mat{}, fmt.Errorf("grouped linear: row %d goes to expert %d of %d", m, e, len(w))
		}
		if e >= 0 {
			rows[e] = append(rows[e], m)
		}
	}
	out := NewMat(x.Rows, w[0].Rows)
	for e, ms := range rows {
		part := NewMat(len(ms), x.Cols)
		for i, m := range ms {
			copy(part.Row(i), x.Row(m))
		}
		y := Linear(part, w[e])
		for i, m := range ms {
			copy(out.Row(m), y.Row(i))
		}
	}
	return out, nil
}

// MaskedLinear is the masked grouped GEMM of decode: every expert has a buffer of equal size, of
// which the first counts[e] rows hold tokens.
//
// x[e] [M, K], w[e] [N, K]; result per expert [M, N]; rows from counts[e] on are 0 here and
// unspecified in a kernel, and their x is never read. It fails on a count outside of its buffer.
//
// Source: DeepGEMM m_grouped_fp8_gemm_nt_masked.
func MaskedLinear(x, w []Mat, counts []int) ([]Mat, error) {
	out := make([]Mat, len(x))
	for e := range x {
		if counts[e] < 0 || counts[e] > x[e].Rows {
			return nil, fmt.Errorf("masked linear: expert %d has %d tokens in a buffer of %d rows", e, counts[e], x[e].Rows)
		}
		y := Linear(x[e].Slice(0, counts[e]), w[e])
		out[e] = y.Append(NewMat(x[e].Rows-counts[e], w[e].Rows))
	}
	return out, nil
}
