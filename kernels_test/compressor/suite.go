package compressor

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name:     "compressor",
		Families: []bench.Family{compress, extend},
		Built:    built,
		Variants: variants(),
		Plants:   plants(),
	}
}

// built is the candidate that follows a contract to the letter: two passes in fp32 from the first token, the row
// rounded to the contract's output.
func built(contract string) (bench.Candidate, error) {
	switch contract {
	case fp32, bf16Out:
		return correct().candidate(contract + "-sequential"), nil
	}
	return nil, fmt.Errorf("no contract of the compressor suite is called %q; %s and %s are", contract, fp32, bf16Out)
}
