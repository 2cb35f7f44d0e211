package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/fidelity/internal/totals"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// Versus compares two servers, or two builds of one, by the gate's cells. The first is asked everything twice, and what
// it differs from itself stands beside the verdict.
type Versus struct {
	Before, Now *endpoint.Client
	Secret      string // API key, to keep it out of every file
	Haystack    *needle.Haystack
	Budget      recall.Budget
	Parallel    int                      // units of questions at once, over all arms
	Dir         string                   // run folder; empty: nothing is written
	Shown       func(path string) string // how the user reads a path; nil: as it is
	Out, Live   io.Writer                // terminal, and progress; nil Live: none
	Style       report.Style
	Agree       func(question string) bool // asked before anything of the plan is sent; nil: go on
	Result      func(suite.Result) error   // ledger; nil: none
}

// The arms of a comparison, as they stand in the ledger.
const (
	ArmBefore = "before"
	ArmAgain  = "again"
	ArmNow    = "now"
)

// Compared is what a comparison leaves.
type Compared struct {
	Gate        gate.Comparison
	Order       []gate.Slot
	Arms        map[string]map[string]recall.Observation // by arm and cell ID
	Differences []string                                 // of the servers' fingerprints and settings
	Notes       []string                                 // what limits the comparison
	// why margins were not compared although there are log-probabilities; empty: they were
	Logprobs string
	Totals   map[string]totals.Result // of the first server and the second, by arm
	Code     suite.Code
	Verdict  string
	Report   report.Run
	stopped  bool          // before its last question
	paces    []recall.Pace // of the arms before, now and again; nil: not measured
}

// Run surveys both servers, asks the plan of all three arms cell by cell, and what the gate wants besides. Its error
// says that there is no verdict.
func (v Versus) Run(ctx context.Context) (Compared, error) {
	if v.Shown == nil {
		v.Shown = func(p string) string { return p }
	}
	began := time.Now()
	nonce := fmt.Sprintf("run %x", began.UnixNano())
	out := Compared{Arms: map[string]map[string]recall.Observation{ArmBefore: {}, ArmAgain: {}, ArmNow: {}}}
	hosts := v.Before.Host() + " and " + v.Now.Host()
	bar := beginFlight(v.Live, v.Style, hosts, 2, recall.PaceQuestions(v.Parallel))
	defer bar.Done()
	step := func() { bar.Add(1) }
	before, err := v.Before.Watched(step).Survey(ctx, nonce)
	if err != nil {
		return out, fmt.Errorf("the first server: %w", err)
	}
	now, err := v.Now.Watched(step).Survey(ctx, nonce)
	if err != nil {
		return out, fmt.Errorf("the second server: %w", err)
	}
	window := before.Window.N
	if w := now.Window; w.Known && (window == 0 || w.N < window) {
		window = w.N
	}
	plan, err := recall.NewPlan(v.Budget, window)
	if err != nil {
		return out, err
	}
	was, is := v.settings(before), v.settings(now)
	out.Differences = differences(was, is)
	plan = v.gatedOnly(plan, before, now, &out)
	arms := v.arms(before.Preflight, now.Preflight, nonce)
	if err := arms[0].Prepare(ctx); err != nil {
		return out, fmt.Errorf("the first server: %w", err)
	}
	arms[0].SharePrompts(arms[1:]...)
	if err := v.measure(ctx, &out, plan, arms, step); err != nil {
		return out, err
	}
	bar.Done()
	v.head(&out, plan, before, now, began)
	if err := report.WriteHead(v.Out, out.Report, v.Style); err != nil {
		return out, err
	}
	if v.Agree != nil && !v.Agree(v.question(plan)) {
		return out, ErrDeclined
	}
	was.Arms = []string{v.Before.Root(), v.Now.Root()}
	j := Job{Client: v.Before, Result: v.Result}
	if err := j.ledgerSettings(was); err != nil {
		return out, err
	}
	if err := v.ask(ctx, &out, plan, arms, before.Preflight, now.Preflight); err != nil {
		if ctx.Err() == nil {
			return out, err
		}
		out.stopped = true
		return out, errors.Join(ErrInterrupted, v.finish(&out, began))
	}
	return out, v.finish(&out, began)
}

func (v Versus) settings(s endpoint.Survey) Settings {
	return Settings{
		Model: s.Model, Haystack: v.Haystack.Name + " " + v.Haystack.SHA256, Budget: v.Budget, Window: s.Window.N,
		Suite: recall.Version(), Server: recall.ServerOf(s.Identity),
	}
}

