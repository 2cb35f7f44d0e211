package dense

import "github.com/assay-suite/assay/kernels_test/bench"

// docs are the operators of this suite.
func docs() map[string]bench.Doc {
	return map[string]bench.Doc{
		"gqa_attention": gqaDoc, "mla_attention": mlaDoc, "kv_write": kvWriteDoc, "page_table": pageTableDoc, "window_mask": windowMaskDoc,
	}
}
