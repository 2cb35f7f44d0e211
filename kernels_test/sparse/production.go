package sparse

import (
	"math"
	"math/rand/v2"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// judgedRows are the queries of a production-size launch that are compared with the exact result: the first and the
// last ones, those at the edges of blocks of 128 queries, and 64 others.
func judgedRows(n int) []int {
	const block, others = 128, 64
	rng := rand.New(rand.NewPCG(uint64(n), block))
	seen := map[int]bool{}
	for t := 0; t < n; t += block {
		for _, at := range []int{t, min(t+block, n) - 1} {
			seen[at] = true
		}
	}
	for range others {
		seen[rng.IntN(n)] = true
	}
	var out []int
	for t := range n {
		if seen[t] {
			out = append(out, t)
		}
	}
	return out
}

// expectProduction derives the exact result for some queries. The others are held to what is certain without computing
// them: an output is an average of rows, so no channel of it exceeds the largest value of the caches, and no
// log-sum-exp exceeds scale · |q| · max |kv| + ln n (Cauchy and Schwarz). Poison and a second run then compare all
// queries bit for bit.
func expectProduction(p bench.Problem, in oracle.ListAttentionInput) []bench.Expected {
	judged := judgedRows(in.Q.Rows)
	some := in
	some.Q, some.Lists = oracle.NewMat(len(judged), in.Q.Cols), nil
	for i, t := range judged {
		copy(some.Q.Row(i), in.Q.Row(t))
	}
	largest := make([]float64, in.Values)
	norm, entries := 0.0, 1
	for _, l := range in.Lists {
		part := oracle.RowList{Rows: l.Rows}
		for _, t := range judged {
			part.Indices = append(part.Indices, l.Indices[t])
		}
		some.Lists = append(some.Lists, part)
		for i := range l.Rows.Rows {
			square := 0.0
			for c, v := range l.Rows.Row(i) {
				if square += v * v; c < in.Values {
					largest[c] = math.Max(largest[c], math.Abs(v))
				}
			}
			norm = math.Max(norm, math.Sqrt(square))
		}
		entries += len(l.Indices[0])
	}
	o, lse, top := oracle.ListAttention(some, lseForm(p.Attrs.Word("lse_base"), p.Attrs.Word("empty_lse")))
	bounds := attentionBounds(numerics.Contract{Acc: numerics.FP32Any()}, some, p.Attrs.Word("lse_base"))

	t, h := in.Q.Rows, in.Heads
	const slack = 1 + 1e-3 // fp32 on top of what holds exactly
	wantO, boundO := make([]float64, t*h*in.Values), make([]float64, t*h*in.Values)
	for i := range boundO {
		boundO[i] = slack * largest[i%in.Values]
	}
	rest := func() (want, bound []float64) {
		want, bound = make([]float64, t*h), make([]float64, t*h)
		width := in.Q.Cols / h
		for i := range bound {
			square := 0.0
			for _, v := range in.Q.Data[i*width : (i+1)*width] {
				square += v * v
			}
			bound[i] = slack * (in.Scale*math.Sqrt(square)*norm + math.Log(float64(entries)))
		}
		return want, bound
	}
	wantL, boundL := rest()
	wantT, boundT := rest()
	for i, row := range judged {
		copy(wantO[row*h*in.Values:], o.Row(i))
		copy(boundO[row*h*in.Values:], bounds.o[i*h*in.Values:(i+1)*h*in.Values])
		copy(wantL[row*h:], lse.Row(i))
		copy(boundL[row*h:], bounds.lse[i*h:(i+1)*h])
		copy(wantT[row*h:], top.Row(i))
		copy(boundT[row*h:], bounds.top[i*h:(i+1)*h])
	}
	const derivation = "exact on the first, last, edge and 64 other queries; elsewhere an average of rows, and Cauchy " +
		"and Schwarz"
	return asked(p, []bench.Expected{
		{
			Name:       "o",
			Shape:      []int{t, h, in.Values},
			Axes:       []string{"query", "head", "channel"},
			Want:       wantO,
			Bound:      boundO,
			Derivation: derivation,
		},
		{
			Name:       "lse",
			Shape:      []int{t, h},
			Axes:       []string{"query", "head"},
			Want:       wantL,
			Bound:      boundL,
			Derivation: derivation,
		},
		{
			Name:       "max_logits",
			Shape:      []int{t, h},
			Axes:       []string{"query", "head"},
			Want:       wantT,
			Bound:      boundT,
			Derivation: derivation,
		},
	})
}
