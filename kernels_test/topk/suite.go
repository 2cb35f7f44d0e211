package topk

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name:     "topk",
		Families: []bench.Family{topk, pages},
		Built:    built,
		Variants: variants(),
		Plants:   plants(),
	}
}

// built is the candidate that settles ties as the call says.
func built(contract string) (bench.Candidate, error) {
	switch contract {
	case lowest, highest, anyTie:
		return correct().candidate(contract + "-sort"), nil
	}
	return nil, fmt.Errorf("no contract of the topk suite is called %q; %s, %s and %s are", contract, lowest, highest,
		anyTie)
}
