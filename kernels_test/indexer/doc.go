// Package indexer is the suite of the lightning indexer: logits of concatenated sequences (indexer_logits), logits over
// paged index keys (indexer_logits_paged), and quantising an index key and storing it in the paged cache
// (index_key_store).
//
// Claimed: logits lie within the declared arithmetic of the float64 operators in any order of sums; the class of every
// logit is exact; nothing beyond a context length and no page outside the tables is read; bytes of stored keys are
// equal wherever only one code is admissible and lie within half a step of the exact key elsewhere; all other slots are
// unchanged. Not claimed: the choice of keys (top-k is a suite of its own), quantisation of queries, query-side
// Hadamard.
package indexer
