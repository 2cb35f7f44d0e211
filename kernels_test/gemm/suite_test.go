package gemm_test

import (
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/gemm"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) { benchtest.Prove(t, gemm.Suite()) }

// The diagnosis MUST name the class of a fault that it knows nothing about. Q5 reads scales of other batches, padding
// among them, and is taken for a kernel that reads what it may not.
func TestCauses(t *testing.T) {
	benchtest.Causes(t, gemm.Suite(), benchtest.Except{Later: []string{"Q5"}})
}

// Every operand, output and attribute that a case has MUST be in the operators' documents.
func TestDocuments(t *testing.T) { benchtest.Documents(t, gemm.Suite()) }

// Every operand MUST be padded somewhere, and every operator that leaves elements unread MUST poison them.
func TestEveryOperandPadded(t *testing.T) {
	benchtest.Memory(t, gemm.Suite(), "batched_mxfp8_gemm x_scale", "batched_mxfp8_gemm w_scale", "nvfp4_gemm x_scale",
		"nvfp4_gemm w_scale", "grouped_gemm x", "grouped_gemm x_scale", "grouped_nvfp4_gemm x",
		"grouped_nvfp4_gemm x_scale", "grouped_nvfp4_gemm w_scale", "masked_gemm x", "masked_gemm x_scale")
}
