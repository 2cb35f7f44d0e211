package oracle

import "math"

// Pooling describes a compressor: Ratio tokens become one row of Width channels. With Overlap (V4's
// ratio 4) every block also looks at the block before it, through its own half of the channels.
type Pooling struct {
	Ratio, Width int
	Overlap      bool
}

// Channels is the width of the projections a and g: 2·Width with overlap, else Width.
func (p Pooling) Channels() int {
	if p.Overlap {
		return 2 * p.Width
	}
	return p.Width
}

// Compress pools whole blocks of Ratio tokens by a softmax over the tokens, one per channel:
//
//	plain    c_b[d] = sum_j softmax_j(g[rb+j, d]) a[rb+j, d]
//	overlap  the same over 2r rows: the previous block's channels [0, W), this block's [W, 2W)
//
// a, g [B·r, channels]: values and gates (position bias already added) of the tokens of B complete
// blocks. prevA, prevG [r, channels]: the block before, or no rows for the first block of a sequence,
// whose low half then has weight exactly 0. Result [B, W], before norm and RoPE.
//
// Source: V4 inference/model.py Compressor; no chunking exists there, the carry is its decode state.
func Compress(a, g, prevA, prevG Mat, p Pooling) Mat {
	blocks := a.Rows / p.Ratio
	out := NewMat(blocks, p.Width)
	parallel(blocks, 8, func(from, to int) {
		for b := from; b < to; b++ {
			pool := newPooler(out.Row(b))
			if p.Overlap {
				pa, pg := prevA, prevG
				if b > 0 {
					pa, pg = a.Slice((b-1)*p.Ratio, b*p.Ratio), g.Slice((b-1)*p.Ratio, b*p.Ratio)
				}
				pool.rows(pa, pg, 0)
				pool.rows(a.Slice(b*p.Ratio, (b+1)*p.Ratio), g.Slice(b*p.Ratio, (b+1)*p.Ratio), p.Width)
			} else {
				pool.rows(a.Slice(b*p.Ratio, (b+1)*p.Ratio), g.Slice(b*p.Ratio, (b+1)*p.Ratio), 0)
			}
			pool.finish()
		}
	})
	return out
}

// pooler gathers the rows of one block, then takes the softmax over them per channel.
type pooler struct {
	out    []float64
	values [][]float64
	gates  [][]float64
}

func newPooler(out []float64) *pooler { return &pooler{out: out} }

func (p *pooler) rows(a, g Mat, firstChannel int) {
	for j := range a.Rows {
		p.values = append(p.values, a.Row(j)[firstChannel:firstChannel+len(p.out)])
		p.gates = append(p.gates, g.Row(j)[firstChannel:firstChannel+len(p.out)])
	}
}

func (p *pooler) finish() {
	for d := range p.out {
		top := math.Inf(-1)
		for _, g := range p.gates {
			top = math.Max(top, g[d])
		}
		sum, acc := 0.0, 0.0
		for j, g := range p.gates {
			e := math.Exp(g[d] - top)
			sum += e
			acc += e * p.values[j][d]
		}
		p.out[d] = acc / sum
	}
}

// AddPositionBias adds ape[p mod r] to the gates in place: g [T, channels] for tokens that start at
// an absolute position, ape [r, channels].
func AddPositionBias(g, ape Mat, position int) {
	for t := range g.Rows {
		axpy(1, ape.Row((position+t)%ape.Rows), g.Row(t))
	}
}
