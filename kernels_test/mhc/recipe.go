package mhc

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// Recipe is one way to implement the hyper-connection operators in float32 arithmetic: every product, sum, quotient and
// function value is rounded to fp32 in the order that the recipe names. Only the mixing GEMM follows a contract.
type Recipe struct {
	Name     string
	Contract string // fp32, tf32-rn, bf16: what it declares
	Gemm     func(x, w oracle.Mat) oracle.Mat
	Squares  Dot                                                  // sum of squares of the norm
	Small    Dot                                                  // sums over streams: Sinkhorn, collapse, spread
	Exp      func(float32) float32                                // exp of the softmax
	Divisor  func(r Recipe, group []float64, eps float32) float32 // of a Sinkhorn step
}

// Dot is a sum of products of fp32 values that are carried as float64.
type Dot = bench.Dot[float64]

// Ops returns exact operators with the hyper-connections replaced by the recipe's.
func (r Recipe) Ops() oracle.Ops {
	ops := oracle.Reference()
	ops.HCMix, ops.HCSplit, ops.HCPre, ops.HCPost, ops.HCHead = r.mix, r.split, r.pre, r.post, r.head
	return ops
}

// GemmOf is a GEMM whose every element is one Dot.
func GemmOf(d Dot) func(x, w oracle.Mat) oracle.Mat {
	return func(x, w oracle.Mat) oracle.Mat {
		out := oracle.NewMat(x.Rows, w.Rows)
		for t := range x.Rows {
			for i := range w.Rows {
				out.Row(t)[i] = float64(d(x.Row(t), w.Row(i)))
			}
		}
		return out
	}
}

// GemmUnder is a GEMM as the emulated contract computes it. Shapes that do not fit give an empty result, which a judge
// sees as a wrong shape.
func GemmUnder(c numerics.Contract) func(x, w oracle.Mat) oracle.Mat {
	return func(x, w oracle.Mat) oracle.Mat {
		out, err := c.Gemm(x.Data, w.Data, x.Rows, w.Rows, x.Cols)
		if err != nil {
			return oracle.Mat{}
		}
		return oracle.Mat{Rows: x.Rows, Cols: w.Rows, Data: out}
	}
}

// mix: oracle.HCMix in fp32.
func (r Recipe) mix(v, fn oracle.Mat, normEps float64) oracle.Mat {
	mixes := r.Gemm(v, fn)
	for t := range mixes.Rows {
		sum := r.Squares(v.Row(t), v.Row(t))
		mean := sum / float32(v.Cols)
		scale := 1 / float32(math.Sqrt(float64(mean+float32(normEps))))
		row := mixes.Row(t)
		for i, m := range row {
			row[i] = float64(float32(m) * scale)
		}
	}
	return mixes
}

// split: oracle.HCSplit in fp32.
func (r Recipe) split(mixes oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (pre, post, comb oracle.Mat) {
	n := cfg.Streams
	pre, post, comb = oracle.NewMat(mixes.Rows, n), oracle.NewMat(mixes.Rows, n), oracle.NewMat(mixes.Rows, n*n)
	for t := range mixes.Rows {
		m := mixes.Row(t)
		logit := func(i, s int) float32 { return float32(float32(m[i])*float32(scale[s])) + float32(base[i]) }
		for j := range n {
			pre.Row(t)[j] = float64(sigmoid32(logit(j, 0)) + float32(cfg.Eps))
			post.Row(t)[j] = float64(2 * sigmoid32(logit(n+j, 1)))
		}
		for j := range n * n {
			comb.Row(t)[j] = float64(logit(2*n+j, 2))
		}
		r.sinkhorn(comb.Row(t), n, cfg.Iterations, float32(cfg.Eps))
	}
	return pre, post, comb
}

// head: oracle.HCHead in fp32.
func (r Recipe) head(mixes oracle.Mat, scale float64, base []float64, eps float64) oracle.Mat {
	pre := oracle.NewMat(mixes.Rows, mixes.Cols)
	for t := range mixes.Rows {
		for j, m := range mixes.Row(t) {
			z := float32(float32(m)*float32(scale)) + float32(base[j])
			pre.Row(t)[j] = float64(sigmoid32(z) + float32(eps))
		}
	}
	return pre
}

// sigmoid32 is 1/(1+e^-x), the exponential rounded to fp32 as a good expf does. It underflows for x below -88, as
// expf's does.
func sigmoid32(x float32) float32 {
	return 1 / (1 + exp32(-x))
}

func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }

// exp2Form is e^x as 2^(x·log2 e), the product rounded to fp32: how GPU kernels write it.
func exp2Form(x float32) float32 {
	return float32(math.Exp2(float64(float32(x * float32(math.Log2E)))))
}

// sum adds a group in the order of Small.
func (r Recipe) sum(group []float64) float32 {
	ones := make([]float64, len(group))
	for k := range ones {
		ones[k] = 1
	}
	return r.Small(group, ones)
}

// sinkhorn: oracle.Sinkhorn in fp32.
func (r Recipe) sinkhorn(b []float64, n, iterations int, eps float32) {
	group := make([]float64, n)
	for j := range n {
		row := b[j*n : (j+1)*n]
		top := float32(math.Inf(-1))
		for _, v := range row {
			top = max(top, float32(v))
		}
		for k, v := range row {
			row[k] = float64(r.Exp(float32(v) - top))
		}
		sum := r.sum(row)
		for k, v := range row {
			row[k] = float64(float32(v)/sum + eps)
		}
	}
	step := func(first, stride int) {
		for l := range n {
			group[l] = b[first+l*stride]
		}
		sum := r.Divisor(r, group, eps)
		for l, v := range group {
			b[first+l*stride] = float64(float32(v) / sum)
		}
	}
	for i := range iterations {
		for j := range n {
			if i > 0 {
				step(j*n, 1)
			}
		}
		for k := range n {
			step(k, n)
		}
	}
}

// pre: oracle.HCPre in fp32.
func (r Recipe) pre(x, pre oracle.Mat) oracle.Mat {
	n := pre.Cols
	width := x.Cols / n
	out, column := oracle.NewMat(x.Rows, width), make([]float64, n)
	for t := range x.Rows {
		for c := range width {
			for j := range n {
				column[j] = x.Row(t)[j*width+c]
			}
			out.Row(t)[c] = float64(r.Small(pre.Row(t), column))
		}
	}
	return out
}

// post: oracle.HCPost in fp32.
func (r Recipe) post(f, post, comb, x oracle.Mat) oracle.Mat {
	n, width := post.Cols, f.Cols
	out := oracle.NewMat(x.Rows, x.Cols)
	weights, column := make([]float64, n+1), make([]float64, n+1)
	for t := range x.Rows {
		for k := range n {
			weights[0] = post.Row(t)[k]
			for j := range n {
				weights[j+1] = comb.Row(t)[j*n+k]
			}
			for c := range width {
				column[0] = f.Row(t)[c]
				for j := range n {
					column[j+1] = x.Row(t)[j*width+c]
				}
				out.Row(t)[k*width+c] = float64(r.Small(weights, column))
			}
		}
	}
	return out
}
