package oracle

import (
	"fmt"
	"math"
)

// MLA is multi-head latent attention (V3.2): a cached row is a latent of R channels, shared by all
// heads, and P rotated channels. Keys and values are linear in the latent, so that the head's
// up-projection can be applied to every cached row (prefill) or once to the query and once to the
// output (decode, "absorb").
type MLA struct {
	Heads, Nope, Rope, Values int
	KUp                       Mat // [H·Nope, R]
	VUp                       Mat // [H·Values, R]
	Scale                     float64
}

// MLAInput is the operands of one launch. Q [T, H·(Nope+Rope)], rotated, nope first; Latent [S, R] after
// its norm; KRope [S, Rope], rotated; Rows [T] the cached rows that a query attends to: all up to it
// (CausalRows) or the indexer's selection. An index out of [0, S) is no row.
type MLAInput struct {
	Q, Latent, KRope Mat
	Rows             [][]int
}

// SplitKVUp takes V3.2's wkv_b [H·(nope+values), R] apart: every head has its nope key rows first,
// then its value rows. It fails when the rows do not fit the heads.
func SplitKVUp(wkvB Mat, heads, nope, values int) (kUp, vUp Mat, err error) {
	if wkvB.Rows != heads*(nope+values) {
		return Mat{}, Mat{}, fmt.Errorf("mla: wkv_b has %d rows; %d heads of %d + %d need %d", wkvB.Rows, heads, nope, values,
			heads*(nope+values))
	}
	for h := range heads {
		at := h * (nope + values)
		kUp = kUp.Append(wkvB.Slice(at, at+nope))
		vUp = vUp.Append(wkvB.Slice(at+nope, at+nope+values))
	}
	return kUp, vUp, nil
}

// MLAScale is V3.2's attention scale (nope+rope)^-½ · m², m = YaRNMScale(factor, mscale): 0.1352337789
// for 192 channels, factor 40 and mscale 1, and 0.0721687836 without YaRN (factor 1).
func MLAScale(channels int, factor, mscale float64) float64 {
	m := YaRNMScale(factor, mscale)
	return m * m / math.Sqrt(float64(channels))
}

// Expanded is the prefill form, MHA over expanded keys and values:
//
//	k[s, h] = [W_uk[h] c_s | r_s]    v[s, h] = W_uv[h] c_s    o = softmax(Scale <q, k>) v
//
// Results: the output [T, H·Values] and the natural log-sum-exp [T, H]; a query without rows gives 0
// and -Inf.
//
// Source: V3.2 inference/model.py MLA, the prefill branch.
func (m MLA) Expanded(in MLAInput) (o, lse Mat) {
	nope, values := Linear(in.Latent, m.KUp), Linear(in.Latent, m.VUp) // [S, H·Nope], [S, H·Values]
	o, lse = NewMat(in.Q.Rows, m.Heads*m.Values), NewMat(in.Q.Rows, m.Heads)
	for t := range in.Q.Rows {
		for h := range m.Heads {
			q := in.Q.Row(t)[h*(m.Nope+m.Rope) : (h+1)*(m.Nope+m.Rope)]
			var z []float64
			var rows []int
			for _, s := range in.Rows[t] {
				if s >= 0 && s < in.Latent.Rows {
					z = append(z, m.Scale*(dot(q[:m.Nope], nope.Row(s)[h*m.Nope:(h+1)*m.Nope])+dot(q[m.Nope:], in.KRope.Row(s))))
					rows = append(rows, s)
				}
			}
			total := LogSumExp(z, LSEForm{})
			lse.Row(t)[h] = total
			for i, s := range rows {
				axpy(math.Exp(z[i]-total), values.Row(s)[h*m.Values:(h+1)*m.Values], o.Row(t)[h*m.Values:(h+1)*m.Values])
			}
		}
	}
	return o, lse
}

// Absorbed is the decode form, MQA over the cached rows [c_s | r_s] with the latent as value:
//
//	q' = [W_uk[h]ᵀ q_nope | q_rope]    u = softmax(Scale <q', [c | r]>) c    o = W_uv[h] u
//
// The same results as Expanded.
//
// Source: V3.2 inference/model.py MLA, the decode branch.
func (m MLA) Absorbed(in MLAInput) (o, lse Mat) {
	rank := in.Latent.Cols
	cache := NewMat(in.Latent.Rows, rank+m.Rope)
	for s := range cache.Rows {
		copy(cache.Row(s), in.Latent.Row(s))
		copy(cache.Row(s)[rank:], in.KRope.Row(s))
	}
	u, lse, _ := ListAttention(ListAttentionInput{
		Q: m.Absorb(in.Q), Heads: m.Heads, Values: rank, Scale: m.Scale,
		Lists: []RowList{{Rows: cache, Indices: in.Rows}},
	}, LSEForm{})
	return m.Expand(u), lse
}

// Absorb turns queries [T, H·(Nope+Rope)] into those of the decode form, [T, H·(R+Rope)].
func (m MLA) Absorb(q Mat) Mat {
	rank, width := m.KUp.Cols, m.Nope+m.Rope
	out := NewMat(q.Rows, m.Heads*(rank+m.Rope))
	for t := range q.Rows {
		for h := range m.Heads {
			from, to := q.Row(t)[h*width:(h+1)*width], out.Row(t)[h*(rank+m.Rope):(h+1)*(rank+m.Rope)]
			for i, v := range from[:m.Nope] {
				axpy(v, m.KUp.Row(h*m.Nope+i), to[:rank])
			}
			copy(to[rank:], from[m.Nope:])
		}
	}
	return out
}

// Expand turns the decode form's outputs u [T, H·R] into [T, H·Values].
func (m MLA) Expand(u Mat) Mat {
	return GroupedProjection(u, m.VUp, m.Heads)
}

// CausalRows are the keys that queries at absolute positions see: of rows that hold the positions
// start, start+1, ..., those from max(start, p-window+1) to p; window 0 is unbounded. The query's own
// key is always among them, a window of 1 is it alone.
//
// Source: V4 inference/model.py get_window_topk_idxs.
func CausalRows(positions []int, start, window int) [][]int {
	out := make([][]int, len(positions))
	for t, p := range positions {
		first := start
		if window > 0 {
			first = max(start, p-window+1)
		}
		for s := first; s <= p; s++ {
			out[t] = append(out[t], s-start)
		}
	}
	return out
}
