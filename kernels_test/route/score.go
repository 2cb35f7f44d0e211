package route

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// fastExp is the contract of kernels that take exponentials, logarithms and quotients from the GPU's fast units.
const fastExp = "fast-exp"

// scorer says how scores are computed.
type scorer struct {
	scoring string
	fast    bool
	biased  bool // the bias is part of the logit
}

// scores are a token's s with the error of fp32 evaluation. A logit of -Inf has an s of exactly 0.
func scores(logits []float64, scoring string) []numerics.Tracked {
	return scorer{scoring: scoring}.scores(numerics.ExactSlice(logits))
}

func (s scorer) scores(logits []numerics.Tracked) []numerics.Tracked {
	a := numerics.FP32()
	switch {
	case s.scoring == "softmax" && s.fast:
		return fastSoftmax(logits)
	case s.scoring == "softmax":
		return a.Softmax(logits)
	}
	out := make([]numerics.Tracked, len(logits))
	for e, z := range logits {
		switch {
		case math.IsInf(z.X, -1):
		case s.fast:
			out[e] = fastScore(z, s.scoring)
		case s.scoring == "sigmoid":
			out[e] = a.Sigmoid(z)
		default:
			out[e] = a.Sqrt(a.Softplus(z))
		}
	}
	return out
}

// weigher turns scores of chosen experts into weights.
type weigher struct {
	renormalise    bool
	floor, scaling float64
}

func weigherOf(a bench.Attrs) weigher {
	return weigher{a.Flag("renormalise"), a.Num("renormalise_floor"), a.Num("routed_scaling")}
}

// weights of the experts ids, in their order, with the error of fp32: the sum in any order, a reciprocal and two
// products, which no other way to compute them exceeds.
func (w weigher) weights(s []numerics.Tracked, ids []int) []numerics.Tracked {
	a := numerics.FP32()
	out := make([]numerics.Tracked, len(ids))
	chosen := make([]numerics.Tracked, len(ids))
	for i, e := range ids {
		chosen[i] = s[e]
	}
	inverse := numerics.Exact(1)
	if w.renormalise {
		inverse = a.Div(numerics.Exact(1), a.Add(a.Sum(chosen), numerics.Exact(w.floor)))
	}
	for i, v := range chosen {
		out[i] = a.Mul(v, numerics.Exact(w.scaling))
		if w.renormalise {
			out[i] = a.Mul(a.Mul(v, inverse), numerics.Exact(w.scaling))
		}
	}
	return out
}

// scoringOf is the oracle's name of a scoring function.
func scoringOf(name string) (oracle.Scoring, error) {
	switch name {
	case "sigmoid":
		return oracle.ScoreSigmoid, nil
	case "sqrtsoftplus":
		return oracle.ScoreSqrtSoftplus, nil
	case "softmax":
		return oracle.ScoreSoftmax, nil
	}
	return 0, fmt.Errorf("no scoring function is called %q; sigmoid, sqrtsoftplus and softmax are", name)
}

// aligned are a token's experts and their weights, sorted by expert. ok is false unless they are k different experts of
// E.
func aligned(ids, weights []float64, experts int) (sorted []int, w []float64, ok bool) {
	at := make([]int, len(ids))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		switch {
		case ids[i] < ids[j]:
			return -1
		case ids[i] > ids[j]:
			return 1
		}
		return 0
	})
	ok = true
	for n, i := range at {
		id := ids[i]
		ok = ok && id >= 0 && id < float64(experts) && id == math.Trunc(id) && (n == 0 || id != ids[at[n-1]])
		sorted, w = append(sorted, int(id)), append(w, weights[i])
	}
	return sorted, w, ok
}

// rebased says weights of other experts than the reference's as if they were the reference's: as many bounds from the
// exact weight at the same place as they are from their own. Experts that may stand for each other, and wrong ones, are
// the selection's affair; here each is weighed for what it is.
func rebased(got []float64, own, want []numerics.Tracked) []float64 {
	out := make([]float64, len(got))
	for i, v := range got {
		out[i] = v
		if own[i].X == want[i].X && own[i].E == want[i].E || own[i].X == 0 || want[i].X == 0 || own[i].E == 0 {
			continue
		}
		if within := (v - own[i].X) / own[i].E; math.Abs(within) <= 1 {
			out[i] = want[i].X + within*want[i].E
		} else {
			out[i] = v / own[i].X * want[i].X // a factor stays a factor
		}
	}
	return out
}
