package fast

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

// expert is a feed-forward expert in panels.
type expert struct{ w1, w2, w3 *panels }

func (s *session) expert(e oracle.ExpertWeights) (expert, bool) {
	w1, ok1 := s.packed(e.W1)
	w2, ok2 := s.packed(e.W2)
	w3, ok3 := s.packed(e.W3)
	return expert{w1, w2, w3}, ok1 && ok2 && ok3 && w1.width() == w1.n && w3.n == w1.n && w2.width() == w2.n
}

// apply is the expert on rows of a, which may be more than asked for (padded): into t.c.
func (e expert) apply(t *scratch, a []float32, rows int, limit float64) []float32 {
	g, u := floats(&t.g, rows*e.w1.n), floats(&t.d, rows*e.w1.n)
	e.w1.mul(g, a, e.w1.k, rows, 0, e.w1.n/columns)
	e.w3.mul(u, a, e.w3.k, rows, 0, e.w3.n/columns)
	gate(g, u, limit)
	c := floats(&t.c, rows*e.w2.n)
	e.w2.mul(c, g, e.w2.k, rows, 0, e.w2.n/columns)
	return c
}

// swiGLU is oracle.SwiGLU with the three products and the gate in fp32. With u = 2^-24 the products before the gate are
// within linear's bound B of the exact ones; silu's slope is at most 1.1, so the last product's operands are within
// B1·1.1·|up| + B3·|silu| + 16u·|silu·up|, and what follows is linear's bound again.
func (s *session) swiGLU(x oracle.Mat, weights oracle.ExpertWeights, limit float64) oracle.Mat {
	e, ok := s.expert(weights)
	if !ok {
		return oracle.SwiGLU(x, weights, limit)
	}
	out := s.mat(x.Rows, e.w2.n)
	tiles(x.Rows, func(t *scratch, from, to int) {
		store(out, e.apply(t, t.rowsOf(x, from, to), padded(to-from), limit), from, to, e.w2.n)
	})
	return out
}

// mixExperts is oracle.MixExperts over swiGLU, for a tile of tokens after the other; the sum over experts is in float64
// and in the oracle's order.
func (s *session) mixExperts(x oracle.Mat, r oracle.Routing, experts []oracle.ExpertWeights,
	shared oracle.ExpertWeights, limit float64,
) oracle.Mat {
	all := make([]expert, len(experts))
	for i, w := range experts {
		e, ok := s.expert(w)
		if !ok {
			return oracle.MixExperts(x, r, experts, shared, limit, s.swiGLU)
		}
		all[i] = e
	}
	always, ok := s.expert(shared)
	if !ok {
		return oracle.MixExperts(x, r, experts, shared, limit, s.swiGLU)
	}
	out := s.mat(x.Rows, always.w2.n)
	tiles(x.Rows, func(t *scratch, from, to int) {
		a := t.rowsOf(x, from, to)
		store(out, always.apply(t, a, padded(to-from), limit), from, to, out.Cols)
		for i, e := range all {
			tokens, weights := t.routedTo(i, r, from, to)
			if len(tokens) == 0 {
				continue
			}
			rows := padded(len(tokens))
			part := floats(&t.e, rows*x.Cols)
			for n, token := range tokens {
				copy(part[n*x.Cols:(n+1)*x.Cols], a[(int(token)-from)*x.Cols:])
			}
			clear(part[len(tokens)*x.Cols:])
			c := e.apply(t, part, rows, limit)
			for n, token := range tokens {
				add(out.Row(int(token)), c[n*out.Cols:(n+1)*out.Cols], weights[n])
			}
		}
	})
	return out
}

// routedTo lists the tokens of a tile that go to an expert, and their weights.
func (t *scratch) routedTo(id int, r oracle.Routing, from, to int) ([]int32, []float64) {
	t.idx, t.f = t.idx[:0], t.f[:0]
	for token := from; token < to; token++ {
		for i, e := range r.Experts[token] {
			if e == id {
				t.idx, t.f = append(t.idx, int32(token)), append(t.f, r.Weights[token][i])
			}
		}
	}
	return t.idx, t.f
}

// add is y += weight·x.
func add(y []float64, x []float32, weight float64) {
	for i, v := range x {
		y[i] += weight * float64(v)
	}
}

// gate is the clamped SwiGLU of fp32 products, in place of g: within 16u of the exact value, u = 2^-24.
func gate(g, u []float32, limit float64) {
	if limit <= 0 {
		limit = math.Inf(1)
	}
	n, l := 0, float32(limit)
	if simd {
		if n = len(g) &^ 7; n > 0 {
			gateAVX2(&g[0], &u[0], n, l)
		}
	}
	for i := n; i < len(g); i++ {
		v := min(g[i], l)
		g[i] = float32(float64(v)/(1+math.Exp(-float64(v)))) * max(-l, min(u[i], l))
	}
}
