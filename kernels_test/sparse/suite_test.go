package sparse_test

import (
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/sparse"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) { benchtest.Prove(t, sparse.Suite()) }

// The diagnosis MUST name what was planted; the wrong strides of S11 lead into memory of nobody, which it names first.
func TestCauses(t *testing.T) {
	benchtest.Causes(t, sparse.Suite(), benchtest.Except{Later: []string{"S11"}})
}

// Every operand MUST lie padded in some case, and what nobody may read MUST be poisoned.
func TestMemory(t *testing.T) {
	benchtest.Memory(t, sparse.Suite(), "sparse_attention kv", "sparse_attention extra_kv", "sparse_attention indices",
		"sparse_attention extra_indices", "sparse_attention block_table", "sparse_attention extra_block_table",
		"merge_state prefix_o", "merge_state suffix_o", "merge_states o", "merge_states lse", "extend_rows selected")
}
