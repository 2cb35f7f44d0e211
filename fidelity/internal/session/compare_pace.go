package session

import (
	"context"
	"path/filepath"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
)

// arms are the askers of the three arms, in the order of their names.
func (v Versus) arms(before, now endpoint.Preflight, nonce string) []*recall.Asker {
	arm := func(name string, c *endpoint.Client, f endpoint.Preflight) *recall.Asker {
		a := &recall.Asker{
			Asker:    ask.Asker{Client: c.WithModel(f.Model), Flight: f},
			Haystack: v.Haystack,
			RunNonce: nonce + "-" + name,
			Parallel: 1,
			Arm:      name + "/",
		}
		if v.Dir != "" {
			a.Store = filepath.Join(v.Dir, "requests")
			a.Shown = v.Shown(a.Store)
		}
		return a
	}
	return []*recall.Asker{arm(ArmBefore, v.Before, before), arm(ArmNow, v.Now, now), arm(ArmAgain, v.Before, before)}
}

// measure finds out how long each arm's questions take. A server that fails them is left to the plan's own questions,
// and the plan to no time.
func (v Versus) measure(ctx context.Context, out *Compared, p recall.Plan, arms []*recall.Asker, step func()) error {
	out.paces = nil
	var paces []recall.Pace
	for _, a := range arms[:2] {
		pace, err := a.Measure(ctx, p, v.Parallel, step)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case endpoint.IsUnreachable(err):
			return err
		case err != nil:
			return nil //nolint:nilerr // it only costs the estimate
		}
		paces = append(paces, pace)
	}
	out.paces = append(paces, paces[0])
	return nil
}

// seconds is what cells take of all arms; 0: not known.
func (c *Compared) seconds(cells []recall.Cell) float64 {
	sum := 0.0
	for _, cell := range cells {
		for _, p := range c.paces {
			sum += p.Seconds(cell)
		}
	}
	return sum
}
