package fast

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

// heads is how many heads the kernels take at once.
const heads = 4

// few is the number of queries up to which only the rows that they look at are converted to fp32.
const few = 4

// attention is oracle.Attention with products, exponentials and sums in fp32.
//
// With u = 2^-24, n rows of D channels and Z the largest scale·Σ|q·kv| of a query and head: a score is off by
// (D+4)·u·Z, its exponential by as much of itself and 8u, the sums by n·u, so that an output is within
// 2((D+4)·Z + n + 8)·u·Σp|kv| of the exact one.
func (s *session) attention(in oracle.AttentionInput) oracle.Mat {
	width := in.Q.Cols / max(len(in.Sink), 1)
	if len(in.Sink) != heads || width%columns != 0 || in.Scale <= 0 {
		return oracle.Attention(in)
	}
	out := s.mat(in.Q.Rows, in.Q.Cols)
	var all []float32 // window rows, then compressed ones
	if in.Q.Rows > few {
		all = make([]float32, len(in.Window.Data)+len(in.Compressed.Data))
		convert(all, in.Window)
		convert(all[len(in.Window.Data):], in.Compressed)
	}
	tiles(in.Q.Rows, func(t *scratch, from, to int) {
		for r := from; r < to; r++ {
			rows, idx := all, t.looksAt(in, r)
			if all == nil {
				rows, idx = t.gather(in, idx)
			}
			q := floats(&t.a, 2*heads*width)
			narrow(q, in.Q.Row(r))
			t.attend(out.Row(r), q, rows, idx, in)
		}
	})
	return out
}

// convert writes a matrix in fp32.
func convert(dst []float32, m oracle.Mat) {
	tiles(m.Rows, func(_ *scratch, from, to int) {
		narrow(dst[from*m.Cols:], m.Data[from*m.Cols:to*m.Cols])
	})
}

// looksAt lists what query r attends to, as rows of window and compressed rows together, in a list with room for one
// more.
func (t *scratch) looksAt(in oracle.AttentionInput, r int) []int32 {
	last := in.Positions[r] - in.WindowStart + 1
	first := max(0, last-in.WindowSize)
	t.idx = t.idx[:0]
	for i := first; i < last; i++ {
		t.idx = append(t.idx, int32(i))
	}
	if in.Selected != nil {
		for _, i := range in.Selected[r] {
			t.idx = append(t.idx, int32(in.Window.Rows+i))
		}
	}
	t.idx = append(t.idx, 0)
	return t.idx[:len(t.idx)-1]
}

// gather converts only the rows of a list, one after the other, and counts them.
func (t *scratch) gather(in oracle.AttentionInput, idx []int32) ([]float32, []int32) {
	width := in.Window.Cols
	rows := floats(&t.d, len(idx)*width)
	for n, i := range idx {
		if int(i) < in.Window.Rows {
			narrow(rows[n*width:], in.Window.Row(int(i)))
		} else {
			narrow(rows[n*width:], in.Compressed.Row(int(i)-in.Window.Rows))
		}
		idx[n] = int32(n)
	}
	return rows, idx
}

// attend writes one query's output [4*width]. q holds the query and has room for as much again.
func (t *scratch) attend(out []float64, q, rows []float32, idx []int32, in oracle.AttentionInput) {
	n, width := len(idx), len(q)/(2*heads)
	o := q[heads*width:]
	clear(o)
	if n == 0 {
		clear(out)
		return
	}
	even := roundUp(n, 2)
	z := floats(&t.c, even*heads)
	dots(z, q, rows, idx[:even], width) // the list's spare entry is 0
	for i := n * heads; i < even*heads; i++ {
		z[i] = float32(math.Inf(-1))
	}
	var stats [2 * heads]float32
	softmax(z, float32(in.Scale), &stats)
	weigh(o, z, rows, idx, width)
	for h := range heads {
		sum := float64(stats[heads+h]) + math.Exp(in.Sink[h]-float64(stats[h]))
		for d, v := range o[h*width : (h+1)*width] {
			out[h*width+d] = float64(v) / sum
		}
	}
}

// dots writes the products z [len(idx)][4] of four heads q [4][width] with the listed rows.
func dots(z, q, rows []float32, idx []int32, width int) {
	if simd {
		dots4AVX2(&z[0], &q[0], &rows[0], &idx[0], len(idx), width)
		return
	}
	for n, i := range idx {
		row := rows[int(i)*width : (int(i)+1)*width]
		for h := range heads {
			z[n*heads+h] = dot(q[h*width:(h+1)*width], row)
		}
	}
}

func dot(a, b []float32) float32 {
	sum := float32(0)
	for i, v := range a {
		sum += float32(v * b[i])
	}
	return sum
}

// softmax replaces z [n][4], n even, by exp(scale·z - top) with the top of each head; stats are the four tops and the
// four sums.
func softmax(z []float32, scale float32, stats *[2 * heads]float32) {
	if simd {
		softmax4AVX2(&z[0], len(z)/(2*heads), scale, stats)
		return
	}
	for h := range heads {
		stats[h], stats[heads+h] = float32(math.Inf(-1)), 0
	}
	for i, v := range z {
		stats[i%heads] = max(stats[i%heads], v*scale)
	}
	for i, v := range z {
		z[i] = float32(math.Exp(float64(float32(v*scale) - stats[i%heads])))
		stats[heads+i%heads] += z[i]
	}
}

// weigh adds to o [4][width] the listed rows, each with its four weights in p.
func weigh(o, p, rows []float32, idx []int32, width int) {
	if simd {
		weigh4AVX2(&o[0], &p[0], &rows[0], &idx[0], len(idx), width)
		return
	}
	for n, i := range idx {
		row := rows[int(i)*width : (int(i)+1)*width]
		for h := range heads {
			weight, acc := p[n*heads+h], o[h*width:(h+1)*width]
			for d, v := range row {
				acc[d] += float32(weight * v)
			}
		}
	}
}
