package dense

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
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
		k := builtAttention(contract).kernels()
		k["kv_write"], k["mla_kv_write"] = newWriter().write, newRowWriter().write
		k["page_table"], k["window_mask"] = newTabler().build, newMasker().build
		return k, nil
	}
	return nil, fmt.Errorf("no contract of the dense suite is called %q; fp32, bf16, bf16-p-bf16, fp8-kv, v32-fp8, "+
		"v32-fp8-ue8m0 and exact are", contract)
}

// builtAttention rounds its weights where the contract says so.
func builtAttention(contract string) attention[float32] {
	k := streaming(softmax.FP32())
	if contract == "bf16-p-bf16" || contract == "fp8-kv" {
		k.Weight = softmax.RoundedWeights
	}
	return k
}
