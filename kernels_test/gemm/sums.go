package gemm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// partial is a sum of products over one run of K, for each row of x with each row of w, in row-major order.
type partial func(x, w [][]float32) []float32

// pairs sums each row of x with each row of w by itself.
func pairs(x, w [][]float32, dot func(i, j int) float32) []float32 {
	out := make([]float32, 0, len(x)*len(w))
	for i := range x {
		for j := range w {
			out = append(out, dot(i, j))
		}
	}
	return out
}

// summed adds in an order of fp32.
func summed(dot bench.Dot[float32]) partial {
	return func(x, w [][]float32) []float32 {
		return pairs(x, w, func(i, j int) float32 { return dot(x[i], w[j]) })
	}
}

// onTensorCore adds in block FMAs.
func onTensorCore(acc numerics.Accumulator) partial {
	in := numerics.Operand{Format: format.FP32}
	if acc.Align == 13 {
		in.Format = format.E4M3FN // its subnormals are not normalised
	}
	c := numerics.Contract{Name: "tensor core", Acc: acc, Inputs: map[string]numerics.Operand{"x": in, "w": in}}
	flat := func(rows [][]float32) []float64 {
		var out []float64
		for _, row := range rows {
			for _, v := range row {
				out = append(out, float64(v))
			}
		}
		return out
	}
	return func(x, w [][]float32) []float32 {
		if len(x)*len(w) == 0 {
			return nil
		}
		out, err := c.Gemm(flat(x), flat(w), len(x), len(w), len(x[0]))
		if err != nil {
			out = bench.Unbounded(len(x) * len(w)) // the accumulators of this package are valid
		}
		return bench.Float32s(out)
	}
}

// threeTF32 splits elements into two TF32 numbers by a rounding and adds three of their four products: the small ones
// first, the large one on top.
func threeTF32(round func(float32) float32, dot bench.Dot[float32]) partial {
	return split(round, func(xh, xl, wh, wl []float32) float32 { return dot(xl, wh) + dot(xh, wl) + dot(xh, wh) })
}

// smallPartsCut is threeTF32 with the small products added onto the large sum, which is cut each time.
func smallPartsCut(xh, xl, wh, wl []float32) float32 {
	var sum float32
	for i := range xh {
		sum = cut32(float64(sum) + float64(xl[i])*float64(wh[i]))
		sum = cut32(float64(sum) + float64(xh[i])*float64(wl[i]))
		sum += float32(xh[i] * wh[i])
	}
	return sum
}

func split(round func(float32) float32, add func(xh, xl, wh, wl []float32) float32) partial {
	low := func(v float32) float32 { return round(v - round(v)) }
	return func(x, w [][]float32) []float32 {
		xh, xl, wh, wl := eachRow(x, round), eachRow(x, low), eachRow(w, round), eachRow(w, low)
		return pairs(x, w, func(i, j int) float32 { return add(xh[i], xl[i], wh[j], wl[j]) })
	}
}

func eachRow(rows [][]float32, f func(float32) float32) [][]float32 {
	out := make([][]float32, len(rows))
	for i, row := range rows {
		out[i] = each(row, f)
	}
	return out
}

// towardsZero adds with every sum cut to fp32 instead of rounded.
func towardsZero(x, w []float32) float32 {
	var s float32
	for i, v := range x {
		s = cut32(float64(s) + float64(v)*float64(w[i]))
	}
	return s
}

// cut32 is the fp32 number next to v towards zero.
func cut32(v float64) float32 {
	f := float32(v)
	if math.Abs(float64(f)) > math.Abs(v) {
		f = math.Nextafter32(f, 0)
	}
	return f
}

// cutTo keeps some fraction bits of a value.
func cutTo(bits int) func(v float32) float32 {
	return func(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1<<(23-bits) - 1)) }
}

// tf32 rounds to nearest even with 10 fraction bits.
func tf32(v float32) float32 {
	return math.Float32frombits(format.EncodeTF32(v, format.RN))
}
