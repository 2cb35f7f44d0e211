package dense

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
)

// attention is how a kernel computes either attention, as steps.
type attention[F bench.Float] struct {
	softmax.Stream[F]
	splits  int                                        // parts, 0 is what the call says
	order   func(keys []int)                           // of the keys of a part
	prepare func(q []float64, scale F) F               // puts scales into q; what is left for the scores
	fold    func(vScale F) (values, weights, result F) // where v_scale goes
	divide  func(acc, factor, total F) F               // acc · factor / total
}

// streaming is a correct kernel: one pass over the keys in their order, v_scale in the result.
func streaming[F bench.Float](s softmax.Stream[F]) attention[F] {
	return attention[F]{
		Stream:  s,
		order:   func([]int) {},
		prepare: func(_ []float64, scale F) F { return scale },
		fold:    func(vScale F) (values, weights, result F) { return 1, 1, vScale },
		divide:  func(acc, factor, total F) F { return acc * factor / total },
	}
}

// attend computes o [T·H·DV] and lse [T·H] over prefilled outputs.
func (k attention[F]) attend(l *launch, o, lse []float64) {
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
				s := k.query(l, b, i, h, rows)
				if l.last != nil {
					l.last(t, h, &s)
				}
				n := t*l.heads + h
				k.finish(l, s, h, o[n*l.dv:(n+1)*l.dv], lse, n)
			}
		}
	}
}

// query is one query and head over its keys, in parts that are merged.
func (k attention[F]) query(l *launch, b, i, h int, rows []int) softmax.State {
	q := slices.Clone(l.q[l.indptr[b]+i][h*l.d : (h+1)*l.d])
	scale := k.prepare(q, F(l.scale)*F(l.keyScale(l.head(h))))
	parts := k.splits
	if parts == 0 {
		parts = max(l.splits, 1)
	}
	whole := softmax.Empty(l.dv)
	for part := range parts {
		from, to := part*len(rows)/parts, (part+1)*len(rows)/parts
		if from == to {
			continue
		}
		s := k.over(l, q, scale, l.head(h), slices.Clone(rows[from:to]))
		if l.part != nil {
			l.part(b, i, h, part, &s)
		}
		whole = k.Merge(whole, s)
	}
	return whole
}

// over is a query over the keys of a part, g the key-value head.
func (k attention[F]) over(l *launch, q []float64, scale F, g int, keys []int) softmax.State {
	k.order(keys)
	values, weights, _ := k.fold(F(l.valueScale(g)))
	s := k.Stream
	if weights != 1 {
		s.Weight = func(p F) (sum, product F) {
			sum, product = k.Weight(p)
			return sum, product * weights
		}
	}
	z := s.Scores(q, len(keys), func(n int) []float64 { return l.k[keys[n]][g*l.d : (g+1)*l.d] }, scale)
	if l.cap > 0 {
		for i, v := range z {
			z[i] = F(l.cap) * F(math.Tanh(float64(v/F(l.cap))))
		}
	}
	scaled := make([]float64, l.dv)
	return s.Over(z, l.dv, func(n int) []float64 {
		v := l.v[keys[n]][g*l.dv : (g+1)*l.dv]
		if values == 1 {
			return v
		}
		for c, x := range v {
			scaled[c] = float64(F(x) * values)
		}
		return scaled
	})
}

// finish takes in the sink, divides, and writes.
func (k attention[F]) finish(l *launch, s softmax.State, h int, o, lse []float64, n int) {
	if s.Sum == 0 || math.IsInf(s.Max, -1) {
		clear(o)
		if lse != nil {
			lse[n] = math.Inf(-1)
		}
		return
	}
	total, m := F(s.Sum), F(s.Max)
	if lse != nil {
		v := m + F(math.Log(float64(total)))
		if l.base2 {
			v *= F(math.Log2E)
		}
		lse[n] = float64(v)
	}
	factor := F(1)
	if l.sink != nil {
		sink := F(l.sink[h])
		top := max(m, sink)
		factor = k.Exp(m - top)
		total *= factor
		total += k.Exp(sink - top)
	}
	_, _, result := k.fold(F(l.valueScale(l.head(h))))
	for c := range o {
		o[c] = float64(k.divide(F(s.Acc[c]), factor, total) * result)
	}
}
