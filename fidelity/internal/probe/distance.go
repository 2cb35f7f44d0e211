package probe

import (
	"context"
	"slices"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/needle"
)

// heldDistance is how far from the end the needle stands while the length changes.
const heldDistance = 384

// distance moves the length with the needle's distance from the end held, and the distance with the length held: a
// choice of blocks fails by length, positions fail by distance.
func distance() probe {
	return probe{
		name: evidence.Distance,
		skip: notIn(Smoke),
		cost: func(r *Runner) Cost {
			return asks(r.s.reps*len(r.s.lengths), r.s.longest/2).plus(asks(r.s.reps*len(farther(r.s.longest)), r.s.longest))
		},
		run: func(ctx context.Context, t *task) error {
			r := t.r
			long := r.over()
			t.number("held-distance", heldDistance)
			t.number("held-length", float64(long))
			lengths := slices.DeleteFunc(slices.Clone(r.s.lengths), func(n int) bool {
				return n < 2*heldDistance || n > long*5/4 && n != r.s.longest
			})
			var units []unit
			for i := range r.s.reps {
				for _, n := range lengths {
					arm := "length-" + itoa(n)
					units = append(units, one(t.id("%s/%d", arm, i), r.needleStep(arm, float64(n), needle.Spec{
						Length:    n,
						Placement: needle.JustInside,
						Window:    heldDistance,
					}, nil)))
				}
				for _, d := range farther(long) {
					arm := "distance-" + itoa(d)
					units = append(units, one(t.id("%s/%d", arm, i), r.needleStep(arm, float64(d), needle.Spec{
						Length: long,
						Depth:  1 - float64(d)/float64(long),
					}, nil)))
				}
			}
			_, err := t.take(ctx, units...)
			return err
		},
	}
}

// farther are distances from the end of a prompt, doubling, up to nine tenths of it.
func farther(long int) []int {
	var out []int
	for d := 256; d < long*9/10; d *= 2 {
		out = append(out, d)
	}
	return append(out, long*9/10)
}
