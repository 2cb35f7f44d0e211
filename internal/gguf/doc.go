// Package gguf writes nano-llama as a GGUF file, version 3, for llama.cpp and what is built on it.
//
// Claimed: the tensors are those of the checkpoint (query and key rows permuted to the interleaved rotary pairs that
// llama.cpp's llama architecture turns), and its tokenizer gives the ids of nano.Encode, up to words that are ids of
// their own, for every text of letters that are in its list, digits, the eleven marks and blanks.
//
// Not claimed, because a GGUF vocabulary cannot hash: a word in no list is the unknown token; a character that
// nano.Encode skips is the unknown token too, and a word is cut at what is no letter
// and no mark only where llama.cpp cuts it.
package gguf
