// Package wire is a fake OpenAI-compatible server with the quirks of real ones, each a switch.
//
// What is claimed: every quirk can be switched on alone or with any others; what the server sends is a pure function
// of its options, the requests so far and their order; /v1/models, chat and text completions (streamed or whole) and
// the identity, tokenize and native routes answer in the forms of vLLM, SGLang and llama.cpp. Routes that flush a
// cache exist and count their calls, so that a test can say that nobody called them.
//
// What is not claimed: no model answers. The answer is scripted, tokens are pieces of text, log-probabilities are
// made up, and a quirk's form is one known form, not all. Engines with faults of recall live elsewhere.
package wire
