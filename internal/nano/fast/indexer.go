package fast

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/oracle"
)

// indexerLogits is oracle.IndexerLogits with products and sums in fp32: with u = 2^-24 and D channels each logit is
// within (D+8)·u·Σ|w|·Σ|q·k| of the exact one.
func (s *session) indexerLogits(q, k, w oracle.Mat, visible []int) oracle.Mat {
	width := k.Cols
	if k.Rows == 0 || w.Cols != heads || width%8 != 0 || q.Cols != heads*width {
		return oracle.IndexerLogits(q, k, w, visible)
	}
	keys := make([]float32, (k.Rows+1)*width) // one to spare: scores are made in pairs
	convert(keys, k)
	out := s.mat(q.Rows, k.Rows)
	tiles(q.Rows, func(t *scratch, from, to int) {
		for r := from; r < to; r++ {
			query := floats(&t.a, heads*width)
			narrow(query, q.Row(r))
			row := out.Row(r)
			scores(row[:visible[r]], query, w.Row(r), keys, width)
			for i := visible[r]; i < len(row); i++ {
				row[i] = math.Inf(-1)
			}
		}
	})
	return out
}

// scores writes one query's logits over the first len(out) keys.
func scores(out []float64, q []float32, w []float64, keys []float32, width int) {
	var w4 [2 * heads]float32
	for i := range w4 {
		w4[i] = float32(w[i%heads])
	}
	if !simd {
		for i := range out {
			key, sum := keys[i*width:(i+1)*width], float32(0)
			for h := range heads {
				if d := dot(q[h*width:(h+1)*width], key); !(d <= 0) {
					sum += float32(w4[h] * d)
				}
			}
			out[i] = float64(sum)
		}
		return
	}
	even := len(out) &^ 1
	if even > 0 {
		index4AVX2(&out[0], &q[0], &w4[0], &keys[0], even, width)
	}
	if even < len(out) {
		var pair [2]float64
		index4AVX2(&pair[0], &q[0], &w4[0], &keys[even*width], 2, width)
		out[even] = pair[0]
	}
}

// selectRows is oracle.SelectTopK for every row of scores. The k-th best is found by partition, and the sets are the
// same: all better ones, and the first or last of its equals, as tie says.
func (s *session) selectRows(all oracle.Mat, visible []int, k int, tie oracle.TieRule) ([][]int, error) {
	out := make([][]int, all.Rows)
	failed := make([]error, all.Rows)
	flat := make([]int, all.Rows*min(k, all.Cols))
	tiles(all.Rows, func(t *scratch, from, to int) {
		for r := from; r < to; r++ {
			row, n := all.Row(r), visible[r]
			if n > len(row) || n <= k || k <= 0 || tie != oracle.LowestIndex {
				out[r], failed[r] = oracle.SelectTopK(row, n, k, tie)
				continue
			}
			chosen := flat[r*k : (r+1)*k : (r+1)*k]
			if failed[r] = t.topK(chosen, row[:n]); failed[r] == nil {
				out[r] = chosen
			}
		}
	})
	for r, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", r, err)
		}
	}
	return out, nil
}

// topK writes the indices of the len(chosen) largest scores in order of index; among equals the earlier go first.
func (t *scratch) topK(chosen []int, scores []float64) error {
	if cap(t.f) < len(scores) {
		t.f = make([]float64, 2*len(scores))
	}
	f := t.f[:len(scores)]
	copy(f, scores)
	for i, v := range f {
		if v != v {
			return fmt.Errorf("top-k: the score of key %d of %d visible ones is NaN; a NaN cannot be ranked", i, len(f))
		}
	}
	k := len(chosen)
	bar := kthLargest(f, k)
	equals := k // of those equal to the bar, so many are taken
	for _, v := range scores {
		if v > bar {
			equals--
		}
	}
	n := 0
	for i, v := range scores {
		if v > bar || v == bar && equals > 0 {
			if v == bar {
				equals--
			}
			chosen[n] = i
			n++
		}
	}
	return nil
}

// kthLargest is the k-th largest of f, which it reorders (Hoare's selection).
func kthLargest(f []float64, k int) float64 {
	lo, hi, at := 0, len(f)-1, k-1
	for lo < hi {
		pivot := median(f[lo], f[(lo+hi)/2], f[hi])
		i, j := lo, hi
		for i <= j {
			for f[i] > pivot {
				i++
			}
			for f[j] < pivot {
				j--
			}
			if i <= j {
				f[i], f[j] = f[j], f[i]
				i++
				j--
			}
		}
		switch {
		case at <= j:
			hi = j
		case at >= i:
			lo = i
		default:
			return f[at]
		}
	}
	return f[at]
}

func median(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
