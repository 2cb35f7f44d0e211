package dense_test

import (
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/dense"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) { benchtest.Prove(t, dense.Suite()) }

// The diagnosis MUST name what was planted.
func TestCauses(t *testing.T) { benchtest.Causes(t, dense.Suite(), benchtest.Except{}) }

// Every operand, output and attribute that a case has MUST be in the operators' documents.
func TestDocuments(t *testing.T) { benchtest.Documents(t, dense.Suite()) }

// Every operand MUST lie in a wider buffer in some case, and what nobody may read MUST be poisoned.
func TestMemory(t *testing.T) {
	benchtest.Memory(t, dense.Suite(), "gqa_attention q", "gqa_attention k", "gqa_attention v", "gqa_attention k_cache",
		"gqa_attention v_cache", "gqa_attention page_table", "gqa_attention workspace", "mla_attention q_nope",
		"mla_attention q_pe", "mla_attention ckv_cache", "mla_attention kpe_cache", "mla_attention page_table",
		"kv_write k", "kv_write v", "kv_write full_to_swa", "mla_kv_write latent", "mla_kv_write k_pe",
		"page_table req_to_token")
}
