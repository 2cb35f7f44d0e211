package probe

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/fidelity/evidence"
)

// Cost is an upper bound: adaptive probes stop earlier. Retries of answers that were all reasoning come on top.
type Cost struct{ Requests, Tokens int }

func (c Cost) plus(d Cost) Cost { return Cost{c.Requests + d.Requests, c.Tokens + d.Tokens} }

func (c Cost) times(n int) Cost { return Cost{c.Requests * n, c.Tokens * n} }

// asks is the cost of n requests of a length, with an answer of the usual budget's tenth: models stop by themselves.
func asks(n, tokens int) Cost { return Cost{n, n * tokens} }

// Row is one probe of a plan.
type Row struct {
	Probe string
	Cost
	LeftOut string // why it will not run; empty: it will
}

// Plan is what a run will send at most, in its order.
type Plan []Row

// Cost adds the rows up.
func (p Plan) Cost() Cost {
	var c Cost
	for _, r := range p {
		c = c.plus(r.Cost)
	}
	return c
}

// Time is how long the plan takes at a rate of prompt tokens a second.
func (p Plan) Time(tokensPerSecond float64) time.Duration {
	if tokensPerSecond <= 0 {
		return 0
	}
	return time.Duration(math.Round(float64(p.Cost().Tokens) / tokensPerSecond * float64(time.Second)))
}

// Lines writes the plan for a terminal; the rate 0 is unknown and leaves the minutes out.
func (p Plan) Lines(tokensPerSecond float64) []string {
	var out []string
	line := func(name string, c Cost) string {
		s := fmt.Sprintf("%-14s %5d requests %9d tokens", name, c.Requests, c.Tokens)
		if tokensPerSecond > 0 {
			s += fmt.Sprintf(" %6.1f min", float64(c.Tokens)/tokensPerSecond/60)
		}
		return s
	}
	var left []string
	for _, r := range p {
		if r.LeftOut != "" {
			left = append(left, r.Probe+": "+r.LeftOut)
			continue
		}
		out = append(out, line(r.Probe, r.Cost))
	}
	out = append(out, line("at most", p.Cost()))
	if len(left) > 0 {
		out = append(out, "left out: "+strings.Join(left, "; "))
	}
	return out
}

// probe is one of the probes.
type probe struct {
	name string
	cost func(r *Runner) Cost
	// skip is why it cannot run on this server, empty where it can.
	skip func(r *Runner) string
	run  func(ctx context.Context, t *task) error
}

// Plan lists the probes with their cost. It sends nothing.
func (r *Runner) Plan() Plan {
	var out Plan
	for _, p := range r.probes() {
		row := Row{Probe: p.name, LeftOut: r.leftOut(p)}
		if row.LeftOut == "" {
			row.Cost = p.cost(r)
		}
		out = append(out, row)
	}
	return out
}

func (r *Runner) leftOut(p probe) string {
	switch {
	case r.o.Only != nil && !slices.Contains(r.o.Only, p.name):
		return "not asked for"
	case evidence.Disruptive(p.name) && !r.o.Disrupt:
		return "may disturb others: allow it with ASSAY_DISRUPT=1"
	case p.skip != nil:
		return p.skip(r)
	}
	return ""
}

// probes lists the probes in the order of evidence.Order.
func (r *Runner) probes() []probe {
	all := []probe{
		sanity(), selfNoise(), accounting(), parity(), sampling(), overLimit(), lengthSweep(), depthSweep(), repeats(), cue(),
		distance(),
		shift(), coldWarm(), fork(), turns(), flatten(), firstToken(), tools(), longAnswer(), logprobs(), ladder(),
		sessions(), indexer(),
		evictReturn(), aborts(), soak(), alone(),
	}
	order := evidence.Order()
	slices.SortStableFunc(all, func(a, b probe) int { return slices.Index(order, a.name) - slices.Index(order, b.name) })
	return all
}

// notIn is a skip for budgets.
func notIn(bs ...Budget) func(r *Runner) string {
	return func(r *Runner) string {
		if slices.Contains(bs, r.o.Budget) {
			return fmt.Sprintf("not in budget %s", r.o.Budget)
		}
		return ""
	}
}
