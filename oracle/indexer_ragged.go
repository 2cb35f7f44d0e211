package oracle

import (
	"fmt"
	"math"
)

// IndexerLogitsRagged scores the keys of several concatenated sequences, each query its own range:
//
//	L[t, s] = (sum_h w[t, h] · relu(<q[t, h], k[s]>)) · ks[s]     start[t] <= s < end[t], else -Inf
//
// q [T, H·D], k [S, D], w [T, H]; ks [S] is the scale of each stored key, nil for 1: it must be positive, for relu is
// taken before it. start, end [T]; an empty range gives a row of -Inf. Result [T, S]. A NaN in a visible key or query
// gives NaN. A kernel that does not clean its logits leaves anything outside of the range: that is for the judge, not
// for this oracle.
//
// It fails on a range outside of [0, S] or reversed, and on a scale that is not positive.
//
// Source: DeepGEMM README fp8_mqa_logits; V3.2 inference/kernel.py fp8_index for the formula.
func IndexerLogitsRagged(q, k, w Mat, ks []float64, start, end []int) (Mat, error) {
	for t := range q.Rows {
		if start[t] < 0 || end[t] < start[t] || end[t] > k.Rows {
			return Mat{}, fmt.Errorf("ragged indexer: query %d sees keys [%d, %d) of %d", t, start[t], end[t], k.Rows)
		}
	}
	if err := positive("ragged indexer", ks); err != nil {
		return Mat{}, err
	}
	out := NewMat(q.Rows, k.Rows)
	parallel(q.Rows, 4, func(from, to int) {
		for t := from; t < to; t++ {
			row := out.Row(t)
			for s := range row {
				row[s] = math.Inf(-1)
			}
			for s := start[t]; s < end[t]; s++ {
				row[s] = indexerLogit(q.Row(t), k.Row(s), w.Row(t))
				if ks != nil {
					row[s] *= ks[s]
				}
			}
		}
	})
	return out, nil
}

// CompactRagged is DeepGEMM's compressed form of ragged logits: column j of row t is key start[t]+j,
// and -Inf from the end of its range on. logits [T, S], result [T, width]. It fails when a range has
// more than width keys.
func CompactRagged(logits Mat, start, end []int, width int) (Mat, error) {
	out := NewMat(logits.Rows, width)
	for t := range logits.Rows {
		n := end[t] - start[t]
		if n > width {
			return Mat{}, fmt.Errorf("ragged indexer: query %d sees %d keys; the compact row has %d columns", t, n, width)
		}
		row := out.Row(t)
		copy(row, logits.Row(t)[start[t]:end[t]])
		for j := n; j < width; j++ {
			row[j] = math.Inf(-1)
		}
	}
	return out, nil
}

// indexerLogit is one logit without the key's scale: q [H·D], k [D], w [H].
func indexerLogit(q, k, w []float64) float64 {
	sum := 0.0
	for h, weight := range w {
		if d := dot(q[h*len(k):(h+1)*len(k)], k); d > 0 || math.IsNaN(d+weight) {
			sum += weight * d
		}
	}
	return sum
}

// positive reports the first scale that is not a positive finite number.
func positive(where string, scales []float64) error {
	for i, s := range scales {
		if !(s > 0) || math.IsInf(s, 1) {
			return fmt.Errorf("%s: scale %d is %v; it must be positive and finite", where, i, s)
		}
	}
	return nil
}
