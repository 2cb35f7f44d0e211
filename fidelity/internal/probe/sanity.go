package probe

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
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
		cost: func(*Runner) Cost { return asks(len(sane), 40) },
		run: func(ctx context.Context, t *task) error {
			for i := range sane { // alone: concurrency is what other probes ask about
				if _, err := t.take(ctx, sanityUnit(t.id("q%d", i), fmt.Sprintf("q%d", i), i)); err != nil {
					return err
				}
			}
			return nil
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
