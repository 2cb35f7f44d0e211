package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

// docs are the operators of this suite.
func docs() map[string]bench.Doc {
	return map[string]bench.Doc{"indexer_logits": logitsDoc, "indexer_logits_paged": pagedDoc, "index_key_store": storeDoc}
}
