package probe

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
)

// sane are questions that every chat model answers, with the word that the answer must hold.
var sane = [][2]string{
	{"What is the capital of France?", "paris"},
	{"What is 17 + 25?", "42"},
	{"Reply with the word ready.", "ready"},
	{"How many days are in a week?", "7"},
	{"What is the opposite of hot?", "cold"},
}

// sanity asks five short questions one after the other.
func sanity() probe {
	return probe{
		name: evidence.Sanity,
		cost: func(*Runner) Cost { return asks(len(sane)+len(begun), 40) },
		run: func(ctx context.Context, t *task) error {
			for i := range sane { // alone: concurrency is what other probes ask about
				if _, err := t.take(ctx, sanityUnit(t.id("q%d", i), fmt.Sprintf("q%d", i), i)); err != nil {
					return err
				}
			}
			return t.rawSanity(ctx)
		},
	}
}

func sanityUnit(id, arm string, i int) unit {
	i %= len(sane)
	return one(id, step{arm: arm, tokens: 40, make: func(_ context.Context, s salt) (query, error) {
		judge := holds(sane[i][1])
		if sane[i][1] == "7" {
			judge = either(holds("7"), holds("seven"))
		}
		return query{chat: chat(s.word() + ". " + sane[i][0]), judge: judge}, nil
	}})
}

// begun are texts that every model ends alike, with the word that must come.
var begun = [][2]string{
	{"Question: What is the capital of France?\nAnswer: The capital of France is", "paris"},
	{"Question: How many days are in a week?\nAnswer: The number of days in a week is", "7"},
	{"Question: What is the opposite of hot?\nAnswer: The opposite of hot is", "cold"},
}

// rawSanity asks without the chat template where chats are wrong: what is right there is lost by the template.
func (t *task) rawSanity(ctx context.Context) error {
	right, runs := 0, 0
	for _, a := range t.r.set.Of(t.probe) {
		right, runs = right+a.Right, runs+a.Runs
	}
	if 2*right > runs || t.r.o.Survey.State("completions") != endpoint.Supported {
		return nil
	}
	right, runs = 0, 0
	for i, b := range begun {
		judge := holds(b[1])
		if b[1] == "7" {
			judge = either(holds("7"), holds("seven"))
		}
		rss, err := t.take(ctx, one(t.id("raw%d", i), step{tokens: 40, make: func(_ context.Context, s salt) (query, error) {
			return query{
				once:  true,
				raw:   &endpoint.CompletionRequest{Prompt: s.word() + ".\n" + b[0], Sampling: endpoint.Sampling{MaxTokens: 16}},
				judge: judge,
			}, nil
		}}))
		if err != nil {
			return err
		}
		if v := rss[0][0]; v.Measured {
			runs++
			if v.Right {
				right++
			}
		}
	}
	t.number("raw-asked", float64(runs))
	t.number("raw-right", float64(right))
	return nil
}
