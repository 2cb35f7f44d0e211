package fast

import (
	"github.com/assay-suite/assay/oracle"
)

// columns is the width of a panel.
const columns = 16

// panels is a weight [N, K] in fp32, packed for the matrix kernel: ceil(N/16) panels of K x 16, the columns beyond N
// zero. K is a multiple of 4.
type panels struct {
	n, k int
	data []float32
}

func pack(w oracle.Mat) *panels {
	p := &panels{n: w.Rows, k: w.Cols, data: make([]float32, roundUp(w.Rows, columns)*w.Cols)}
	for n := range w.Rows {
		panel := p.data[n/columns*columns*w.Cols:]
		for k, v := range w.Row(n) {
			panel[k*columns+n%columns] = float32(v)
		}
	}
	return p
}

// width is the number of columns of a product, panels being whole.
func (p *panels) width() int { return roundUp(p.n, columns) }

// mul computes rows of a [rows, k] times panels [first, last) into c [rows, 16*(last-first)]. rows is 1 or a multiple
// of group; lda is the distance of a's rows. Every element is one chain of fused multiply-adds over k in order, in the
// assembly, whatever rows is.
func (p *panels) mul(c, a []float32, lda, rows, first, last int) {
	ldc := (last - first) * columns
	b := p.data[first*columns*p.k : last*columns*p.k]
	step := columns * p.k
	switch {
	case !simd:
		mulGo(c, a, b, lda, ldc, rows, p.k)
	case rows == 1:
		at := 0
		for ; at+4*columns <= ldc; at += 4 * columns {
			gemm1x64AVX2(&c[at], &a[0], &b[at*p.k], p.k)
		}
		for ; at < ldc; at += columns {
			gemm1x16AVX2(&c[at], &a[0], &b[at*p.k], p.k)
		}
	default:
		for at := 0; at < ldc; at += columns {
			for r := 0; r < rows; r += group {
				gemm6x16AVX2(&c[r*ldc+at], ldc, &a[r*lda], lda, &b[at/columns*step], p.k)
			}
		}
	}
}

// mulGo is mul without assembly, a panel and a row at a time.
func mulGo(c, a, b []float32, lda, ldc, rows, k int) {
	for r := range rows {
		x := a[r*lda : r*lda+k]
		for at := 0; at < ldc; at += columns {
			var acc [columns]float32
			panel := b[at*k : (at+columns)*k]
			for i, v := range x {
				for j, w := range (*[columns]float32)(panel[i*columns:]) {
					acc[j] += float32(v * w)
				}
			}
			copy(c[r*ldc+at:], acc[:])
		}
	}
}

// linear is oracle.Linear with fp32 operands and sums: with u = 2^-24 each element is within (K+3)·u·Σ|x·w| of the
// exact one, K for the sum and its products, 2 for rounding the operands, 1 for second orders.
func (s *session) linear(x, w oracle.Mat) oracle.Mat {
	p, ok := s.packed(w)
	if !ok {
		return oracle.Linear(x, w)
	}
	out := s.mat(x.Rows, w.Rows)
	tiles(x.Rows, func(t *scratch, from, to int) {
		a := t.rowsOf(x, from, to)
		c := floats(&t.c, padded(to-from)*p.width())
		p.mul(c, a, x.Cols, padded(to-from), 0, p.width()/columns)
		store(out, c, from, to, p.width())
	})
	return out
}

// store widens the rows of a product into rows [from, to) of out.
func store(out oracle.Mat, c []float32, from, to, width int) {
	if width == out.Cols {
		widen(out.Data[from*out.Cols:to*out.Cols], c)
		return
	}
	for r := from; r < to; r++ {
		widen(out.Row(r), c[(r-from)*width:])
	}
}

// groupedProjection is oracle.GroupedProjection: group g of x's columns times group g of w's rows. The bound is
// linear's.
func (s *session) groupedProjection(o, w oracle.Mat, groups int) oracle.Mat {
	p, ok := s.packed(w)
	if !ok || w.Rows%(groups*columns) != 0 || o.Cols != groups*w.Cols {
		return oracle.GroupedProjection(o, w, groups)
	}
	out := s.mat(o.Rows, w.Rows)
	each := w.Rows / groups
	tiles(o.Rows, func(t *scratch, from, to int) {
		a := t.rowsOf(o, from, to)
		c := floats(&t.c, padded(to-from)*each)
		for g := range groups {
			p.mul(c, a[g*w.Cols:], o.Cols, padded(to-from), g*each/columns, (g+1)*each/columns)
			for r := from; r < to; r++ {
				widen(out.Row(r)[g*each:(g+1)*each], c[(r-from)*each:])
			}
		}
	})
	return out
}
