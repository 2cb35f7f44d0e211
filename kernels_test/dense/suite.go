package dense

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Suite is the suite of this package.
func Suite() bench.Suite {
	return bench.Suite{
		Name: "dense", Families: []bench.Family{gqaAttention, mlaAttention, kvWrite, mlaKVWrite, pageTable, windowMask},
		Built: built, Variants: variants(), Plants: plants(),
	}
}

// built is the candidate that follows a contract to the letter: one pass over the keys in their order, sums from the
// front, weights rounded where the contract says so.
func built(contract string) (bench.Candidate, error) {
	k, err := builtKernels(contract)
	return bench.FromKernels(contract+"-sequential", k), err
}

func builtKernels(contract string) (map[string]bench.Kernel, error) {
	switch contract {
	case "fp32", "bf16", "bf16-p-bf16", "fp8-kv", "exact", "v32-fp8", "v32-fp8-ue8m0":
		return kernels(builtStyle(contract)), nil
	}
	return nil, fmt.Errorf("no contract of the dense suite is called %q; fp32, bf16, bf16-p-bf16, fp8-kv, v32-fp8, "+
		"v32-fp8-ue8m0 and exact are", contract)
}

func builtStyle(contract string) style {
	return style{pBF16: contract == "bf16-p-bf16" || contract == "fp8-kv"}
}

// kernels are all operators, attention in a style.
func kernels(st style) map[string]bench.Kernel {
	return map[string]bench.Kernel{
		"gqa_attention": attention[float32](st), "mla_attention": latent[float32](st),
		"kv_write": write(writing{}), "mla_kv_write": writeRows(rowing{}), "page_table": buildTable(tabling{}),
		"window_mask": masking(visible, false),
	}
}
