package oracle

import (
	"fmt"
	"math"
	"slices"
)

// TieRule says which of several equal scores at the k-th place are taken.
type TieRule int

const (
	// LowestIndex takes the earlier key, as a stable sort does.
	LowestIndex TieRule = iota
	// HighestIndex takes the later key. Kernels that leave ties open may do either.
	HighestIndex
)

// SelectTopK picks, for one query row, the k best visible keys.
//
// scores [S]: indexer logits, larger is better. visible: how many leading keys the query may see,
// Visible(position, ratio). The result has min(k, visible) distinct indices in ascending order of
// index; equal scores at the k-th place are resolved by tie.
//
// While visible <= k every visible key is chosen, so up to k·ratio+ratio-1 tokens (2,051 for
// V4-Flash, 259 for nano-v4) the ranking is never exercised at all.
//
// Source: V3.2 and V4 inference/model.py (top-k, then mask); kernels differ only in ties and in
// padding with -1. It fails when visible > len(scores), k < 0, or a ranked score is NaN.
func SelectTopK(scores []float64, visible, k int, tie TieRule) ([]int, error) {
	if k < 0 {
		return nil, fmt.Errorf("top-k: k is %d; it must be 0 or more", k)
	}
	if visible < 0 || visible > len(scores) {
		return nil, fmt.Errorf("top-k: %d keys are visible but the row has %d scores", visible, len(scores))
	}
	chosen := make([]int, visible)
	for i := range chosen {
		chosen[i] = i
	}
	if visible <= k {
		return chosen, nil
	}
	for i, s := range scores[:visible] {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("top-k: the score of key %d of %d visible ones is NaN; a NaN cannot be ranked", i, visible)
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		case tie == HighestIndex:
			return b - a
		default:
			return a - b
		}
	})
	chosen = chosen[:k]
	slices.Sort(chosen)
	return chosen, nil
}
