package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// block is how many requests lie between two looks at the same figure.
const block = 25

// soak asks short things for long: what is wrong from the fiftieth request on was right before.
func soak() probe {
	blocks := func(r *Runner) int { return map[Budget]int{Smoke: 6, Standard: 10, Full: 40}[r.o.Budget] }
	return probe{
		name: evidence.Soak,
		cost: func(r *Runner) Cost { return asks(blocks(r)*block, 200) },
		run: func(ctx context.Context, t *task) error {
			for k := range blocks(t.r) {
				var units []unit
				for i := range block {
					arm := "block-" + itoa(k)
					u := sanityUnit(t.id("%s/%d", arm, i), arm, i)
					if i%2 == 1 {
						u.steps = []step{t.survivor(arm)}
					}
					u.steps[0].at = float64(k * block)
					units = append(units, u)
				}
				if _, err := t.take(ctx, units...); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
