package norm

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{Name: "norm", Families: []bench.Family{rmsNorm}, Built: built, Variants: variants(), Plants: plants()}
}

// built is the candidate that follows a contract to the letter: fp32 from the front, rounded to the contract's output.
func built(contract string) (bench.Candidate, error) {
	switch contract {
	case "fp32", "bf16-out":
		return bench.FromKernels(contract+"-sequential", kernels(sequential)), nil
	}
	return nil, fmt.Errorf("no contract of the norm suite is called %q; fp32 and bf16-out are", contract)
}

func kernels(sum summing) map[string]bench.Kernel {
	return map[string]bench.Kernel{"rms_norm": rmsNormWith(sum, rmsOptions{})}
}
