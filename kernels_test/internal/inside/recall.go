package inside

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
)

// Recall is what a model found.
type Recall struct {
	Found, Of int
	Tokens    int
	Margins   []float64 // smallest margin of each prompt, nats; of the digits up to the first wrong one
}

// answerTokens is how many tokens an answer may have: five digits, a blank, an end.
const answerTokens = 10

// Needles asks a model for n needles in prompts of so many tokens, at depths spread evenly, in chunks as an engine
// does. after is called after each prompt and ends the run with its error.
func Needles(ctx context.Context, m *nano.Model, n, tokens, chunk int, after func(done int) error) (Recall, error) {
	r := Recall{Of: n, Tokens: tokens}
	text, err := needle.Opticks()
	if err != nil {
		return r, err
	}
	count := func(_ context.Context, text string) (int, error) {
		ids, err := nano.EncodeChat([]nano.Message{{Role: "user", Content: text}})
		return len(ids), err
	}
	b := needle.Builder{Haystack: text, Count: count, Bucket: nano.Bucket}
	for i := range n {
		depth := 0.0
		if n > 1 {
			depth = float64(i) / float64(n-1)
		}
		p, err := b.Build(ctx, needle.Spec{
			Case:   fmt.Sprintf("kernels/inside/len-%d/%d", tokens, i),
			Seed:   1,
			Length: tokens,
			Depth:  depth,
		})
		if err != nil {
			return r, fmt.Errorf("prompt %d of %d tokens cannot be built: %w", i, tokens, err)
		}
		answer, steps, err := generate(ctx, m, p.Text, chunk)
		if err != nil {
			return r, err
		}
		if needle.Classify(needle.Answer{Text: answer, Finish: "stop"}, p.Truth).Recalled() {
			r.Found++
		}
		if low, ok := smallest(needle.Margins(steps, p.Truth.Code)); ok {
			r.Margins = append(r.Margins, low)
		}
		if after != nil {
			if err := after(i + 1); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}
