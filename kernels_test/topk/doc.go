// Package topk is the suite of top-k selection: the best visible keys of every query (topk.go), and the same fused with
// the transform of keys to rows of a paged cache (pages.go).
//
// Claimed: an accepted kernel chooses, on the scores that it is given, exactly the best keys that each query sees,
// settles ties as it declares, fills every slot that has a key and no other, and reads neither scores beyond a length
// nor table entries beyond a sequence. Not claimed: that the scores are right (the indexer has its own suite), the
// order of a row's indices, races between blocks, what becomes of a NaN that would have to be ranked, and limits of
// widths above those of the cases.
package topk
