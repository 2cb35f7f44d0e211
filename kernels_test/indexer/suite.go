package indexer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// docs are the operators of this suite.
func docs() map[string]bench.Doc {
	return map[string]bench.Doc{"indexer_logits": logitsDoc, "indexer_logits_paged": pagedDoc, "index_key_store": storeDoc}
}

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name: "indexer", Families: []bench.Family{raggedFamily(), pagedFamily(), storeFamily()}, Built: built,
		Variants: append(logitVariants(), storeVariants()...), Plants: plants(),
	}
}

// built is the candidate that follows a contract to the letter.
func built(contract string) (bench.Candidate, error) {
	if contract == "bf16-steps" {
		return bench.FromKernel(contract+"-built", "index_key_store", storeKernel(plainStore(contract))), nil
	}
	if !slices.ContainsFunc(contracts, named(contract)) {
		return nil, fmt.Errorf("no contract of the indexer suite is called %q", contract)
	}
	fp8, other := styleOf(contract)
	kernels := map[string]bench.Kernel{"index_key_store": storeKernel(plainStore(contract))}
	maps.Copy(kernels, logitKernels(fp8, other))
	return bench.FromKernels(contract+"-built", kernels), nil
}
