package norm

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name:     "norm",
		Families: []bench.Family{rmsNorm, layerNorm, rope, ropeTable},
		Built:    built,
		Variants: variants(),
		Plants:   plants(),
	}
}

// built is the candidate that follows a contract to the letter: fp32 summed left to right, the angles that the call
// asks for, rounded to the contract's output.
func built(contract string) (bench.Candidate, error) {
	kernels := map[string]bench.Kernel{}
	switch contract {
	case "fp32", "bf16-out":
		kernels[opRMS], kernels[opLayer] = correctRMS().run, correctLayer().run
	case "bf16-steps":
		kernels[opRMS] = bench.With(correctRMS(), inBF16Steps).run
	case "float64-angle", "fp32-table":
		kernels[opTable] = correctTable().run
	default:
		return nil, fmt.Errorf("no contract of the norm suite is called %q; fp32, bf16-out, bf16-steps, float64-angle and "+
			"fp32-table are", contract)
	}
	if contract != "fp32" && contract != "bf16-steps" {
		kernels[opRope] = correctRotation().run
	}
	return bench.FromKernels(contract+"-sequential", kernels), nil
}
