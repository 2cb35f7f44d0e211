package ask

import (
	"context"
	"errors"

	"github.com/assay-suite/assay/internal/endpoint"
)

// Asker puts questions to one model.
type Asker struct {
	Client *endpoint.Client // with the model set
	Flight endpoint.Preflight
}

// Tokenizes reports whether the server counts tokens on a route of its own.
func (a Asker) Tokenizes() bool { return a.Flight.State("tokenize") == endpoint.Supported }

// Count is the server's own count of a user message: by its tokenize route, else by the usage of a request for one
// token.
func (a Asker) Count(ctx context.Context, text string) (int, error) {
	if !a.Tokenizes() {
		return a.Usage(ctx, text)
	}
	t, err := a.Client.TokenizeChat(ctx, User(text))
	if err == nil && !t.Supported {
		err = errors.New("the tokenize route of the pre-flight is gone")
	}
	return t.Count, err
}

// Usage is the prompt_tokens of a request for one token.
func (a Asker) Usage(ctx context.Context, text string) (int, error) {
	ans, err := a.Client.Chat(ctx, endpoint.ChatRequest{
		Messages: User(text),
		Sampling: endpoint.Sampling{MaxTokens: 1},
	})
	if err != nil {
		return 0, err
	}
	if !ans.Usage.Prompt.Known {
		return 0, errors.New("the server neither tokenizes nor reports prompt_tokens: prompts of a known length cannot be " +
			"made")
	}
	return ans.Usage.Prompt.N, nil
}

// Again is the budget of the second attempt at an answer that ran out of tokens while reasoning: RetryFactor times the
// first, as far as the context window allows, since servers count the budget against it.
func (a Asker) Again(budget int, first endpoint.Answer) int {
	more := budget * RetryFactor
	if w := a.Flight.Window; w.Known && first.Usage.Prompt.Known {
		more = max(1, min(more, w.N-first.Usage.Prompt.N))
	}
	return more
}

// User is a chat of one user message.
func User(text string) []endpoint.Message { return []endpoint.Message{{Role: "user", Content: text}} }
