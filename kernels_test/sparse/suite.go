package sparse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
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
func ownAttention(contract string) (kernel[float32], error) {
	k := streaming(softmax.FP32())
	switch contract {
	case fp32, production:
		return k, nil
	case flashMLA, flashInfer, v4Pages, v32Pages:
		k = inBaseOf(softmax.FP32(), baseTwo[float32]())
	case v4First, v4Later:
	default:
		return k, fmt.Errorf("sparse_attention has no contract %q; use one of %q", contract, append(sampled(), production))
	}
	k.Tile, k.Weight = 64, softmax.RoundedWeights
	return k, nil
}

// built is the candidate that follows a contract to the letter.
func built(contract string) (bench.Candidate, error) {
	switch contract {
	case natural, base2, plusInf, combine, bf16Natural, bf16Base2:
		return naturalMerge().candidate(contract), nil
	case "exact":
		return newLister().candidate(contract), nil
	}
	k, err := ownAttention(contract)
	if err != nil {
		return nil, err
	}
	return bench.FromKernel(contract, opAttention, k.run), nil
}
