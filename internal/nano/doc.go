// Package nano runs nano-v4, a trained 1.75 M-parameter model of the DeepSeek-V4 architecture, by
// composing the operators of an oracle.Ops: with the oracles it is the exact float64 model, with one
// field exchanged it shows what a fault, a precision contract or a foreign kernel does to recall.
//
// Prefill, chunked prefill and decode are one function, Extend, over an explicit state: the window
// of raw rows, the compressed rows, the compressors' unfinished block and overlap, the index keys.
//
// What is claimed: the model reproduces the Hugging Face traces and greedy answers in fixtures from
// the prompt alone, for any split of the prompt. It is a recall instrument with a word-level
// vocabulary, not a chat model.
package nano
