package numerics

import (
	"github.com/assay-suite/assay/numerics/format"
)

// gemm emulates out[m,n] = Σ_k x[m,k]·w[n,k] for row-major x [M,K] and w [N,K] of stored operands; fx and fw are
// their formats, whose smallest exponent is where subnormals stop being normalised. The result is row-major [M,N].
func (a Accumulator) gemm(x, w []float64, m, n, k int, fx, fw format.Format) []float64 {
	if a.plain32() && allFinite(x) && allFinite(w) {
		return a.gemm32(x, w, m, n, k)
	}
	rows := make([]operand, m)
	for i := range rows {
		rows[i] = newOperand(x[i*k:(i+1)*k], minExponent(fx))
	}
	out := make([]float64, m*n)
	for j := range n {
		col := newOperand(w[j*k:(j+1)*k], minExponent(fw))
		for i := range rows {
			out[i*n+j] = a.dot(rows[i], col)
		}
	}
	return out
}

func minExponent(f format.Format) int {
	if f.ExpBits == 0 {
		return noSubnormals // the zero Format: unknown
	}
	return exponent(f.MinNormal())
}

// plain32 reports fp32 chains with rounded products, which gemm32 runs in float32.
func (a Accumulator) plain32() bool {
	return a.Block == 0 && a.Result == 23 && a.Rounding == format.RN && !a.Fused &&
		(a.Order == Unknown || a.Order == Sequential)
}

func allFinite(v []float64) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// gemm32 is gemm for plain32: the same additions, four columns side by side, since one chain waits for its own last
// sum.
func (a Accumulator) gemm32(x, w []float64, m, n, k int) []float64 {
	x32, w32 := narrow(x), narrow(w)
	out := make([]float64, m*n)
	size := a.SplitSize(k)
	for j := 0; j < n; j += 4 {
		var cols [4][]float32
		for c := range cols {
			cols[c] = w32[min(j+c, n-1)*k:][:k]
		}
		for i := range m {
			row := x32[i*k : (i+1)*k]
			var total [4]float32
			for lo := 0; lo < k; lo += size {
				hi := min(lo+size, k)
				part := chain4(row[lo:hi], cols[0][lo:hi], cols[1][lo:hi], cols[2][lo:hi], cols[3][lo:hi])
				if lo == 0 {
					total = part
					continue
				}
				for c, p := range part {
					total[c] += p
				}
			}
			for c := range min(4, n-j) {
				out[i*n+j+c] = float64(total[c])
			}
		}
	}
	return out
}

func chain4(x, a, b, c, d []float32) [4]float32 {
	a, b, c, d = a[:len(x)], b[:len(x)], c[:len(x)], d[:len(x)]
	var s0, s1, s2, s3 float32
	for i, v := range x {
		s0 += float32(v * a[i])
		s1 += float32(v * b[i])
		s2 += float32(v * c[i])
		s3 += float32(v * d[i])
	}
	return [4]float32{s0, s1, s2, s3}
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
