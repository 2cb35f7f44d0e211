package faults

import (
	"math"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

var indexer = []Fault{
	{
		Name:   "hadamard-on-q-only",
		Effect: "the index queries are rotated by a Hadamard matrix and the index keys are not",
		Origin: "a rotation on one side of a quantised dot product; implementations differ in having it at all",
		Apply: swapLogits(func(q, k oracle.Mat) (oracle.Mat, oracle.Mat) {
			if rotated, err := oracle.Hadamard(q, k.Cols); err == nil {
				q = rotated
			}
			return q, k
		}),
	},
	{
		Name:   "index-keys-fp8-unscaled",
		Effect: "index keys are codes of e4m3 whose scales, one a key, are never applied",
		Origin: "a scale that is dropped on the way into the cache: sgl-project/sglang#20705",
		Apply: swapLogits(func(q, k oracle.Mat) (oracle.Mat, oracle.Mat) {
			k = k.Clone()
			f := format.E4M3FN
			for t := range k.Rows {
				row, amax := k.Row(t), 0.0
				for _, v := range row {
					amax = math.Max(amax, math.Abs(v))
				}
				for i, v := range row {
					row[i] = f.RoundTo(v*f.Max()/math.Max(amax, 1e-30), format.RN, format.Saturate)
				}
			}
			return q, k
		}),
	},
	{
		Name:   "causal-one-block-late",
		Effect: "a query also scores and attends to the block after the last one it may see",
		Origin: "a causal bound rounded up",
		Apply: func(ops oracle.Ops) oracle.Ops {
			logits, choose := ops.IndexerLogits, ops.SelectTopK
			rows := 0
			ops.IndexerLogits = func(q, k, w oracle.Mat, visible []int) oracle.Mat {
				late := make([]int, len(visible))
				for t, v := range visible {
					late[t] = min(v+1, k.Rows)
				}
				rows = k.Rows
				return logits(q, k, w, late)
			}
			ops.SelectTopK = func(scores []float64, visible, k int, tie oracle.TieRule) ([]int, error) {
				return choose(scores, min(visible+1, rows, len(scores)), k, tie)
			}
			return ops
		},
	},
}

// swapLogits changes the operands of the indexer.
func swapLogits(change func(q, k oracle.Mat) (oracle.Mat, oracle.Mat)) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		exact := ops.IndexerLogits
		ops.IndexerLogits = func(q, k, w oracle.Mat, visible []int) oracle.Mat {
			if k.Rows > 0 {
				q, k = change(q, k)
			}
			return exact(q, k, w, visible)
		}
		return ops
	}
}
