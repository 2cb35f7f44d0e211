package route

import "github.com/assay-suite/assay/kernels_test/bench"

// perToken are the operands with a row for every token.
var perToken = map[string]bool{
	"logits": true, "token_ids": true, "topk_weights": true, "src2dst": true, "shared_out": true,
}

// inPieces restates a problem as calls on sets of its tokens.
func inPieces(cut func(n int) [][]int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return bench.InPieces(perToken, cut)
}
