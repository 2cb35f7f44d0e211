// Package needle makes needle-in-a-haystack prompts and reads the answers: the text (Opticks, Tom
// Sawyer, generated prose, an agent's context, a file), the needle of one of eight kinds and its
// question, a prompt of a wanted length in the server's own tokens, the class of an answer, and the
// log-probability margin of each digit or token.
//
// Claimed: a prompt is a pure function of (seed, case, nonce, haystack, token counter); its filler
// is whole sentences in their order, none used twice; its length is within max(2 %, 16 tokens) by
// the counter, which never sees the measured prompt itself; BuildExact meets a length and BuildAt a
// needle's offset to the token, by filler words; in generated text no 50 tokens in a row repeat
// over a million; every answer has exactly one class.
//
// Not claimed: the depth of a needle is exact to the nearest sentence boundary only, and token
// distances inside a prompt are estimates from the measured tokens per word. Classes judge what was
// written, never why. The package knows no transport: it is given counts, answers and logprobs.
package needle
