package probe

import (
	"context"
	"math"

	"github.com/assay-suite/assay/fidelity/internal/ask"
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
	r.rough = needle.Builder{Haystack: r.o.Haystack, Count: r.ask().Count, Bucket: r.o.Bucket}
	r.counter = "tokenize"
	if !r.ask().Tokenizes() {
		r.counter = "estimated"
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
		r.exact.Count = r.ask().Usage
		r.rough.Count = func(_ context.Context, text string) (int, error) {
			return max(1, int(math.Round(ratio*float64(needle.Units(text))))), nil
		}
	}
	return nil
}

func (r *Runner) ask() ask.Asker { return ask.Asker{Client: r.o.Client, Flight: r.o.Survey.Preflight} }
