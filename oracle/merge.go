package oracle

import (
	"fmt"
	"math"
)

// PartialState is attention over a part of the keys: its normalised output and the log-sum-exp of
// its scores. Rows are queries times heads, row t·H+h.
type PartialState struct {
	O   Mat       // [N, D]
	LSE []float64 // [N], in Form, without any sink
	LSEForm
}

// MergeStates joins attention states over disjoint sets of keys (splits of one launch, chunks of a
// prefix, ranks) into the state over all of them:
//
//	L = ln sum_i e^lse_i    L' = ln(e^L + e^sink)    o = sum_i e^(lse_i - L') o_i
//
// States may differ in form; the result's LSE is L (the sink excluded) in form. sink [H] enters the
// denominator only, once, however many states there are: nil or -Inf for none, +Inf gives o = 0. An
// empty state, whose LSE says that it has no keys, has weight exactly 0 and its O is never read. A row
// with empty states only gives o = 0 whatever the sink. Any order and nesting of merges is equal but
// for rounding, if the sink comes with the last.
//
// It fails on no states at all, on shapes that differ, and on an LSE that is NaN or +Inf without
// EmptyPlusInf.
//
// Source: FlashMLA csrc/smxx/decode/combine/combine.cu, there in base 2.
func MergeStates(states []PartialState, sink []float64, form LSEForm) (PartialState, error) {
	if len(states) == 0 {
		return PartialState{}, fmt.Errorf("merge: there are no states; an empty state has an LSE of -Inf for every row")
	}
	first := states[0].O
	for i, s := range states {
		if s.O.Rows != first.Rows || s.O.Cols != first.Cols || len(s.LSE) != first.Rows {
			return PartialState{}, fmt.Errorf("merge: state %d is [%d, %d] with %d LSEs, state 0 is [%d, %d]",
				i, s.O.Rows, s.O.Cols, len(s.LSE), first.Rows, first.Cols)
		}
	}
	for i, s := range states {
		for n, l := range s.LSE {
			if v := s.natural(l); math.IsNaN(v) || math.IsInf(v, 1) {
				return PartialState{}, fmt.Errorf("merge: row %d of state %d has the LSE %v; a row without keys is -Inf, or +Inf "+
					"if its form says so", n, i, l)
			}
		}
	}
	return merge(states, sink, form), nil
}

// merge is MergeStates on states that agree; a NaN reaches every result of its row.
func merge(states []PartialState, sink []float64, form LSEForm) PartialState {
	rows := len(states[0].LSE)
	out := PartialState{O: NewMat(rows, states[0].O.Cols), LSE: make([]float64, rows), LSEForm: form}
	lse := make([]float64, len(states))
	for n := range rows {
		for i, s := range states {
			lse[i] = s.natural(s.LSE[n])
		}
		total := LogSumExp(lse, LSEForm{})
		out.LSE[n] = form.report(total)
		with := total
		if sink != nil {
			if a := sink[n%len(sink)]; math.IsInf(a, 1) {
				with = a
			} else {
				with = LogSumExp([]float64{total, a}, LSEForm{})
			}
		}
		for i, s := range states {
			if !math.IsInf(lse[i], -1) {
				axpy(math.Exp(lse[i]-with), s.O.Row(n), out.O.Row(n))
			}
		}
	}
	return out
}
