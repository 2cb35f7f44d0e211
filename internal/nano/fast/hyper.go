package fast

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

// streams is the number of streams that the kernels of hyper-connections know.
const streams = 4

// collapse is oracle.HCMix, HCSplit and HCPre in one pass over the residual x. The mixing product is in fp32, within
// linear's bound of the exact one; norm, gates, Sinkhorn and the sum over streams are in float64.
func (s *session) collapse(x, fn oracle.Mat, scale, base []float64, cfg oracle.HCConfig) (y, post, comb oracle.Mat) {
	p, ok := s.packed(fn)
	n := cfg.Streams
	width := x.Cols / max(n, 1)
	if !ok || n != streams || width%columns != 0 {
		pre, post, comb := oracle.HCSplit(oracle.HCMix(x, fn, cfg.NormEps), scale, base, cfg)
		return oracle.HCPre(x, pre), post, comb
	}
	y, post, comb = s.mat(x.Rows, width), s.mat(x.Rows, n), s.mat(x.Rows, n*n)
	tiles(x.Rows, func(t *scratch, from, to int) {
		rows := padded(to - from)
		a := t.rowsOf(x, from, to)
		c := floats(&t.c, rows*p.width())
		p.mul(c, a, x.Cols, rows, 0, p.width()/columns)
		for r := from; r < to; r++ {
			m := c[(r-from)*p.width():]
			inv := 1 / math.Sqrt(sumSquares(x.Row(r))/float64(x.Cols)+cfg.NormEps)
			gate := func(i, of int) float64 { return float64(m[i])*inv*scale[of] + base[i] }
			var pre [streams]float64
			for j := range n {
				pre[j] = sigmoid(gate(j, 0)) + cfg.Eps
				post.Row(r)[j] = 2 * sigmoid(gate(n+j, 1))
			}
			b := (*[streams * streams]float64)(comb.Row(r))
			for j := range b {
				b[j] = gate(2*n+j, 2)
			}
			sinkhorn(b, cfg.Iterations, cfg.Eps)
			combine(y.Row(r), x.Row(r), &pre)
		}
	})
	return y, post, comb
}

// sinkhorn is oracle.Sinkhorn for four streams, dividing by a sum once.
func sinkhorn(b *[streams * streams]float64, iterations int, eps float64) {
	for j := 0; j < len(b); j += streams {
		top := max(b[j], b[j+1], b[j+2], b[j+3])
		sum := 0.0
		for k := j; k < j+streams; k++ {
			b[k] = math.Exp(b[k] - top)
			sum += b[k]
		}
		for k := j; k < j+streams; k++ {
			b[k] = b[k]/sum + eps
		}
	}
	columnStep(b, eps)
	for range iterations - 1 {
		for j := 0; j < len(b); j += streams {
			r := 1 / (eps + b[j] + b[j+1] + b[j+2] + b[j+3])
			b[j], b[j+1], b[j+2], b[j+3] = b[j]*r, b[j+1]*r, b[j+2]*r, b[j+3]*r
		}
		columnStep(b, eps)
	}
}

func columnStep(b *[streams * streams]float64, eps float64) {
	for k := range streams {
		r := 1 / (eps + b[k] + b[k+4] + b[k+8] + b[k+12])
		b[k], b[k+4], b[k+8], b[k+12] = b[k]*r, b[k+4]*r, b[k+8]*r, b[k+12]*r
	}
}

// combine is the sum over streams of pre times the stream.
func combine(y, x []float64, pre *[streams]float64) {
	if simd {
		collapse4AVX2(&y[0], &x[0], pre, len(y))
		return
	}
	n := len(y)
	for i := range y {
		y[i] = pre[0]*x[i] + pre[1]*x[n+i] + pre[2]*x[2*n+i] + pre[3]*x[3*n+i]
	}
}

// spread is oracle.HCPost in float64.
func (s *session) spread(f, post, comb, x oracle.Mat) oracle.Mat {
	if post.Cols != streams || f.Cols%4 != 0 || f.Cols == 0 {
		return oracle.HCPost(f, post, comb, x)
	}
	out := s.mat(x.Rows, x.Cols)
	tiles(x.Rows, func(_ *scratch, from, to int) {
		var coef [4 * (streams + streams*streams)]float64 // every value four times
		for r := from; r < to; r++ {
			for i, v := range post.Row(r) {
				coef[4*i], coef[4*i+1], coef[4*i+2], coef[4*i+3] = v, v, v, v
			}
			for i, v := range comb.Row(r) {
				i += streams
				coef[4*i], coef[4*i+1], coef[4*i+2], coef[4*i+3] = v, v, v, v
			}
			if simd {
				spread4AVX2(&out.Row(r)[0], &f.Row(r)[0], &x.Row(r)[0], &coef, f.Cols)
				continue
			}
			for k := range streams {
				for c, v := range f.Row(r) {
					sum := coef[4*k] * v
					for j := range streams {
						sum += coef[4*(streams+j*streams+k)] * x.Row(r)[j*f.Cols+c]
					}
					out.Row(r)[k*f.Cols+c] = sum
				}
			}
		}
	})
	return out
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
