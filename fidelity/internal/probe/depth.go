package probe

import (
	"context"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/needle"
)

// depths are per cent of the filler.
func depths(r *Runner) []int {
	if r.o.Budget == Smoke {
		return []int{0, 30, 60, 90}
	}
	return []int{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}
}

// tails are the distances from the end within which the needle stands.
var tails = []int{2048, 512, 128, 32}

// depthSweep moves the needle through a prompt beyond the edge.
func depthSweep() probe {
	return probe{
		name: evidence.Depth,
		cost: func(r *Runner) Cost { return asks(r.s.reps*(len(depths(r))+len(tails)), r.s.longest) },
		run: func(ctx context.Context, t *task) error {
			n := t.r.over()
			t.number("length", float64(n))
			var units []unit
			for i := range t.r.s.reps {
				for _, d := range depths(t.r) {
					arm := "depth-" + itoa(d)
					units = append(units, one(t.id("%s/%d", arm, i), t.r.needleStep(arm, float64(d), needle.Spec{
						Length: n,
						Depth:  float64(d) / 100,
					}, nil)))
				}
				for _, w := range tails {
					if w > n-64 {
						continue
					}
					spec := needle.Spec{Length: n, Placement: needle.JustInside, Window: w}
					if w <= 64 {
						spec.Placement, spec.Window = needle.Tail, 0
					}
					arm := "tail-" + itoa(w)
					units = append(units, one(t.id("%s/%d", arm, i), t.r.needleStep(arm, 100*(1-float64(w)/float64(n)), spec, nil)))
				}
			}
			rss, err := t.take(ctx, units...)
			t.keep(n, rss)
			return err
		},
	}
}
