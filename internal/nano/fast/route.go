package fast

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/oracle"
)

// route is oracle.Route on all cores and without sorting; the results have the same bits.
func (s *session) route(logits oracle.Mat, bias []float64, k int, scaling float64) (oracle.Routing, error) {
	const most = 64
	if n := logits.Cols; k < 1 || k > n || n > most {
		return oracle.Route(logits, bias, k, scaling)
	}
	r := oracle.Routing{Experts: make([][]int, logits.Rows), Weights: make([][]float64, logits.Rows)}
	ids, weights := make([]int, logits.Rows*k), make([]float64, logits.Rows*k)
	failed := make([]error, logits.Rows)
	tiles(logits.Rows, func(_ *scratch, from, to int) {
		var scores, biased [most]float64
		for t := from; t < to; t++ {
			for e, z := range logits.Row(t) {
				scores[e] = oracle.SqrtSoftplus(z)
				biased[e] = scores[e]
				if bias != nil {
					biased[e] += bias[e]
				}
				if math.IsNaN(biased[e]) && failed[t] == nil {
					failed[t] = fmt.Errorf("router: the logit of expert %d for row %d is NaN", e, t)
				}
			}
			if failed[t] != nil {
				continue
			}
			chosen, w := ids[t*k:t*k:(t+1)*k], weights[t*k:(t+1)*k:(t+1)*k]
			sum := 0.0
			for e := range logits.Cols {
				better := 0
				for o := range logits.Cols {
					if biased[o] > biased[e] || biased[o] == biased[e] && o < e {
						better++
					}
				}
				if better < k {
					chosen, sum = append(chosen, e), sum+scores[e]
				}
			}
			for i, e := range chosen {
				w[i] = scaling * scores[e] / sum
			}
			r.Experts[t], r.Weights[t] = chosen, w
		}
	})
	for _, err := range failed {
		if err != nil {
			return oracle.Routing{}, err
		}
	}
	return r, nil
}
