package golden_test

import (
	"fmt"

	"github.com/assay-suite/assay/golden"
)

// A rule has a name and a reason, and a failure prints both.
func ExampleFactor() {
	rho := golden.Factor(1.5, "two digits of rho compare within x1.5")
	fmt.Println(rho)
	fmt.Println(rho.Allows(0.31, 0.27), rho.Allows(0.9, 0.27))
	// Output:
	// factor x1.5 (two digits of rho compare within x1.5)
	// true false
}
