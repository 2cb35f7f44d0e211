package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// attentionInput is a problem as the oracle takes it: rows as real values, lists of physical rows.
func attentionInput(p bench.Problem) (oracle.ListAttentionInput, error) {
	q := p.In("q")
	in := oracle.ListAttentionInput{
		Q:      q.Mat(),
		Heads:  q.Dim(1),
		Values: p.Attrs.Int("d_v"),
		Scale:  p.Attrs.Num("softmax_scale"),
	}
	in.Q = oracle.Mat{Rows: q.Dim(0), Cols: q.Dim(1) * q.Dim(2), Data: q.Data}
	if _, ok := p.Operands["attn_sink"]; ok {
		in.Sink = p.In("attn_sink").Data
	}
	for _, prefix := range prefixes(p) {
		rows, err := decoded(p, prefix)
		if err != nil {
			return in, err
		}
		lists, err := listed(p, prefix)
		if err != nil {
			return in, err
		}
		if p.Attrs.Word("kv_rounding") == "fp8" {
			if rows, err = roundTrip(rows, lists, p.Attrs.Int("rope_dims")); err != nil {
				return in, err
			}
		}
		in.Lists = append(in.Lists, oracle.RowList{Rows: rows, Indices: lists})
	}
	return in, nil
}

// roundTrip sends the leading channels of listed rows through e4m3 with a power-of-two scale for each 64, as the later
// V4 release does.
func roundTrip(rows oracle.Mat, lists [][]int, rope int) (oracle.Mat, error) {
	r, err := format.RecipeByName("v4-fp8")
	if err != nil {
		return rows, fmt.Errorf("kv_rounding: %w", err)
	}
	r.Block = format.KVFP8
	out := oracle.Mat{Rows: rows.Rows, Cols: rows.Cols, Data: append([]float64{}, rows.Data...)}
	lead := rows.Cols - rope
	done := map[int]bool{-1: true}
	for _, i := range slices.Concat(lists...) {
		if done[i] {
			continue
		}
		done[i] = true
		x := make([]float32, lead)
		for c := range x {
			x[c] = float32(rows.Row(i)[c])
		}
		q, err := r.Quantise(x, 1, lead)
		if err != nil {
			return rows, fmt.Errorf("kv_rounding: %w", err)
		}
		back, err := r.Block.Decode(q)
		if err != nil {
			return rows, fmt.Errorf("kv_rounding: %w", err)
		}
		copy(out.Row(i), back)
	}
	return out, nil
}

func lseForm(base, empty string) oracle.LSEForm {
	return oracle.LSEForm{Base2: base == "2", EmptyPlusInf: empty == "+inf"}
}

func expectAttention(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	in, err := attentionInput(p)
	if err != nil {
		return nil, err
	}
	if c.Contract.Name == production {
		return expectProduction(p, in), nil
	}
	base, empty := p.Attrs.Word("lse_base"), p.Attrs.Word("empty_lse")
	o, lse, top := oracle.ListAttention(in, lseForm(base, empty))
	t, h := in.Q.Rows, in.Heads
	bounds := attentionBounds(c.Contract, in, base)
	return asked(p, []bench.Expected{
		{
			Name:  "o",
			Shape: []int{t, h, in.Values},
			Axes:  []string{"query", "head", "channel"},
			Want:  o.Data,
			Bound: bounds.o,
			Derivation: "scores, weights, sums and merge under the contract, each moving o by p_j · ε_j · |v_j - o|, one " +
				"rounding to the output",
		},
		{
			Name:       "lse",
			Shape:      []int{t, h},
			Axes:       []string{"query", "head"},
			Want:       lse.Data,
			Bound:      bounds.lse,
			Derivation: "the worst score's error, the sum's and the logarithm's, those of partial log-sum-exps",
		},
		{
			Name:       "max_logits",
			Shape:      []int{t, h},
			Axes:       []string{"query", "head"},
			Want:       top.Data,
			Bound:      bounds.top,
			Derivation: "the worst score's error",
		},
	}), nil
}

// asked keeps the expectations of outputs that the call asks for.
func asked(p bench.Problem, all []bench.Expected) []bench.Expected {
	var out []bench.Expected
	for _, e := range all {
		if _, ok := p.Outputs[e.Name]; ok {
			out = append(out, e)
		}
	}
	return out
}

// limits are bounds of the three outputs, row-major.
type limits struct{ o, lse, top []float64 }

