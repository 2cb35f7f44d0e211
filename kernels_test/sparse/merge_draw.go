package sparse

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// The contracts of the merges: which base the states come in, what an empty row says, and the dtype of o.
const (
	natural     = "natural"       // vLLM, SGLang: base e in and out, -inf
	base2       = "base2"         // FlashInfer: base 2 in and out, -inf
	plusInf     = "plus-inf"      // base e, empty states are +inf in and out: FlashMLA sparse
	combine     = "combine"       // FlashMLA's combine kernel: base 2 with -inf in, base e with +inf out
	bf16Natural = "bf16-natural"  // natural with o in bf16
	bf16Base2   = "bf16-base2"    // base2 with o in bf16
	emptyPlus   = "+inf"          // empty_lse
	wordTwo     = "2"             // lse_base
	outBase     = "out_lse_base"  // attribute
	emptyWord   = "empty_lse"     // attribute
	baseWord    = "lse_base"      // attribute
	splitsWord  = "num_splits"    // attribute
	scaleWord   = "softmax_scale" // attribute
)

func mergeContracts() []numerics.Contract {
	acc := numerics.FP32Any()
	return []numerics.Contract{
		{Name: natural, Acc: acc},
		{Name: base2, Acc: acc, Special: numerics.Rules{LSEBase: wordTwo}},
		{Name: plusInf, Acc: acc, Special: numerics.Rules{EmptyLSE: emptyPlus}},
		{Name: combine, Acc: acc, Special: numerics.Rules{EmptyLSE: emptyPlus}},
		{Name: bf16Natural, Acc: acc, Out: format.BF16},
		{Name: bf16Base2, Acc: acc, Out: format.BF16, Special: numerics.Rules{LSEBase: wordTwo}},
	}
}

func mergeWords(c numerics.Contract) bench.Attrs {
	base, empty := lseWords(c)
	in := base
	if c.Name == combine {
		in = wordTwo
	}
	return bench.Attrs{baseWord: in, outBase: base, emptyWord: empty}
}

// lseValues draws log-sum-exps of n states in a base: partial sums of different sizes, so that weights are far from
// equal.
func lseValues(g bench.Gen, n int, base string) []float64 {
	out := make([]float64, n)
	for i := range out {
		if out[i] = 2 + 1.7*g.NormFloat64(); base == wordTwo {
			out[i] *= math.Log2E
		}
	}
	return bench.RoundAll(bench.F32, out)
}

// emptied makes a state empty, as the problem writes it: a row of lse, whose o holds what no kernel may read.
func emptied(p *bench.Problem, lse string, i int) {
	p.Operands[lse].Values[i] = emptyValue(*p)
}

func emptyValue(p bench.Problem) float64 {
	if p.Attrs.Word(emptyWord) == emptyPlus && p.Attrs.Word(baseWord) == p.Attrs.Word(outBase) {
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// partial is a state as the oracle takes it; rows of d channels.
func partial(o, lse []float64, d int, base string) oracle.PartialState {
	s := oracle.PartialState{
		O:       oracle.Mat{Rows: len(lse), Cols: d, Data: o},
		LSE:     append([]float64{}, lse...),
		LSEForm: oracle.LSEForm{Base2: base == wordTwo},
	}
	for i, v := range s.LSE {
		if math.IsInf(v, 1) { // either infinity says that there are no keys
			s.LSE[i] = math.Inf(-1)
		}
	}
	return s
}

// expectMerge is the exact merge and its bounds. A merge is attention over the states: scores are the log-sum-exps,
// values the outputs. A score's error is its conversion to the kernel's base, 2u·|lse|, and that of the sink the same.
// States are as good as exact, since they are operands.
func expectMerge(c bench.Case, p bench.Problem, states []oracle.PartialState, sink []float64,
	shape []int,
) ([]bench.Expected, error) {
	form := lseForm(p.Attrs.Word(outBase), p.Attrs.Word(emptyWord))
	merged, err := oracle.MergeStates(states, sink, form)
	if err != nil {
		return nil, err
	}
	a := numerics.FP32()
	var bo, bl []float64
	for n := range merged.LSE {
		terms := numerics.AttentionTerms{Splits: len(states)}
		for _, s := range states {
			l := s.LSE[n]
			if s.Base2 {
				l *= math.Ln2
			}
			if math.IsInf(l, -1) {
				continue
			}
			terms.Scores = append(terms.Scores, numerics.Tracked{X: l, E: 2 * a.U * math.Abs(l)})
			terms.V = append(terms.V, numerics.ExactSlice(s.O.Row(n)))
		}
		all := false
		if sink != nil {
			s := sink[n%len(sink)]
			if all = math.IsInf(s, 1); !math.IsInf(s, 0) {
				terms.Sinks = []numerics.Tracked{{X: s, E: 2 * a.U * math.Abs(s)}}
			}
		}
		terms = deepened(a, terms)
		bo = append(bo, outputBounds(c.Contract, a, terms, merged.O.Cols, all)...)
		bl = append(bl, inBase(p.Attrs.Word(outBase), a.LSEBound(terms.Scores, a.U)).E)
	}
	return asked(p, []bench.Expected{
		{
			Name:  "merged_o",
			Shape: shape,
			Axes:  []string{"query", "head", "channel"},
			Want:  merged.O.Data,
			Bound: bo,
			Derivation: "attention over the states: conversion of each log-sum-exp to the kernel's base, its exponential, the " +
				"sum, one rounding to the output",
		},
		{
			Name:       "merged_lse",
			Shape:      shape[:2],
			Axes:       []string{"query", "head"},
			Want:       merged.LSE,
			Bound:      bl,
			Derivation: "the largest of the states' errors, the sum's and the logarithm's",
		},
	}), nil
}

// deepened admits a merge state by state, which stores the log-sum-exp so far for every state: each moves the weights
// that it joins by 2u·(max|lse| + ln n) and a logarithm and two exponentials.
func deepened(a numerics.Arith, t numerics.AttentionTerms) numerics.AttentionTerms {
	most := 0.0
	for _, s := range append(append([]numerics.Tracked{}, t.Scores...), t.Sinks...) {
		most = math.Max(most, math.Abs(s.X))
	}
	n := float64(len(t.Scores))
	if n == 0 {
		return t
	}
	for i := range t.Scores {
		t.Scores[i].E += n * (2*a.U*(most+math.Log(n)) + 6*a.FnULP*a.U)
	}
	return t
}
