package oracle

import (
	"fmt"
	"math"
)

// Routing is the choice of experts for T tokens: expert ids and their weights, k per token. The
// order within a token follows the router and carries no meaning.
type Routing struct {
	Experts [][]int
	Weights [][]float64
}

// SqrtSoftplus is V4's expert score: sqrt(ln(1+e^z)), written so that it neither overflows for large
// z nor vanishes for very negative ones (sgl-project/sglang#34459).
func SqrtSoftplus(z float64) float64 {
	return math.Sqrt(math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))))
}

// Route is the learned router: the k experts with the largest score + bias, weighted by the score
// alone, renormalised to 1 and multiplied by the routed scaling factor once.
//
//	w_i = scaling · s_i / sum_selected s,  s = SqrtSoftplus(logits)
//
// logits [T, E] = x gateᵀ; bias [E] or nil enters the choice only. Ties go to the lower id.
//
// Source: V4 inference/model.py Gate (no groups). It fails on a NaN logit.
func Route(logits Mat, bias []float64, k int, scaling float64) (Routing, error) {
	r := Routing{}
	for t := range logits.Rows {
		scores := make([]float64, logits.Cols)
		biased := make([]float64, logits.Cols)
		for e, z := range logits.Row(t) {
			if math.IsNaN(z) {
				return Routing{}, fmt.Errorf("router: the logit of expert %d for row %d is NaN", e, t)
			}
			scores[e] = SqrtSoftplus(z)
			biased[e] = scores[e]
			if bias != nil {
				biased[e] += bias[e]
			}
		}
		chosen, err := SelectTopK(biased, len(biased), k, LowestIndex)
		if err != nil {
			return Routing{}, fmt.Errorf("router: row %d: %w", t, err)
		}
		r.add(scores, chosen, scaling)
	}
	return r, nil
}

// HashRoute is the router of V4's first layers: the experts are read from a table by token id, the
// gate still gives the scores that weight them. logits [T, E], table [T][k] the rows of tid2eid for
// these tokens; there is no bias. It fails on an expert id outside the gate.
//
// Source: V4 inference/model.py Gate with hash layers.
func HashRoute(logits Mat, table [][]int, scaling float64) (Routing, error) {
	r := Routing{}
	for t := range logits.Rows {
		scores := make([]float64, logits.Cols)
		for e, z := range logits.Row(t) {
			scores[e] = SqrtSoftplus(z)
		}
		for _, e := range table[t] {
			if e < 0 || e >= logits.Cols {
				return Routing{}, fmt.Errorf("hash router: row %d of the table names expert %d; there are %d", t, e, logits.Cols)
			}
		}
		r.add(scores, table[t], scaling)
	}
	return r, nil
}

func (r *Routing) add(scores []float64, chosen []int, scaling float64) {
	sum := 0.0
	for _, e := range chosen {
		sum += scores[e]
	}
	weights := make([]float64, len(chosen))
	for i, e := range chosen {
		weights[i] = scaling * scores[e] / sum
	}
	r.Experts = append(r.Experts, chosen)
	r.Weights = append(r.Weights, weights)
}