// attentionBounds derives them, query by query and head by head.
//
// A score's error is that of its dot product in the contract's accumulator, times the scale, and 5u·|z| for the
// scale's rounding, its product with log2 e, that constant, and their products. A kernel may cut the rows into parts
// that it joins by their log-sum-exps: each is stored in fp32 and goes through a logarithm and an exponential, which
// moves all weights of a part together by at most 2u·(max|z| + ln n) + 4k·u·(1 + ln n). Rescaling to a new maximum
// is one more exponential for each tile of 16 rows: 2k·u·n/16. The rest is numerics.Arith.Attention; the product with
// V adds the accumulator's own error where it is no fp32 sum.
func attentionBounds(c numerics.Contract, in oracle.ListAttentionInput, base string) limits {
	a := numerics.FP32()
	up := 0.0
	if c.Mid.Name != "" {
		up = c.Mid.U()
	}
	var out limits
	caches := make([][][]numerics.Tracked, len(in.Lists))
	for i, l := range in.Lists {
		caches[i] = make([][]numerics.Tracked, l.Rows.Rows)
	}
	width := in.Q.Cols / in.Heads
	for t := range in.Q.Rows {
		var rows []listedRow
		for i, l := range in.Lists {
			for _, r := range l.Indices[t] {
				if r < 0 {
					continue
				}
				if caches[i][r] == nil {
					caches[i][r] = numerics.ExactSlice(l.Rows.Row(r)[:in.Values])
				}
				rows = append(rows, listedRow{l.Rows.Row(r), caches[i][r]})
			}
		}
		for h := range in.Heads {
			scores, top := scoreBounds(c.Acc, a, in.Q.Row(t)[h*width:(h+1)*width], rows, in.Scale)
			terms := numerics.AttentionTerms{Scores: scores, UP: up, Splits: len(rows)}
			for _, r := range rows {
				terms.V = append(terms.V, r.tracked)
			}
			if in.Sink != nil && !math.IsInf(in.Sink[h], 0) {
				terms.Sinks = []numerics.Tracked{{X: in.Sink[h], E: 2 * a.U * math.Abs(in.Sink[h])}}
			}
			all := in.Sink != nil && math.IsInf(in.Sink[h], 1)
			out.o = append(out.o, outputBounds(c, a, terms, in.Values, all)...)
			l := inBase(base, a.LSEBound(scores, a.U))
			out.lse, out.top = append(out.lse, l.E), append(out.top, top)
		}
	}
	return out
}

type listedRow struct {
	row     []float64
	tracked []numerics.Tracked
}

// scoreBounds are the scores with what moves the weights, and the error of a score alone.
func scoreBounds(acc numerics.Accumulator, a numerics.Arith, q []float64, rows []listedRow,
	scale float64,
) (scores []numerics.Tracked, top float64) {
	most := 0.0
	products := make([]float64, len(q))
	for _, r := range rows {
		var z, abs float64
		for i, x := range q {
			products[i] = x * r.row[i]
			z += products[i]
			abs += math.Abs(products[i])
		}
		s := numerics.Tracked{X: scale * z, E: scale*acc.AccBound(products, abs) + 5*a.U*math.Abs(scale*z) + a.Tiny}
		scores = append(scores, s)
		most, top = math.Max(most, math.Abs(s.X)), math.Max(top, s.E)
	}
	n := float64(len(rows))
	if n == 0 {
		return nil, 0
	}
	joined := 2*a.U*(most+math.Log(n)) + 4*a.FnULP*a.U*(1+math.Log(n)) + 2*a.FnULP*a.U*math.Ceil(n/16)
	for i := range scores {
		scores[i].E += joined
	}
	return scores, top
}

// outputBounds are those of one query and head; all tells that the sink takes the whole weight.
func outputBounds(c numerics.Contract, a numerics.Arith, terms numerics.AttentionTerms, values int,
	all bool,
) []float64 {
	out := make([]float64, values)
	if len(terms.V) == 0 || all {
		for i := range out {
			out[i] = a.Tiny
		}
		return out
	}
	magnitude := make([]float64, values)
	if c.Acc.Block > 0 {
		magnitude = magnitudes(terms, values)
	}
	n := make([]float64, len(terms.V))
	for i, v := range a.Attention(terms) {
		e := v.E
		if c.Acc.Block > 0 {
			e += c.Acc.AccBound(n, magnitude[i]*(1+terms.UP))
		}
		out[i] = e + bench.OutTerm(c, v.X, e)
	}
	return out
}

// magnitudes are Σ p_j |v_j| of every channel.
func magnitudes(terms numerics.AttentionTerms, values int) []float64 {
	out := make([]float64, values)
	hi, sum := math.Inf(-1), 0.0
	all := append(append([]numerics.Tracked{}, terms.Scores...), terms.Sinks...)
	for _, s := range all {
		hi = math.Max(hi, s.X)
	}
	for _, s := range all {
		sum += math.Exp(s.X - hi)
	}
	for j, row := range terms.V {
		p := math.Exp(terms.Scores[j].X-hi) / sum
		for i := range out {
			out[i] += p * math.Abs(row[i].X)
		}
	}
	return out
}
