package probe

import (
	"context"
	"errors"
	"math"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
)

// calibration is how many words and marks the tokens of a word are measured on.
const calibration = 300

// prepare measures tokens a word once, so that prompts do not depend on the order of asking.
//
// Where the server has a tokenize route prompts are counted by it. Else lengths are estimated from the words: counting
// a long prompt by the usage of a request would cost its whole prefill, and would believe a server that cuts prompts.
// Exact lengths, where they matter, are then counted by usage.
func (r *Runner) prepare(ctx context.Context) error {
	r.rough = needle.Builder{Haystack: r.o.Haystack, Count: r.tokenize, Bucket: r.o.Bucket}
	r.counter = "tokenize"
	if r.o.Survey.State("tokenize") != endpoint.Supported {
		r.counter = "estimated"
		r.rough.Count = r.usage
	}
	ratio, err := r.rough.Calibrate(ctx, calibration)
	switch {
	case err == nil:
	case ctx.Err() != nil || endpoint.IsUnreachable(err):
		return err
	default:
		ratio, r.counter = 1.3, "guessed: "+r.o.Client.Redact(err.Error())
	}
	r.ratio = ratio
	r.rough.TokensPerUnit = ratio
	r.exact = r.rough
	if r.counter != "tokenize" {
		r.exact.Count = r.usage
		r.rough.Count = func(_ context.Context, text string) (int, error) {
			return max(1, int(math.Round(ratio*float64(needle.Units(text))))), nil
		}
	}
	return nil
}

func (r *Runner) tokenize(ctx context.Context, text string) (int, error) {
	t, err := r.o.Client.TokenizeChat(ctx, user(text))
	if err == nil && !t.Supported {
		err = errors.New("the tokenize route of the survey is gone")
	}
	return t.Count, err
}

func (r *Runner) usage(ctx context.Context, text string) (int, error) {
	a, err := r.o.Client.Chat(ctx, endpoint.ChatRequest{Messages: user(text), Sampling: endpoint.Sampling{MaxTokens: 1}})
	if err != nil {
		return 0, err
	}
	if !a.Usage.Prompt.Known {
		return 0, errors.New("the server neither tokenizes nor reports prompt_tokens")
	}
	return a.Usage.Prompt.N, nil
}

func user(text string) []endpoint.Message { return []endpoint.Message{{Role: "user", Content: text}} }
