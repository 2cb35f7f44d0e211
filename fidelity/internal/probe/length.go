package probe

import (
	"context"
	"slices"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/needle"
)

// edgeWidth is how narrow the cliff finder makes an edge: 16 tokens to each side.
const edgeWidth = 32

// edgeSteps bounds its bisection: from 32 K tokens to 32 in ten.
const edgeSteps = 10

// lengthSweep asks for a needle at a tenth of the prompt over geometric lengths, and narrows the edge that it finds.
func lengthSweep() probe {
	return probe{
		name: evidence.Length,
		cost: func(r *Runner) Cost {
			var c Cost
			for _, n := range r.s.lengths {
				c = c.plus(asks(r.s.reps, n))
			}
			return c.plus(asks((edgeSteps+2)*edgeReps(r), r.s.longest))
		},
		run: lengthRun,
	}
}

func edgeReps(r *Runner) int { return max(4, r.s.reps/2+1) }

// point is a length with the share of right answers there.
type point struct {
	tokens int
	share  float64
}

func lengthRun(ctx context.Context, t *task) error {
	var points []point
	for _, n := range t.r.s.lengths {
		p, ok, err := t.lengthPoint(ctx, n, t.r.s.reps, "")
		if err != nil {
			return err
		}
		if ok {
			points = append(points, p)
		}
	}
	lo, hi, ok := bracket(points)
	for ; ok; lo, hi, ok = bracket(points) {
		// A weak model misses some of three anywhere: the length that failed is asked once more before and after. One that
		// does not fail again stands on a slope, or beside one.
		share, err := t.recheck(ctx, hi, "again")
		if err != nil {
			return err
		}
		if share <= 0.5 {
			break
		}
		points[slices.IndexFunc(points, func(p point) bool { return p.tokens == hi })].share = share
	}
	if !ok {
		return nil
	}
	first := hi
	t.r.edge = (lo + hi) / 2
	for range edgeSteps {
		if hi-lo <= edgeWidth {
			break
		}
		p, ok, err := t.lengthPoint(ctx, (lo+hi)/2, edgeReps(t.r), "edge")
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if p.share > 0.5 {
			lo = p.tokens
		} else {
			hi = p.tokens
		}
		t.r.edge = (lo + hi) / 2
	}
	if hi == first {
		if share, err := t.recheck(ctx, hi, "once-more"); share > 0.5 || err != nil {
			t.r.edge = 0
			return err
		}
	}
	t.number("edge", float64(t.r.edge))
	t.number("edge-width", float64(hi-lo))
	if c := Cliffs(t.r.edge, (hi-lo+1)/2, t.r.o.Known, t.r.o.Survey.Window.N); len(c) > 0 {
		t.say("cliffs", strings.Join(c, "; "))
	}
	return nil
}

func (t *task) lengthPoint(ctx context.Context, n, reps int, round string) (point, bool, error) {
	arm := func(tokens int) step {
		spec := needle.Spec{Length: tokens, Depth: 0.1}
		if round == "edge" {
			return t.r.sized("len-"+itoa(n), float64(n), tokens, spec)
		}
		return t.r.needleStep("len-"+itoa(n), float64(n), spec, nil)
	}
	var units []unit
	for i := range reps { // a token apart: a fault of one residue must not pass for one of length
		units = append(units, one(t.id("len-%d/%s%d", n, round, i), arm(n-i)))
	}
	rss, err := t.take(ctx, units...)
	t.keep(n, rss)
	share, runs := rate(rss)
	return point{n, share}, runs > 0, err
}

// recheck asks more at a length that failed, and gives the share of right ones among all of its answers.
func (t *task) recheck(ctx context.Context, n int, round string) (float64, error) {
	if _, _, err := t.lengthPoint(ctx, n, edgeReps(t.r), round); err != nil {
		return 1, err
	}
	a, _ := t.r.set.Arm(t.probe, "len-"+itoa(n))
	share, ok := a.Rate()
	if !ok {
		return 1, nil
	}
	return share, nil
}

// bracket finds the two lengths between which the answers fall from right (this one and each shorter one 2 of 3) to
// wrong (half at most, and half of all that are longer still). What lies between them is a slope. There is none where
// they do not fall for good: that is no cliff. A lottery beyond the edge may win some.
func bracket(points []point) (lo, hi int, ok bool) {
	i := slices.IndexFunc(points, func(p point) bool { return p.share <= 0.5 })
	j := slices.IndexFunc(points, func(p point) bool { return p.share < 0.66 })
	if i < 1 || j < 1 || slices.ContainsFunc(points[j:i], func(p point) bool { return p.share >= 0.66 }) {
		return 0, 0, false
	}
	var beyond float64
	for _, p := range points[i:] {
		beyond += p.share
	}
	if beyond > 0.5*float64(len(points)-i) {
		return 0, 0, false
	}
	return points[j-1].tokens, points[i].tokens, true
}
