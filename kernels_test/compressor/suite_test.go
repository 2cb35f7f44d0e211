package compressor_test

import (
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/compressor"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases.
func TestSuite(t *testing.T) { benchtest.Prove(t, compressor.Suite()) }

// The diagnosis MUST name what was planted; of 62 faults, 40.
func TestCauses(t *testing.T) { benchtest.Causes(t, compressor.Suite(), benchtest.Except{Own: 40}) }

// Every operand, output and attribute that a case has MUST be in the operators' documents.
func TestDocuments(t *testing.T) { benchtest.Documents(t, compressor.Suite()) }

// Every operand MUST lie padded in some case, and what no block and no state looks at MUST be poisoned.
func TestMemory(t *testing.T) {
	benchtest.Memory(t, compressor.Suite(), "compress kv", "compress gate", "compress_extend state_kv",
		"compress_extend state_gate")
}
