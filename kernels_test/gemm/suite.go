package gemm

import (
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name: "gemm",
		Families: withLong([]bench.Family{
			dense, denseHalf, denseEight, block, batched, mxfp4, nvfp4, grouped, groupedN, masked, quantiseFP8, quantiseNV,
		}),
		Built: built, Variants: variants(), Plants: plants(),
	}
}

// denseOps multiply plain operands, scaledOps those with multipliers a block.
var (
	denseOps   = []string{opDense, opBF16, opFP8}
	scaledOps  = []string{opBlock, opBatched, opMXFP4, opNVFP4, opGrouped, opGroupedN, opMasked}
	productOps = slices.Concat(denseOps, scaledOps)
)

// built is the candidate that follows a contract to the letter.
func built(contract string) (bench.Candidate, error) {
	letter, err := following(contract)
	if err != nil {
		return nil, err
	}
	kernels := correct(letter).kernels(productOps...)
	maps.Copy(kernels, correctQuantiser(rounding(contract)).kernels())
	return bench.FromKernels(contract+"-to-the-letter", kernels), nil
}

// rounding is what a quantiser's contract asks for to the letter.
func rounding(contract string) func(q *quantiser) {
	switch contract {
	case quantiseTwo.Name:
		return byReciprocals
	case quantiseLog2.Name:
		return throughLog2
	}
	return func(*quantiser) {}
}
