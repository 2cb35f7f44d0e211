package route

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name:     "route",
		Families: []bench.Family{gate, hash, combine},
		Built:    built,
		Variants: variants(),
		Plants:   plants(),
	}
}

// built is the candidate that follows a contract to the letter: fp32 summed left to right, ties to the lower expert.
func built(contract string) (bench.Candidate, error) {
	switch contract {
	case "fp32", "lowest-index", "bf16-out":
		return bench.FromKernels(contract+"-sequential", map[string]bench.Kernel{
			opGate: correctRouter().run, opHash: correctHasher().run, opCombine: correctCombiner().run,
		}), nil
	case fastExp:
		return bench.FromKernels("fast-exp", map[string]bench.Kernel{
			opGate: bench.With(correctRouter(), throughEx2(math.Log2E)).run,
		}), nil
	}
	return nil, fmt.Errorf("no contract of the route suite is called %q; fp32, lowest-index, fast-exp and bf16-out are",
		contract)
}
