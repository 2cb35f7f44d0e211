package fast

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

// compress is oracle.Compress with gates, values and sums in fp32: with u = 2^-24, n rows a block and G the largest
// |gate| of a channel, an element is within 2(2G + n + 10)·u·Σp|a| of the exact one.
func (s *session) compress(a, g, prevA, prevG oracle.Mat, p oracle.Pooling) oracle.Mat {
	if p.Width%8 != 0 || p.Ratio < 1 {
		return oracle.Compress(a, g, prevA, prevG, p)
	}
	blocks := a.Rows / p.Ratio
	out := s.mat(blocks, p.Width)
	tiles(blocks, func(t *scratch, from, to int) {
		for b := from; b < to; b++ {
			pool := pooler{t: t, width: p.Width, most: 2 * p.Ratio}
			first := 0
			if p.Overlap {
				first = p.Width
				pa, pg, at := prevA, prevG, 0
				if b > 0 {
					pa, pg, at = a, g, (b-1)*p.Ratio
				}
				pool.add(pa, pg, at, min(at+p.Ratio, pa.Rows), 0)
			}
			pool.add(a, g, b*p.Ratio, (b+1)*p.Ratio, first)
			pool.finish(out.Row(b))
		}
	})
	return out
}

// pooler gathers the rows of one block in fp32, at most most of them.
type pooler struct {
	t                 *scratch
	width, most, rows int
}

func (p *pooler) buffers() (values, gates []float32) {
	return floats(&p.t.a, p.most*p.width), floats(&p.t.c, p.most*p.width)
}

func (p *pooler) add(a, g oracle.Mat, from, to, channel int) {
	values, gates := p.buffers()
	for r := from; r < to; r++ {
		at := p.rows * p.width
		narrow(values[at:], a.Row(r)[channel:channel+p.width])
		narrow(gates[at:], g.Row(r)[channel:channel+p.width])
		p.rows++
	}
}

// finish takes the softmax over the rows per channel and writes the weighted sum of values.
func (p *pooler) finish(out []float64) {
	values, gates := p.buffers()
	n := p.rows * p.width
	stats := floats(&p.t.d, 3*p.width)
	top, sum, acc := stats[:p.width], stats[p.width:2*p.width], stats[2*p.width:]
	for d := range top {
		top[d], sum[d], acc[d] = float32(math.Inf(-1)), 0, 0
	}
	for at := 0; at < n; at += p.width {
		for d, v := range gates[at : at+len(top)] {
			top[d] = max(top[d], v)
		}
	}
	for at := 0; at < n; at += p.width {
		row := gates[at : at+len(top)]
		for d, v := range row {
			row[d] = v - top[d]
		}
	}
	exponential(gates[:n])
	for at := 0; at < n; at += p.width {
		row, v := gates[at:at+len(sum)], values[at:at+len(sum)]
		for d, e := range row {
			sum[d] += e
			acc[d] += float32(e * v[d])
		}
	}
	for d := range out {
		out[d] = float64(acc[d]) / float64(sum[d])
	}
}

// exponential replaces x, at most 0 and of a length that 8 divides, by its exponential.
func exponential(x []float32) {
	if simd && len(x) > 0 {
		expAVX2(&x[0], len(x))
		return
	}
	for i, v := range x {
		x[i] = float32(math.Exp(float64(v)))
	}
}
