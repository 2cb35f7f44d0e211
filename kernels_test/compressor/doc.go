// Package compressor is the suite of the gated pooling that makes compressed keys: whole sequences at once
// (compress.go), and pieces of sequences with the state that an engine carries between them (extend.go).
//
// Claimed: an accepted kernel emits exactly the complete blocks, each within the declared arithmetic of the
// softmax-weighted sum in any order; that it carries the unfinished block and, with overlap, the previous one, at every
// remainder and every chunking; and that no token outside a block's window affects it. Not claimed: the projections
// before and the norm, rotation and quantisation after (they have their own suites), and races between requests.
package compressor