// gatedOnly leaves what the gate does not look at out of a plan, and the cache family where hits are not reported.
func (v Versus) gatedOnly(p recall.Plan, before, now endpoint.Survey, out *Compared) recall.Plan {
	reported := before.State("cached-tokens") == endpoint.Supported && now.State("cached-tokens") == endpoint.Supported
	if !reported {
		out.Notes = append(out.Notes, "the cache family is left out: not both servers report cached_tokens")
	}
	if before.State("cache-salt") != endpoint.Supported {
		out.Notes = append(out.Notes, "no cache_salt: the first server answers its second look from its cache, so that its "+
			"own noise looks smaller than it is")
	}
	smoke := v.Budget == recall.Smoke
	keep := func(cells []recall.Cell) []recall.Cell {
		var kept []recall.Cell
		for _, c := range cells {
			if c.Family == recall.Cache && (!reported || smoke) || c.Family == recall.Concurrency && smoke {
				continue
			}
			kept = append(kept, c)
		}
		return kept
	}
	p.Cells, p.Reserve = keep(p.Cells), keep(p.Reserve)
	var order []gate.Slot
	for _, s := range p.Order {
		if s.Family == gate.Cache && (!reported || smoke) || s.Family == gate.Concurrency && smoke {
			continue
		}
		order = append(order, s)
	}
	p.Order = order
	return p
}

// ask asks the plan, and then what the gate wants until it wants no more.
func (v Versus) ask(
	ctx context.Context,
	out *Compared,
	p recall.Plan,
	arms []*recall.Asker,
	before, now endpoint.Preflight,
) error {
	margins := before.Logprobs() > 0 && now.Logprobs() > 0
	for cells := p.Cells; len(cells) > 0; {
		if err := v.stage(ctx, out, arms, cells); err != nil {
			return err
		}
		if err := out.decide(p.Order, margins, v.Budget); err != nil {
			return err
		}
		if out.Gate.Overall == recall.Regressed {
			return nil
		}
		asked := out.Arms[ArmNow]
		cells = nil
		for _, c := range p.More(out.Gate.More) {
			if _, ok := asked[c.ID]; !ok {
				cells = append(cells, c)
			}
		}
	}
	return nil
}

// stage asks cells of all arms, unit by unit, the arms of a unit right after each other and in an order that turns:
// what changes with the hour changes for all.
func (v Versus) stage(ctx context.Context, out *Compared, arms []*recall.Asker, cells []recall.Cell) error {
	var bar *report.Progress
	if v.Live != nil {
		bar = report.NewProgress(v.Live, report.ProgressOptions{
			Label: "compare",
			Total: len(arms) * len(cells),
			Cost:  out.seconds(cells), Expect: time.Duration(out.seconds(cells) * float64(time.Second)),
			Style: v.Style,
		})
	}
	defer bar.Done()
	names := []string{ArmBefore, ArmNow, ArmAgain}
	var mu sync.Mutex
	var failed error
	units := recall.Units(cells)
	err := ask.Each(ctx, v.Parallel, len(units), func(n int) bool { return cells[units[n][0]].Burst > 0 },
		func(ctx context.Context, n int) error {
			var group []recall.Cell
			for _, i := range units[n] {
				group = append(group, cells[i])
			}
			for turn := range arms {
				k := (n + turn) % len(arms)
				obs, err := arms[k].Ask(ctx, group)
				mu.Lock()
				for _, o := range obs {
					out.Arms[names[k]][o.Cell.ID] = o
					j := Job{Client: v.Before, Result: v.Result}
					failed = errors.Join(failed, j.ledger(o, 0, names[k]))
				}
				cost := 0.0
				if len(out.paces) > 0 {
					for _, o := range obs {
						cost += out.paces[k].Seconds(o.Cell)
					}
				}
				bar.AddCost(len(obs), cost)
				mu.Unlock()
				if err != nil {
					return err
				}
			}
			return nil
		})
	return errors.Join(err, failed)
}

// decide lets the gate speak about what was asked so far.
func (c *Compared) decide(order []gate.Slot, margins bool, b recall.Budget) error {
	plan, err := gate.PlanFor(string(b))
	if err != nil {
		return err
	}
	outcomes := func(arm string) map[string]gate.Outcome {
		m := map[string]gate.Outcome{}
		for id, o := range c.Arms[arm] {
			g := recall.OutcomeOf(o)
			if o.Cell.Gate == gate.Cache && !o.Proven() {
				g.Measured = false
			}
			m[id] = g
		}
		return m
	}
	c.Order = order
	c.Logprobs = ""
	for _, arm := range []string{ArmNow, ArmBefore, ArmAgain} { // margins are paired: of all arms, or of none
		if found := recall.LogprobsOf(c.Arms[arm]); found != "" {
			c.Logprobs, margins = found, false
			if arm != ArmNow {
				c.Logprobs = "of the first server: " + found
			}
		}
	}
	c.Gate, err = gate.Compare(order, margins, gate.Arms{
		Before: outcomes(ArmBefore),
		Again:  outcomes(ArmAgain),
		Now:    outcomes(ArmNow),
	}, plan, gate.DefaultPolicy())
	return err
}
