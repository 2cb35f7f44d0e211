package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/needle"
)

// alone asks for needles of short prompts, one at a time: how many of these this server gets wrong is what all its
// other wrong answers are held against.
func alone() probe {
	n := func(r *Runner) int { return map[Budget]int{Smoke: 32, Standard: 48, Full: 64}[r.o.Budget] }
	return probe{
		name: evidence.Alone,
		cost: func(r *Runner) Cost { return asks(n(r), control) },
		run: func(ctx context.Context, t *task) error {
			for i := range n(t.r) {
				at := float64(i%8) / 8
				u := one(t.id("%d", i), t.r.needleStep("alone", 0, needle.Spec{Length: control, Depth: at}, nil))
				u.together = true
				if _, err := t.take(ctx, u); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
