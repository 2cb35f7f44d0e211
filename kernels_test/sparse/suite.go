package sparse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	v := variants()
	slices.SortFunc(v, func(a, b bench.Variant) int { return strings.Compare(a.Name, b.Name) })
	return bench.Suite{
		Name: "sparse", Families: []bench.Family{attention(), mergeState(), mergeStates(), extendRows()},
		Built: built, Variants: v, Plants: plants(),
	}
}

// ownAttention is what follows a contract of sparse_attention to the letter.
func ownAttention(contract string) (attentionOptions, error) {
	switch contract {
	case fp32, production:
		return attentionOptions{}, nil
	case v4First, v4Later, flashMLA, flashInfer, v4Pages, v32Pages:
		return attentionOptions{tile: 64, exp2: contract != v4First && contract != v4Later, roundP: true}, nil
	}
	return attentionOptions{}, fmt.Errorf("sparse_attention has no contract %q; use one of %q", contract,
		append(sampled(), production))
}

// built is the candidate that follows a contract to the letter.
func built(contract string) (bench.Candidate, error) {
	switch contract {
	case natural, base2, plusInf, combine, bf16Natural, bf16Base2:
		var o mergeOptions
		return bench.FromKernels(contract, map[string]bench.Kernel{opMergeState: o.state, opMergeStates: o.states}), nil
	case "exact":
		return bench.FromKernel(contract, opExtendRows, extendKernel(extendFaults{}, false)), nil
	}
	o, err := ownAttention(contract)
	if err != nil {
		return nil, err
	}
	return bench.FromKernel(contract, opAttention, o.kernel), nil
}
