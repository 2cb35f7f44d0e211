// Package topk is the suite of top-k selection: the best visible keys of every query (topk.go), and the same fused with
// the translation of keys to rows of a paged cache (pages.go).
//
// Claimed: an accepted kernel selects, from the scores that it is given, exactly the best keys visible to each query,
// breaks ties as it declares, fills every slot that has a key and no other, and reads neither scores beyond a length
// nor table entries beyond a sequence. Not claimed: that the scores are right (the indexer has its own suite), the
// order of a row's indices, races between blocks, the treatment of NaN in ranked rows, and widths beyond those of the
// cases.
package topk
