package dense

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// number is what a kernel computes in: float32 emulates the contract, float64 is more exact than it. A product is
// assigned before it is added, which rounds it: nothing is fused.
type number interface{ float32 | float64 }

// launch is an attention call as a kernel sees it, paged or ragged, grouped or latent. Faults edit it before it runs.
type launch struct {
	heads, groups, d, dv int
	tokens               int         // rows of the outputs
	q, k, v              [][]float64 // [T] of H·D, [rows] of G·D and G·DV
	indptr, lens         []int
	sink                 []float64
	scale, kScale        float64
	vScale               float64
	causal               bool
	left, right, splits  int
	base2                bool

	row  func(b, j int) int          // where token j of request b lies
	span func(b, i int) (lo, hi int) // keys of query i of request b
	head func(h int) int             // the key-value head of a query head

	// hooks where faults change what is computed in between
	score func(b, i, j int, z float64) float64
	part  func(b, i, h, split int, s *state)
	last  func(t, h int, s *state)
	skip  func(b, i int) bool // queries whose outputs stay as they are
}

// state is attention over some keys: the maximum, the sum of exponentials relative to it, the weighted sum of values.
type state struct {
	m, l, top float64 // top: the maximum over masked keys too, for faults
	acc       []float64
	last      bool // holds the query's own key
}

// style is how a correct kernel goes about it.
type style struct {
	lanes     int  // partial sums of a dot product, 0 is 1
	tile      int  // keys between two rescalings, 0 is all of a split
	splits    int  // parts, 0 is what the call says
	exp2      bool // 2^(z·log2 e)
	reverse   bool // last key first
	pBF16     bool // weights rounded before the product with values
	sumP      bool // a fault: and the sum taken over the rounded ones
	prescale  bool // scales go into q
	foldV     int  // v_scale: 0 into the result, 1 into the values, 2 into the weights
	normalise bool // weights divided by their sum, then multiplied (one split, two passes)
}

// attend computes o [T·H·DV] and lse [T·H] over prefilled outputs.
func attend[F number](l *launch, st style, o, lse []float64) {
	for b := range l.lens {
		for i := range l.indptr[b+1] - l.indptr[b] {
			if l.skip != nil && l.skip(b, i) {
				continue
			}
			t := l.indptr[b] + i
			lo, hi := l.span(b, i)
			rows := make([]int, 0, max(hi-lo, 0))
			for j := lo; j < hi; j++ {
				rows = append(rows, l.row(b, j))
			}
			for h := range l.heads {
				s := query[F](l, st, b, i, h, lo, rows)
				if l.last != nil {
					l.last(t, h, &s)
				}
				n := t*l.heads + h
				finish[F](l, st, s, h, o[n*l.dv:(n+1)*l.dv], lse, n)
			}
		}
	}
}

// query is one query and head over its keys, in parts that are merged.
func query[F number](l *launch, st style, b, i, h, lo int, rows []int) state {
	q := convert[F](l.q[l.indptr[b]+i][h*l.d : (h+1)*l.d])
	scale := F(l.scale) * F(l.kScale)
	if st.prescale {
		for c := range q {
			q[c] = q[c] * scale
		}
		scale = 1
	}
	parts := st.splits
	if parts == 0 {
		parts = max(l.splits, 1)
	}
	whole := state{m: math.Inf(-1), top: math.Inf(-1), acc: make([]float64, l.dv)}
	for part := range parts {
		from, to := part*len(rows)/parts, (part+1)*len(rows)/parts
		if from == to {
			continue
		}
		s := split[F](l, st, q, scale, b, i, h, lo+from, rows[from:to])
		s.last = to == len(rows)
		if l.part != nil {
			l.part(b, i, h, part, &s)
		}
		if part == 0 || math.IsInf(whole.m, -1) {
			whole = s
			continue
		}
		merge[F](&whole, s, st)
	}
	return whole
}

// merge adds a state to another.
func merge[F number](into *state, s state, st style) {
	m := math.Max(into.m, s.m)
	x, y := exp(F(into.m)-F(m), st), exp(F(s.m)-F(m), st)
	a, b := F(into.l)*x, F(s.l)*y
	into.l = float64(a + b)
	for c := range into.acc {
		a, b := F(into.acc[c])*x, F(s.acc[c])*y
		into.acc[c] = float64(a + b)
	}
	into.m, into.last = m, s.last
	into.top = math.Max(into.top, s.top)
}

