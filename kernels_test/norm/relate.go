package norm

import "github.com/assay-suite/assay/kernels_test/bench"

// perToken are the operands with a row for every token.
var perToken = map[string]bool{"x": true, "residual": true, "positions": true}

// inPieces restates a problem as calls on sets of its tokens.
func inPieces(cut func(n int) [][]int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return bench.InPieces(perToken, cut)
}
