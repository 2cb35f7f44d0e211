// Package dense is the suite of dense attention and of the caches that it reads: grouped-query attention, ragged and
// paged, with sliding windows, sinks and fp8 caches (gqa.go); multi-head latent attention in its absorbed form
// (mla.go); writes into paged caches (kv_write.go) and of V3.2's byte rows (mla_kv_write.go); page tables
// (page_table.go); exact masks (window_mask.go).
//
// Claimed: outputs lie within the declared arithmetic of the float64 operators in any order of sums, any tiling and any
// number of splits; masks, page tables and untouched cache rows are exact; nothing beyond a sequence is read. Not
// claimed: softmax weights in fp8, caches beyond these sizes (32-bit addresses), soft caps, attention dropout.
package dense
