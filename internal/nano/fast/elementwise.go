package fast

import (
	"math"
	"sync"

	"github.com/assay-suite/assay/oracle"
)

// sumSquares is Σx² in float64.
func sumSquares(x []float64) float64 {
	sum, n := 0.0, 0
	if simd {
		if n = len(x) &^ 15; n > 0 {
			sum = sumSquaresAVX2(&x[0], n)
		}
	}
	for _, v := range x[n:] {
		sum += v * v
	}
	return sum
}

// rmsNorm is oracle.RMSNorm in float64.
func (s *session) rmsNorm(x oracle.Mat, weight []float64, width int, eps float64) oracle.Mat {
	switch {
	case weight != nil:
		width = len(weight)
	case width == 0:
		width = x.Cols
	}
	if width == 0 || width%4 != 0 || x.Cols%width != 0 {
		return oracle.RMSNorm(x, weight, width, eps)
	}
	if weight == nil {
		weight = s.ones(width)
	}
	out := s.mat(x.Rows, x.Cols)
	tiles(x.Rows, func(_ *scratch, from, to int) {
		for i := from * x.Cols; i < to*x.Cols; i += width {
			in, y := x.Data[i:i+width], out.Data[i:i+width]
			r := 1 / math.Sqrt(sumSquares(in)/float64(width)+eps)
			if simd {
				scaleAVX2(&y[0], &in[0], &weight[0], r, width)
				continue
			}
			for d, v := range in {
				y[d] = v * r * weight[d]
			}
		}
	})
	return out
}

// ones is a norm's weight where it has none.
func (s *session) ones(n int) []float64 {
	w := s.mat(1, n).Data
	for i := range w {
		w[i] = 1
	}
	return w
}

// turns are sines and cosines of one rotary table, [position][pairs of sin, cos]; grown as positions come.
type turns struct {
	mu   sync.Mutex
	rope oracle.Rope
	rows [][]float64
}

// upTo returns the table for positions below n.
func (t *turns) upTo(n int) [][]float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := len(t.rows); p < n; p++ {
		row := make([]float64, t.rope.Dims)
		for i := range t.rope.Dims / 2 {
			row[2*i], row[2*i+1] = math.Sincos(t.rope.Angle(p, i))
		}
		t.rows = append(t.rows, row)
	}
	return t.rows
}

// rotate is oracle.RotateInterleaved in float64, with a table of sines and cosines in place of computing them for each
// row; the results have the same bits.
func (s *session) rotate(x oracle.Mat, width int, positions []int, rope oracle.Rope, inverse bool) oracle.Mat {
	out := s.mat(x.Rows, x.Cols)
	if x.Rows == 0 {
		return out
	}
	last := 0
	for _, p := range positions {
		if last = max(last, p); p < 0 {
			return oracle.RotateInterleaved(x, width, positions, rope, inverse)
		}
	}
	kept, _ := s.turnTables.LoadOrStore(rope, &turns{rope: rope})
	table, _ := kept.(*turns)
	rows := table.upTo(last + 1)
	tiles(x.Rows, func(_ *scratch, from, to int) {
		copy(out.Data[from*x.Cols:to*x.Cols], x.Data[from*x.Cols:to*x.Cols])
		for r := from; r < to; r++ {
			row, turn := out.Row(r), rows[positions[r]]
			for end := width; end <= len(row); end += width {
				tail := row[end-rope.Dims : end]
				for i := 0; i+1 < len(tail); i += 2 {
					a, b, sin, cos := tail[i], tail[i+1], turn[i], turn[i+1]
					if inverse {
						sin = -sin
					}
					tail[i], tail[i+1] = a*cos-b*sin, a*sin+b*cos
				}
			}
		}
	})
	return out
}
