package oracle

import "math"

// IndexerLogits scores compressed keys for every query with the lightning indexer:
//
//	L[t, s] = sum_h w[t, h] · relu(<q[t, h], k[s]>)     s < visible[t], else -Inf
//
// q [T, H·D], k [S, D], w [T, H] with every scale folded in (wproj(x)·H^-½·D^-½). w may be negative,
// so a logit may be negative, and 0 is a common exact value. visible [T] is the causal bound
// floor((p+1)/ratio): a token that closes a block sees that block. Result [T, S].
//
// Source: V3.2 inference/kernel.py fp8_index, V4 inference/model.py Indexer (Hadamard is orthogonal,
// so without quantisation it changes nothing and is left out).
func IndexerLogits(q, k, w Mat, visible []int) Mat {
	out := NewMat(q.Rows, k.Rows)
	width := k.Cols
	parallel(q.Rows, 4, func(from, to int) {
		for t := from; t < to; t++ {
			row := out.Row(t)
			for s := range row {
				if s >= visible[t] {
					row[s] = math.Inf(-1)
					continue
				}
				sum := 0.0
				for h, weight := range w.Row(t) {
					if d := dot(q.Row(t)[h*width:(h+1)*width], k.Row(s)); d > 0 || math.IsNaN(d+weight) {
						sum += weight * d
					}
				}
				row[s] = sum
			}
		}
	})
	return out
}

// Visible is the causal bound of compressed keys for the query at an absolute position:
// floor((position+1)/ratio).
func Visible(position, ratio int) int { return (position + 1) / ratio }
