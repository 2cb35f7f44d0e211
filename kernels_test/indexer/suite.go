package indexer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name: "indexer", Families: []bench.Family{raggedFamily(), pagedFamily(), storeFamily()}, Built: built,
		Variants: append(logitVariants(), storeVariants()...), Plants: plants(),
	}
}

// built is the candidate that follows a contract to the letter.
func built(contract string) (bench.Candidate, error) {
	kernels := map[string]bench.Kernel{storeOp: correctStore(contract).run}
	named := func(c numerics.Contract) bool { return c.Name == contract }
	switch {
	case slices.ContainsFunc(contracts, named):
		maps.Copy(kernels, correct(following(contract)).kernels())
	case !slices.ContainsFunc(storeContracts, named):
		return nil, fmt.Errorf("no contract of the indexer suite is called %q", contract)
	}
	return bench.FromKernels(contract+"-built", kernels), nil
}