// split is an online softmax over keys, tile by tile.
func split[F number](l *launch, st style, q []F, scale F, b, i, h, first int, rows []int) state {
	g := l.head(h)
	tile := st.tile
	if tile == 0 {
		tile = len(rows)
	}
	s := state{m: math.Inf(-1), top: math.Inf(-1)}
	acc := make([]F, l.dv)
	var sum F
	m := F(math.Inf(-1))
	z := make([]F, 0, tile)
	for at := 0; at < len(rows); at += tile {
		end := min(at+tile, len(rows))
		z = z[:0]
		next := m
		for n := at; n < end; n++ {
			key := n
			if st.reverse {
				key = len(rows) - 1 - n
			}
			score := dot(q, l.k[rows[key]][g*l.d:(g+1)*l.d], st.lanes) * scale
			if l.score != nil {
				score = F(l.score(b, i, first+key, float64(score)))
			}
			z = append(z, score)
			next = max(next, score)
		}
		if m > F(math.Inf(-1)) && next > m {
			x := exp(m-next, st)
			sum = sum * x
			for c := range acc {
				acc[c] = acc[c] * x
			}
		}
		m = next
		if math.IsInf(float64(m), -1) {
			continue
		}
		weights(z, m, &sum, st)
		if st.foldV == 2 {
			for n := range z {
				z[n] = z[n] * F(l.vScale)
			}
		}
		for n := at; n < end; n++ {
			key := n
			if st.reverse {
				key = len(rows) - 1 - n
			}
			p := z[n-at]
			v := l.v[rows[key]][g*l.dv : (g+1)*l.dv]
			if st.foldV == 1 {
				vs := F(l.vScale)
				for c := range acc {
					scaled := F(v[c]) * vs
					product := p * scaled
					acc[c] += product
				}
				continue
			}
			for c := range acc {
				product := p * F(v[c])
				acc[c] += product
			}
		}
	}
	s.m, s.l, s.top = float64(m), float64(sum), float64(m)
	s.acc = make([]float64, l.dv)
	for c, v := range acc {
		s.acc[c] = float64(v)
	}
	return s
}

// weights turns scores into exponentials and adds them up.
func weights[F number](z []F, m F, sum *F, st style) {
	for n, v := range z {
		p := exp(v-m, st)
		rounded := p
		if st.pBF16 {
			rounded = F(format.DecodeBF16(format.EncodeBF16(float32(p))))
		}
		if st.sumP {
			p = rounded
		}
		*sum += p
		z[n] = rounded
	}
}

// finish takes in the sink, divides, and writes.
func finish[F number](l *launch, st style, s state, h int, o, lse []float64, n int) {
	total, m := F(s.l), F(s.m)
	if s.l == 0 || math.IsInf(s.m, -1) {
		for c := range o {
			o[c] = 0
		}
		if lse != nil {
			lse[n] = math.Inf(-1)
		}
		return
	}
	if lse != nil {
		v := m + F(math.Log(float64(total)))
		if l.base2 {
			v = v * F(math.Log2E)
		}
		lse[n] = float64(v)
	}
	factor := F(1)
	if l.sink != nil {
		sink := F(l.sink[h])
		top := max(m, sink)
		factor = exp(m-top, st)
		total *= factor
		total += exp(sink-top, st)
	}
	vs := F(l.vScale)
	if st.foldV != 0 {
		vs = 1
	}
	for c := range o {
		v := F(s.acc[c]) * factor
		v /= total
		if st.normalise {
			share := factor / total
			v = F(s.acc[c]) * share
		}
		o[c] = float64(v * vs)
	}
}

// exp is e^x, by a power of two where a kernel has no other.
func exp[F number](x F, st style) F {
	if st.exp2 {
		return F(math.Exp2(float64(x * F(math.Log2E))))
	}
	return F(math.Exp(float64(x)))
}

// dot adds products in some number of lanes, which are added in order.
func dot[F number](q []F, k []float64, lanes int) F {
	if lanes <= 1 {
		var s F
		for c, v := range k {
			product := q[c] * F(v)
			s += product
		}
		return s
	}
	var acc [128]F
	for c, v := range k {
		product := q[c] * F(v)
		acc[c%lanes] += product
	}
	var s F
	for _, v := range acc[:lanes] {
		s += v
	}
	return s
}

func convert[F number](v []float64) []F {
	out := make([]F, len(v))
	for i, x := range v {
		out[i] = F(x)
	}
	return out
}

// rowsOf cuts a tensor into rows of all dimensions from d on.
func rowsOf(x bench.Tensor, d int) [][]float64 {
	n, width := 1, 1
	for i, s := range x.Shape {
		if i < d {
			n *= s
		} else {
			width *= s
		}
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = x.Data[i*width : (i+1)*width]
	}
	return out
}
