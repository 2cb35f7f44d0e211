package oracle_test

import (
	"fmt"

	"github.com/assay-suite/assay/oracle"
)

// A mixing matrix of two streams becomes doubly stochastic: rows and columns sum to 1.
func ExampleSinkhorn() {
	b := []float64{2, 0, 0, 1}
	oracle.Sinkhorn(b, 2, 20, 1e-6)
	fmt.Printf("%.3f %.3f\n%.3f %.3f\n", b[0], b[1], b[2], b[3])
	// Output:
	// 0.818 0.182
	// 0.182 0.818
}
