package mhc

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name: "mhc", Families: []bench.Family{mhcPre, mhcPost, mhcHead, sinkhornFamily()},
		Built: built, Variants: variants(), Plants: plants(),
	}
}

// built is the built-in candidate of a contract, of the mixing GEMM or of Sinkhorn alone.
func built(contract string) (bench.Candidate, error) {
	if v, ok := variantNamed(contract); ok {
		return sinkhornCandidate(contract, v, plain()), nil
	}
	r, err := Built(contract)
	if err != nil {
		return nil, err
	}
	return FromOps(r.Name, r.Ops()), nil
}

// variants are the recipes as candidates.
func variants() []bench.Variant {
	var out []bench.Variant
	for _, r := range Variants() {
		out = append(out, bench.Variant{Name: r.Name, Contract: r.Contract, Candidate: FromOps(r.Name, r.Ops())})
	}
	return append(out, sinkhornVariants()...)
}

// declared are the contracts of the mixing GEMM.
func declared() []numerics.Contract {
	return []numerics.Contract{numerics.MHCFP32(), numerics.MHCTF32(), numerics.MHCTF32Truncated(), numerics.MHCBF16()}
}

// widely are the contracts that every row of the mixing GEMM is registered under. What truncation does differs from
// rounding in the operands alone, so a few rows show it; a worker is judged under it by all rows.
var widely = []string{"fp32", "tf32-rn", "bf16"}

var (
	mhcPreContracts  = declared()
	mhcHeadContracts = declared()
	mhcPostContracts = declared()[:1]
)

var constants = []bench.AttrDoc{
	{Name: "hc_mult", Meaning: "n, number of residual streams; repeats x's dimension: does not change the result"},
	{Name: "sinkhorn_iterations", Meaning: "Sinkhorn iterations (column steps)"},
	{Name: "hc_eps", Meaning: "added to pre, to comb's softmax and to every divisor of Sinkhorn"},
	{Name: "norm_eps", Meaning: "added to the mean of squares of the whole row, inside the root"},
}

// given says that a constant is part of every call of the family, and that an operator does not use it.
func given(unused ...string) []bench.AttrDoc {
	out := slices.Clone(constants)
	for i, a := range out {
		if slices.Contains(unused, a.Name) {
			out[i].Meaning += "; not used here: does not change the result"
		}
	}
	return out
}

var mixOperands = func(m, s string) []bench.TensorDoc {
	return []bench.TensorDoc{
		{Name: "x", DType: "F32 or BF16", Shape: "[T, n, C]", Meaning: "residual streams"},
		{
			Name:    "fn",
			DType:   "F32",
			Shape:   "[" + m + ", nC]",
			Meaning: "weights of the mixes, rows in the order pre, post, comb",
		},
		{Name: "scale", DType: "F32", Shape: "[" + s + "]", Meaning: "factor of pre, post, comb"},
		{Name: "base", DType: "F32", Shape: "[" + m + "]", Meaning: "bias of every mix"},
	}
}

var (
	mhcPreDoc = bench.Doc{
		Summary: "mixes = norm(x)·fnᵀ; pre = sigmoid + hc_eps, post = 2·sigmoid, comb = Sinkhorn(softmax); y = Σ_j " +
			"pre_j X_j",
		Operands: mixOperands("(2+n)n", "3"),
		Outputs: []bench.TensorDoc{
			{Name: "y", DType: "as x", Shape: "[T, C]", Meaning: "input of the sublayer"},
			{Name: "post", DType: "F32", Shape: "[T, n]", Meaning: "gates of the sublayer's output"},
			{Name: "comb", DType: "F32", Shape: "[T, n, n]", Meaning: "mixing matrix of the streams, row j to column k"},
		},
		Attrs: constants,
	}
	mhcPostDoc = bench.Doc{
		Summary: "out_k = post_k f + Σ_j comb[j, k] X_j",
		Operands: []bench.TensorDoc{
			{Name: "f", DType: "as x", Shape: "[T, C]", Meaning: "output of the sublayer"},
			{Name: "post", DType: "F32", Shape: "[T, n]", Meaning: "gates"},
			{Name: "comb", DType: "F32", Shape: "[T, n, n]", Meaning: "mixing matrix of the streams, row j to column k"},
			{Name: "x", DType: "F32 or BF16", Shape: "[T, n, C]", Meaning: "residual streams"},
		},
		Outputs: []bench.TensorDoc{
			{Name: "out", DType: "as x", Shape: "[T, n, C]", Meaning: "residual streams after the sublayer"},
		},
		Attrs: given("sinkhorn_iterations", "hc_eps", "norm_eps"),
	}
	mhcHeadDoc = bench.Doc{
		Summary:  "pre = sigmoid(norm(x)·fnᵀ·scale + base) + hc_eps; y = Σ_j pre_j X_j",
		Operands: mixOperands("n", "1"),
		Outputs:  []bench.TensorDoc{{Name: "y", DType: "as x", Shape: "[T, C]", Meaning: "input of the final norm"}},
		Attrs:    given("sinkhorn_iterations"),
	}
)
