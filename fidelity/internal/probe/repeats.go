package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/needle"
)

// repeats plants eight copies beyond the edge, with and without one of them in the tail: a lottery is won by copies,
// what is out of sight stays so.
func repeats() probe {
	reps := func(r *Runner) int { return max(3, r.s.reps) }
	return probe{
		name: evidence.Repeats,
		cost: func(r *Runner) Cost { return asks(2*reps(r), r.s.longest) },
		run: func(ctx context.Context, t *task) error {
			n := t.r.over()
			t.number("length", float64(n))
			spec := needle.Spec{Length: n, Placement: needle.Spread, Repeat: 8}
			var units []unit
			for i := range reps(t.r) {
				units = append(units,
					one(t.id("spread-no-tail/%d", i), t.r.needleStep("spread-no-tail", float64(n), spec, nil)),
					one(t.id("spread-with-tail/%d", i),
						t.r.needleStep("spread-with-tail", float64(n), spec, func(p needle.Prompt) (string, needle.Truth) {
							return replaceQuestion(p, needle.Sentence(p.Truth.Name, p.Truth.Code)+" "+p.Text[max(0, question(p)):]), p.Truth
						})))
			}
			rss, err := t.take(ctx, units...)
			t.keep(n, rss)
			return err
		},
	}
}
