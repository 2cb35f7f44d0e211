package precision

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/oracle"
)

// score turns gate logits into expert scores: sqrt(softplus) for V4, the sigmoid for V3.2.
func (s settings) score(z float64) float64 {
	if s.sigmoid {
		return 1 / (1 + math.Exp(-z))
	}
	return oracle.SqrtSoftplus(z)
}

// experts chooses the experts of every row: the best by score + bias, for V3.2 within the best groups, a group counting
// by the sum of its two best (DeepSeek-V3.2-Exp inference/model.py Gate). bias may be nil.
func (s settings) experts(logits oracle.Mat, bias []float64) ([][]int, error) {
	out := make([][]int, logits.Rows)
	for t := range out {
		biased := make([]float64, logits.Cols)
		for e, z := range logits.Row(t) {
			biased[e] = s.score(z)
			if e < len(bias) {
				biased[e] += bias[e]
			}
		}
		if s.groups > 1 && logits.Cols%s.groups == 0 {
			s.mask(biased)
		}
		var err error
		if out[t], err = oracle.SelectTopK(biased, len(biased), min(s.perToken, len(biased)), oracle.LowestIndex); err !=
			nil {
			return nil, fmt.Errorf("routing: row %d: %w", t, err)
		}
	}
	return out, nil
}

// mask takes the experts of all but the best groups out of the choice.
func (s settings) mask(biased []float64) {
	width := len(biased) / s.groups
	sums := make([]float64, s.groups)
	for g := range sums {
		best := slices.Sorted(slices.Values(biased[g*width : (g+1)*width]))
		for _, v := range best[max(0, width-2):] {
			sums[g] += v
		}
	}
	for _, g := range ranked(sums)[s.groupsKept:] {
		for e := g * width; e < (g+1)*width; e++ {
			biased[e] = math.Inf(-1)
		}
	}
}

// flips is the share of tokens whose set of experts differs.
func flips(a, b [][]int) float64 {
	n := 0
	for t := range a {
		if !slices.Equal(a[t], b[t]) { // both ascending
			n++
		}
	}
	return float64(n) / math.Max(1, float64(len(a)))
}

// scoreChange is the largest change of any expert's score.
func (s settings) scoreChange(got, want oracle.Mat) float64 {
	var m float64
	for i, z := range want.Data {
		m = math.Max(m, math.Abs(s.score(got.Data[i])-s.score(z)))
	}
	return m
}
