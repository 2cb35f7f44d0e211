package llama

import (
	"context"
	"fmt"
	"math"

	"github.com/assay-suite/assay/oracle"
)

// piece is how many tokens go through the layers at once; it bounds memory and what a cancelled request still computes.
const piece = 512

// Extend reads ids after what s holds, updates s and returns the logits of the last positions: [last][vocab]. A whole
// prompt, a chunk of one and a decoded token are the same call.
//
// It fails without touching s when an id is outside the vocabulary, last is not in 0..len(ids), the sequence would
// outgrow max_position_embeddings, or ctx is done.
func (m *Model) Extend(ctx context.Context, s *State, ids []int, last int) ([][]float64, error) {
	return m.extend(ctx, s, ids, last, nil)
}

// extend hands the residual stream after every layer to after, which may be nil.
func (m *Model) extend(ctx context.Context, s *State, ids []int, last int, after func(layer int, x oracle.Mat),
) ([][]float64, error) {
	if err := m.check(s, ids, last); err != nil {
		return nil, err
	}
	next := s.draft()
	var logits [][]float64
	for from := 0; from < len(ids); from += piece {
		part := ids[from:min(from+piece, len(ids))]
		x := m.embed(part)
		for i := range m.layers {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			x = m.layer(&m.layers[i], x, &next.layers[i], next.length)
			if after != nil {
				after(i, x)
			}
		}
		next.length += len(part)
		rows := min(max(last-(len(ids)-from-len(part)), 0), len(part))
		out := m.linear(oracle.RMSNorm(x.Slice(x.Rows-rows, x.Rows), m.norm, 0, m.Config.NormEps), m.head)
		for t := range out.Rows {
			logits = append(logits, out.Row(t))
		}
	}
	*s = *next
	return logits, nil
}

func (m *Model) check(s *State, ids []int, last int) error {
	for t, id := range ids {
		if id < 0 || id >= m.Config.Vocab {
			return fmt.Errorf("token %d of the input is %d; ids of this model are 0 to %d", t, id, m.Config.Vocab-1)
		}
	}
	if last < 0 || last > len(ids) {
		return fmt.Errorf("logits of the last %d positions were asked for, but the input has %d tokens", last, len(ids))
	}
	if n := s.length + len(ids); n > m.Config.MaxPositions {
		return fmt.Errorf("the sequence would be %d tokens; the model ends at %d", n, m.Config.MaxPositions)
	}
	return nil
}

func (m *Model) embed(ids []int) oracle.Mat {
	x := oracle.NewMat(len(ids), m.Config.Hidden)
	for t, id := range ids {
		copy(x.Row(t), m.embedding.Row(id))
	}
	return x
}

// layer is pre-norm attention and feed-forward with residuals; x [T, hidden] at positions start to start+T-1.
func (m *Model) layer(l *layer, x oracle.Mat, c *cache, start int) oracle.Mat {
	h := m.rounded(oracle.RMSNorm(x, l.attnNorm, 0, m.Config.NormEps))
	q, k, v := m.linear(h, l.q), m.linear(h, l.k), m.linear(h, l.v)
	m.rotate(q, start)
	m.rotate(k, start)
	m.rounded(q)
	m.rounded(k)
	for g := range c.k {
		c.k[g] = c.k[g].Append(columns(k, g, m.Config.HeadDim))
		c.v[g] = c.v[g].Append(columns(v, g, m.Config.HeadDim))
	}
	x = m.rounded(sum(x, m.linear(m.attention(q, *c, start), l.o)))
	h = m.rounded(oracle.RMSNorm(x, l.ffnNorm, 0, m.Config.NormEps))
	return m.rounded(sum(x, m.rounded(m.swiGLU(h, l.ffn))))
}

// columns is head g of rows [T, heads·d], as a matrix [T, d] of its own.
func columns(x oracle.Mat, g, d int) oracle.Mat {
	out := oracle.NewMat(x.Rows, d)
	for t := range x.Rows {
		copy(out.Row(t), x.Row(t)[g*d:(g+1)*d])
	}
	return out
}

func sum(a, b oracle.Mat) oracle.Mat {
	out := a.Clone()
	for i, v := range b.Data {
		out.Data[i] += v
	}
	return out
}

// frequencies are base^(-2i/d) of the pairs, in the steps and roundings of transformers: the power in fp32, then its
// reciprocal in fp32. Source: transformers modeling_rope_utils.py, default rope.
func frequencies(base float64, d int) []float32 {
	f := make([]float32, d/2)
	for i := range f {
		f[i] = 1 / float32(math.Pow(base, float64(float32(2*i)/float32(d))))
	}
	return f
}

// rotate turns every head of x [T, heads·d] in place, pairs (i, i+d/2), by position times frequency, a product in
// fp32.
// Source: transformers modeling_llama.py apply_rotary_pos_emb.
func (m *Model) rotate(x oracle.Mat, start int) {
	d, half := m.Config.HeadDim, m.Config.HeadDim/2
	for t := range x.Rows {
		for i, f := range m.frequencies {
			sin, cos := math.Sincos(float64(float32(start+t) * f))
			for row := x.Row(t); len(row) > 0; row = row[d:] {
				a, b := row[i], row[i+half]
				row[i], row[i+half] = a*cos-b*sin, b*cos+a*sin
			}
		}
	}
}

// swiGLU is oracle.SwiGLU without a clamp, by the products of this model where they are rounded.
func (m *Model) swiGLU(x oracle.Mat, e oracle.ExpertWeights) oracle.Mat {
	if m.round == nil {
		return oracle.SwiGLU(x, e, 0)
	}
	g, u := m.linear(x, e.W1), m.linear(x, e.W3)
	for i, v := range g.Data {
		g.Data[i] = v / (1 + math.Exp(-v)) * u.Data[i]
	}
	return m.linear(g, e.W2)
}
