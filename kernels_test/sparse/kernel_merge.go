package sparse

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// merger is merge_state and merge_states as steps.
type merger[F bench.Float] struct {
	base[F]
	count   func(a bench.Args, t, states int) int // states of query t
	inTwo   func(word string, state int) bool     // whether a state's log-sum-exp is taken to the base 2
	weighs  func(lse float64) float64             // a log-sum-exp as it weighs
	order   func(lse []F, outs [][]float64)
	all     func(m merger[F], lse []F, outs [][]float64, sink F, out []float64) F // merges; gives the log-sum-exp
	none    func(top F) bool                                                      // whether all states are empty
	top     func(largest F) F                                                     // what is taken out of the exponents
	sinks   func(denominator, joins F, states int) F
	weights func(w []F)
	reads   func(lse F) bool                     // whether the output of a state is read
	share   func(w, denominator F, states int) F // what an output is multiplied by
	add     func(acc, share, v F) F
	divide  func(acc, denominator F) F
	lse     func(top, logSum, logAll F) F // of the states, without and with the sink
	outTwo  func(a bench.Args) bool       // whether merged_lse is to the base 2
	plus    func(a bench.Args) bool       // whether it is +Inf where all states are empty
}

// merging is a correct kernel: all states at once, to a base.
func merging[F bench.Float](b base[F]) merger[F] {
	return merger[F]{
		base: b,
		count: func(a bench.Args, t, states int) int {
			if a.Has("num_states") {
				return a.In("num_states").Ints()[t]
			}
			return states
		},
		inTwo: func(word string, _ int) bool { return word == wordTwo },
		weighs: func(lse float64) float64 {
			if math.IsInf(lse, 1) {
				return math.Inf(-1)
			}
			return lse
		},
		order:   func([]F, [][]float64) {},
		all:     merger[F].atOnce,
		none:    func(top F) bool { return math.IsInf(float64(top), -1) },
		top:     func(largest F) F { return largest },
		sinks:   func(denominator, joins F, _ int) F { return denominator + joins },
		weights: func([]F) {},
		reads:   func(lse F) bool { return !math.IsInf(float64(lse), -1) },
		share:   func(w, denominator F, _ int) F { return w / denominator },
		add: func(acc, share, v F) F {
			product := share * v
			return acc + product
		},
		divide: func(acc, _ F) F { return acc },
		lse:    func(top, logSum, _ F) F { return top + logSum },
		outTwo: func(a bench.Args) bool { return a.Word(outBase) == wordTwo },
		plus:   func(a bench.Args) bool { return a.Word(emptyWord) == emptyPlus },
	}
}

// natural is the merge to the base e in fp32.
func naturalMerge() merger[float32] { return merging(naturalBase[float32]()) }

// atOnce merges the states of one query and head: log-sum-exps in the kernel's base, outputs of d channels.
func (m merger[F]) atOnce(lse []F, outs [][]float64, sink F, out []float64) F {
	top := F(math.Inf(-1))
	for _, l := range lse {
		top = F(math.Max(float64(top), float64(l)))
	}
	if m.none(top) {
		clear(out)
		return top
	}
	top = m.top(top)
	w, sum := make([]F, len(lse)), F(0)
	for i, l := range lse {
		w[i] = m.exp(l - top)
		sum += w[i]
	}
	denominator := m.sinks(sum, m.exp(sink-top), len(lse))
	m.weights(w)
	for c := range out {
		acc := F(0)
		for i, v := range outs {
			if m.reads(lse[i]) {
				acc = m.add(acc, m.share(w[i], denominator, len(outs)), F(v[c]))
			}
		}
		out[c] = float64(m.divide(acc, denominator))
	}
	return m.lse(top, m.log(sum), m.log(denominator))
}

// stepwise merges one state after the other: the pair's output and log-sum-exp are the next pair's first state.
func (m merger[F]) stepwise(lse []F, outs [][]float64, sink F, out []float64) F {
	acc, l := slices.Clone(outs[0]), lse[0]
	if math.IsInf(float64(l), -1) {
		clear(acc)
	}
	for i := 1; i < len(lse); i++ {
		pair := make([]float64, len(out))
		l = m.atOnce([]F{l, lse[i]}, [][]float64{acc, outs[i]}, F(math.Inf(-1)), pair)
		acc = pair
	}
	m.atOnce([]F{l}, [][]float64{acc}, sink, out)
	return l
}

// converted is a log-sum-exp in another base where the two differ.
func converted[F bench.Float](lse F, fromTwo, toTwo bool) F {
	switch {
	case fromTwo && !toTwo:
		return by(lse, math.Ln2)
	case !fromTwo && toTwo:
		return by(lse, math.Log2E)
	}
	return lse
}

// merge is one query and head of either operator.
func (m merger[F]) merge(a bench.Args, lse []float64, outs [][]float64, sink, out []float64, h int) float64 {
	two := m.in != 1 // the kernel's own base
	l := make([]F, len(lse))
	for i, v := range lse {
		l[i] = converted(F(m.weighs(v)), m.inTwo(a.Word(baseWord), i), two)
	}
	joins := F(math.Inf(-1))
	if sink != nil {
		joins = by(F(sink[h]), m.in)
	}
	m.order(l, outs)
	all := m.all
	if len(l) == 0 {
		all = merger[F].atOnce
	}
	total := all(m, l, outs, joins, out)
	if math.IsInf(float64(total), -1) {
		if m.plus(a) {
			return math.Inf(1)
		}
		return float64(total)
	}
	return float64(converted(total, two, m.outTwo(a)))
}

// candidate offers both operators.
func (m merger[F]) candidate(name string) bench.Candidate {
	return bench.FromKernels(name, map[string]bench.Kernel{opMergeState: m.state, opMergeStates: m.states})
}

// state is merge_state.
func (m merger[F]) state(a bench.Args) (bench.Results, error) {
	prefix, suffix := a.In("prefix_o"), a.In("suffix_o")
	pl, sl := a.In("prefix_lse").Data, a.In("suffix_lse").Data
	out, lse, d := a.Fresh("merged_o"), make([]float64, len(pl)), prefix.Dim(2)
	for n := range pl {
		outs := [][]float64{prefix.Data[n*d : (n+1)*d], suffix.Data[n*d : (n+1)*d]}
		lse[n] = m.merge(a, []float64{pl[n], sl[n]}, outs, nil, out[n*d:(n+1)*d], 0)
	}
	return bench.Results{"merged_o": out, "merged_lse": lse}, nil
}

// states is merge_states.
func (m merger[F]) states(a bench.Args) (bench.Results, error) {
	in, lses := a.In("o"), a.In("lse")
	t, h, d := in.Dim(1), in.Dim(2), in.Dim(3)
	out, lse := a.Fresh("merged_o"), make([]float64, t*h)
	var sink []float64
	if a.Has("attn_sink") {
		sink = a.In("attn_sink").Data
	}
	for n := range lse {
		var l []float64
		var outs [][]float64
		for i := range m.count(a, n/h, in.Dim(0)) {
			l, outs = append(l, lses.Row(i)[n]), append(outs, in.Row(i)[n*d:(n+1)*d])
		}
		lse[n] = m.merge(a, l, outs, sink, out[n*d:(n+1)*d], n%h)
	}
	return bench.Results{"merged_o": out, "merged_lse": lse}, nil
}
