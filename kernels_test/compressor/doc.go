// Package compressor is the suite of the gated pooling that makes compressed keys: whole sequences at once
// (compress.go), and pieces of sequences with the state that an engine carries between them (extend.go).
//
// Claimed: an accepted kernel emits exactly the complete blocks, each within the declared arithmetic of the
// softmax-weighted sum in any order, carries the unfinished block and, with overlap, the one before, at every remainder
// and every chunking, and lets no token that a block does not look at reach it. Not claimed: the projections before and
// the norm, rotation and quantisation after (they have their own suites), and races between requests.
package compressor
