package sparse

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// The contracts' names.
const (
	fp32       = "fp32"
	v4First    = "v4-first" // the first DeepSeek-V4 release: cached rows are used as bf16
	v4Later    = "v4-later" // the later one: their leading channels go through fp8
	flashMLA   = "flashmla"
	flashInfer = "flashinfer"
	v4Pages    = "v4-pages"
	v32Pages   = "v32-pages"
	production = "production"
)

// tensorCore is bf16 products added in blocks of 16 with 25 fraction bits, truncated, in an order that nobody promises:
// Hopper's block FMA, which also covers fp32 sums.
func tensorCore() numerics.Accumulator {
	return numerics.Accumulator{Block: 16, Align: 25, Result: 23, Rounding: format.RZ}
}

// attentionContracts: fp32 throughout; then bf16 operands, weights rounded to bf16 before the product with V, and bf16
// outputs, which differ in what the rows are and in what the log-sum-exp says.
func attentionContracts() []numerics.Contract {
	half := func(name string, special numerics.Rules) numerics.Contract {
		return numerics.Contract{Name: name, Acc: tensorCore(), Mid: format.BF16, Out: format.BF16, Special: special}
	}
	return []numerics.Contract{
		{Name: fp32, Acc: numerics.FP32Any()},
		half(v4First, numerics.Rules{}),
		half(v4Later, numerics.Rules{}),
		half(flashMLA, numerics.Rules{EmptyLSE: "+inf"}),
		half(flashInfer, numerics.Rules{LSEBase: "2"}),
		half(v4Pages, numerics.Rules{EmptyLSE: "+inf"}),
		half(v32Pages, numerics.Rules{EmptyLSE: "+inf"}),
		{Name: production, Acc: numerics.FP32Any(), Tier: numerics.Bitwise},
	}
}

// lseWords are a contract's rules in the operator's words.
func lseWords(c numerics.Contract) (base, empty string) {
	base, empty = c.Special.LSEBase, c.Special.EmptyLSE
	if base == "" {
		base = "e"
	}
	if empty == "" {
		empty = "-inf"
	}
	return base, empty
}

// dtypeOf is the dtype of the contract's real operands.
func dtypeOf(c numerics.Contract) string {
	if c.Out.Name == format.BF16.Name {
		return bench.BF16
	}
	return bench.F32
}

// inBase turns a natural log-sum-exp and its bound to a base. The product with log2 e and the constant's own rounding
// add 2u.
func inBase(base string, l numerics.Tracked) numerics.Tracked {
	if base != "2" {
		return l
	}
	l.X *= math.Log2E
	if !math.IsInf(l.X, 0) {
		l.E = l.E*math.Log2E*(1+2*numerics.UFP32) + 2*numerics.UFP32*math.Abs(l.X)
	}
	return l
}

// layoutOf is the page of a kv_layout.
func layoutOf(name string, tokens int) (format.Layout, error) {
	switch name {
	case "v4-kv":
		return format.PageV4(tokens)
	case "v32-kv":
		return format.PageV32(tokens)
	}
	return format.Layout{}, fmt.Errorf("kv_layout %q is no page of bytes; v4-kv and v32-kv are", name)
}

func slug(format string, args ...any) string { return fmt.Sprintf(format, args...) }
