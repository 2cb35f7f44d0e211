// Package sparse is the suite of attention over lists of rows: sparse attention with window, compressed rows and sink
// (attention.go), the merge of two states (merge_state.go) and of many (merge_states.go), and the lists of a chunked
// prefill (extend_rows.go).
//
// Claimed: an accepted kernel stays within the declared arithmetic in any order of keys, tiles and splits, reads no row
// outside of the lists, no lane beyond a list's length and no table entry beyond a sequence, and returns what its
// contract says for empty rows, lists and states. Not claimed: how the lists were chosen (the selection has its own
// suite), races between splits, and address arithmetic beyond these sizes.
package sparse
