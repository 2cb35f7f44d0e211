package probe

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// lateWords is how much is written before the late code.
const lateWords = 150

// firstToken asks for an answer of one word, which prefill alone can give, and for a code behind many words, which only
// decoding gives.
func firstToken() probe {
	reps := func(r *Runner) int { return 2 * r.s.reps } // what decays slowly leaves some right
	return probe{
		name: evidence.FirstToken,
		skip: notIn(Smoke),
		cost: func(r *Runner) Cost { return asks(reps(r), 150).plus(asks(reps(r), 150+2*lateWords)) },
		run: func(ctx context.Context, t *task) error {
			t.number("late-words", lateWords)
			var units []unit
			for i := range reps(t.r) {
				for _, arm := range []string{"one-word", "late"} {
					units = append(units, one(t.id("%s/%d", arm, i), step{
						arm:    arm,
						tokens: 150 + 2*lateWords,
						make: func(_ context.Context, s salt) (query, error) {
							return t.r.lateAsk(s, arm == "late"), nil
						},
					}))
				}
			}
			_, err := t.take(ctx, units...)
			return err
		},
	}
}

func (r *Runner) lateAsk(s salt, late bool) query {
	name, code := r.names(s, 1)[0], s.code()
	text := r.private(s, 120, name, code)
	if !late {
		return query{
			chat:  chat(text + r.sep() + "Which archive has the code " + code + "? Answer with only the name."),
			judge: holds(name),
		}
	}
	q := chat(fmt.Sprintf("%s%sWrite %d words about the sea, then the access code for %s.", text, r.sep(), lateWords,
		name))
	q.MaxTokens = 4 * lateWords
	return query{chat: q, judge: holds(code)}
}
