package sparse

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
)

// base is that of a kernel's exponentials. Constants are applied in float64 and the result rounded.
type base[F bench.Float] struct {
	exp, log func(x F) F
	in, out  float64 // a natural logarithm times in is one to this base, times out the way back
}

func naturalBase[F bench.Float]() base[F] {
	return base[F]{softmax.Exp[F], func(x F) F { return F(math.Log(float64(x))) }, 1, 1}
}

func baseTwo[F bench.Float]() base[F] {
	return base[F]{softmax.Exp2[F], func(x F) F { return F(math.Log2(float64(x))) }, math.Log2E, math.Ln2}
}

// by is a product with a constant.
func by[F bench.Float](x F, factor float64) F { return F(float64(x) * factor) }

// kernel is sparse_attention as steps.
type kernel[F bench.Float] struct {
	softmax.Stream[F]
	base[F]
	reader
	rows     func(g gathered, t int) [][]float64       // entries of a query in order, nil for lanes without row
	value    func(g gathered, row []float64) []float64 // what a row adds; nil for nothing
	scale    func(softmaxScale F) F                    // of scores in the kernel's base
	splits   int                                       // parts, 0 is what the call says
	cut      func(part, parts, n int) (from, to int)
	streamed func(z []F, s *softmax.State)                  // a part, after its rows
	divided  func(g gathered, h int, parts []softmax.State) // all parts, before they are combined
	partial  func(g gathered, s softmax.State) F            // a part's log-sum-exp for the combine step
	sink     func(g gathered, h, parts int) F
	empty    float64 // o of a query without rows
	lse      func(s softmax.State, sink F, parts int) F
	emptyLSE func(plusInf bool) float64
	toBase   func(natural F, base2 bool) F
	largest  func(score F) F // max_logits
}

// streaming is a correct kernel to the base e.
func streaming[F bench.Float](s softmax.Stream[F]) kernel[F] { return inBaseOf(s, naturalBase[F]()) }

// inBaseOf is a correct kernel with its exponentials to a base, which is folded into the scale of the scores.
func inBaseOf[F bench.Float](s softmax.Stream[F], b base[F]) kernel[F] {
	s.Exp = b.exp
	return kernel[F]{
		Stream:   s,
		base:     b,
		reader:   newReader(),
		rows:     listedRows,
		value:    leading,
		scale:    func(softmaxScale F) F { return softmaxScale * F(b.in) },
		cut:      func(part, parts, n int) (from, to int) { return part * n / parts, (part + 1) * n / parts },
		streamed: func([]F, *softmax.State) {},
		divided:  func(gathered, int, []softmax.State) {},
		partial:  func(_ gathered, s softmax.State) F { return b.logSum(s) },
		sink: func(g gathered, h, _ int) F {
			if g.sink == nil {
				return F(math.Inf(-1))
			}
			return by(F(g.sink[h]), b.in)
		},
		lse: func(s softmax.State, _ F, _ int) F { return b.logSum(s) },
		emptyLSE: func(plusInf bool) float64 {
			if plusInf {
				return math.Inf(1)
			}
			return math.Inf(-1)
		},
		toBase: func(natural F, base2 bool) F {
			if base2 {
				return by(natural, math.Log2E)
			}
			return natural
		},
		largest: func(score F) F { return by(score, b.out) },
	}
}

// logSum is the log-sum-exp of a state, -Inf without rows.
func (b base[F]) logSum(s softmax.State) F {
	if math.IsInf(s.Max, -1) {
		return F(s.Max)
	}
	return F(s.Max) + b.log(F(s.Sum))
}

// listedRows are the entries of the main list, then of the extra one.
func listedRows(g gathered, t int) [][]float64 {
	var rows [][]float64
	for cache, lists := range g.lists {
		for _, at := range lists[t] {
			if at < 0 {
				rows = append(rows, nil)
				continue
			}
			rows = append(rows, g.caches[cache][at])
		}
	}
	return rows
}

// leading is the value of a row: its first channels.
func leading(g gathered, row []float64) []float64 {
	if row == nil {
		return nil
	}
	return row[:g.dv]
}

func (k kernel[F]) run(a bench.Args) (bench.Results, error) {
	g := k.gather(a)
	out, lse, top := a.Fresh("o"), make([]float64, g.t*g.h), make([]float64, g.t*g.h)
	for t := range g.t {
		rows := k.rows(g, t)
		for h := range g.h {
			n := t*g.h + h
			lse[n], top[n] = k.head(g, g.q[n*g.d:(n+1)*g.d], h, rows, out[n*g.dv:(n+1)*g.dv])
		}
	}
	return bench.Results{"o": out, "lse": lse, "max_logits": top}, nil
}

// head is one query and head; it returns the log-sum-exp and the maximum as the call wants them.
func (k kernel[F]) head(g gathered, q []float64, h int, rows [][]float64, out []float64) (lse, top float64) {
	z := k.Scores(q, len(rows), func(i int) []float64 { return rows[i] }, k.scale(F(g.scale)))
	n := g.splits
	if k.splits > 0 {
		n = k.splits
	}
	parts := make([]softmax.State, n)
	for i := range parts {
		from, to := k.cut(i, n, len(rows))
		parts[i] = k.Over(z[from:to], g.dv, func(i int) []float64 { return k.value(g, rows[from+i]) })
		k.streamed(z[from:to], &parts[i])
	}
	k.divided(g, h, parts)
	sink := k.sink(g, h, n)
	total := parts[0]
	if n > 1 {
		total = k.Combine(parts, k.partials(g, parts))
	}
	denominator := F(total.Sum) + k.Exp(sink-F(total.Max))
	none := math.IsInf(total.Max, -1)
	for c := range out {
		if out[c] = k.empty; !none {
			out[c] = float64(F(total.Acc[c]) / denominator)
		}
	}
	best := slices.MaxFunc(parts, func(a, b softmax.State) int { return cmp.Compare(a.Max, b.Max) }).Max
	if lse = k.emptyLSE(g.plusInf); !none {
		lse = float64(k.toBase(by(k.lse(total, sink, n), k.out), g.base2))
	}
	return lse, float64(k.largest(F(best)))
}

func (k kernel[F]) partials(g gathered, parts []softmax.State) []F {
	out := make([]F, len(parts))
	for i, s := range parts {
		out[i] = k.partial(g, s)
	}
	return out
}
