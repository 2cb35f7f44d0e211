// Package engine models a serving engine behind an OpenAI-compatible HTTP server,
// for proofs of a tester. A fault here is
// a bug in a mechanism (a wrong index, a missing reset, a wrong key), and never a description of what is seen.
//
// The parts are those of SGLang, vLLM, llama.cpp and TGI: a byte-level tokenizer, a chat template, a paged KV pool, a
// prefix cache with reference counts and a host tier, chunked prefill, continuous batching, speculative decoding,
// data-parallel ranks, a detokeniser, stream assembly, parsers of tool calls and reasoning,
// usage accounting. In place
// of a network stands a deterministic reader: it sees the KV rows that page table, mask and selection leave visible,
// as
// text with holes, and answers from those. What it cannot see it cannot say.
//
// Claimed: the answer of a sound engine is a function of the request alone, whatever the batch, cache, chunks,
// ranks or
// speculation (tests hold that for drawn parameters); log-probabilities are natural, sum to at most 1, and at
// temperature 0 the chosen token is the best; every bug of the catalogue changes something of a named request.
// Not claimed: that the reader fails as a large model would; its misses are drawn, its words are few.
package engine
