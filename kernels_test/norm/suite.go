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

// built is the candidate that follows a contract to the letter: fp32 from the front, the angles that the call asks for,
// rounded to the contract's output.
func built(contract string) (bench.Candidate, error) {
	name := contract + "-sequential"
	norms := map[string]bench.Kernel{
		opRMS: rmsNormWith(bench.Sequential, rmsOptions{}), opLayer: layerNormWith(bench.Sequential, layerOptions{}),
	}
	switch contract {
	case "bf16-out":
		norms[opRope] = ropeWith(ropeOptions{})
		return bench.FromKernels(name, norms), nil
	case "fp32":
		return bench.FromKernels(name, norms), nil
	case "bf16-steps":
		return bench.FromKernel(name, opRMS, rmsNormWith(bench.Sequential, rmsOptions{steps: true})), nil
	case "float64-angle", "fp32-table":
		return bench.FromKernels(name, map[string]bench.Kernel{
			opRope: ropeWith(ropeOptions{}), opTable: tableWith(tableOptions{}),
		}), nil
	}
	return nil, fmt.Errorf("no contract of the norm suite is called %q; fp32, bf16-out, bf16-steps, float64-angle and "+
		"fp32-table are", contract)
}
