// Package server is an OpenAI-compatible HTTP server over one small engine: model list, chat and
// text completions (whole and streamed), log-probabilities, a prefix cache with salt and flush,
// tokenizer and health routes.
//
// Claimed: the wire format of the two engines that assay is meant for (vLLM and SGLang) on these
// routes, and that a warm answer is bit for bit the cold one (see prefill.go for how). Temperature 0
// is greedy with ties to the lowest token id.
//
// Not claimed: tools, images, penalties, guided decoding, several choices per prompt (each of these
// is refused with a sentence rather than ignored), authentication, or speed under heavy load. The
// server is meant for loopback.
package server

import "context"

// Message is one turn of a chat: Role is system, user or assistant, Content is plain text.
type Message struct {
	Role    string
	Content string
}

// Engine is a model with its tokenizer. All methods must be safe for concurrent use.
type Engine interface {
	// Name is the model id that /v1/models lists.
	Name() string
	// MaxModelLen is the longest prompt plus completion, in tokens.
	MaxModelLen() int
	// Encode gives the ids of plain text, without begin-of-text.
	Encode(text string) []int
	// EncodeChat renders the turns and the opening of the answer; it fails on a history that the
	// model's template cannot express.
	EncodeChat(messages []Message) ([]int, error)
	// TokenText is the token's text with its leading blank, if it has one. Special tokens give
	// their name; the server never puts those into an answer's text.
	TokenText(id int) string
	// Special tells whether the token is a mark (begin, end, role) and no text.
	Special(id int) bool
	// Vocab is the number of token ids; logits rows have this length.
	Vocab() int
	// BOS is prepended to text prompts; negative means none.
	BOS() int
	// EOS ends an answer.
	EOS() int
	// NewState is the empty context.
	NewState() State
}

// State is the engine's memory of a context (its KV cache). One goroutine extends a state at a time;
// Clone of a state that nobody extends must be safe to call concurrently.
type State interface {
	// Len is the number of tokens taken in.
	Len() int
	// Extend takes in ids and returns the logits [last][vocab] of the last positions, natural units.
	// The rows must not depend on last but for rounding, the state not at all. A state whose Extend
	// failed is not used again.
	Extend(ctx context.Context, ids []int, last int) ([][]float64, error)
	// Clone is an independent copy.
	Clone() State
}
