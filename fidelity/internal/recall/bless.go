package recall

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/suite"
)

// Blessing is a request for a golden.
type Blessing struct {
	Reason string // required
	CI     bool   // a golden is not made in CI
	Server Server
	Exact  bool // the engine repeats itself to the bit, and one run stands for all repeats
	Source string
}

// Bless makes the cases of a golden file from the repeats of a plan: gate.Repeats runs of the same cells, or one run of
// an exact engine. It refuses as gate.Bless does, and cells that are not gated must have been measured in the last
// repeat. The cache family is left out, with a sentence in left, where more than a twentieth of its answers lack a
// proven hit.
func Bless(p Plan, runs [][]Observation, b Blessing) (cases map[string]any, left string, err error) {
	if b.Exact && len(runs) == 1 {
		for range gate.Repeats - 1 {
			runs = append(runs, runs[0])
		}
	}
	if len(runs) != gate.Repeats {
		return nil, "", fmt.Errorf("no golden is made of %d repeats: %d are needed", len(runs), gate.Repeats)
	}
	for i := range runs { // log-probabilities that are none are no baseline
		runs[i], _ = checked(runs[i])
	}
	request := gate.Request{Reason: b.Reason, CI: b.CI}
	byID := make([]map[string]Observation, len(runs))
	for i, run := range runs {
		byID[i] = map[string]Observation{}
		for _, o := range run {
			byID[i][o.Cell.ID] = o
		}
	}
	var unproven, warm int
	for _, o := range slices.Concat(runs...) {
		if o.Cell.Gate == gate.Cache {
			warm++
			if !o.Proven() {
				unproven++
			}
		}
	}
	noCache := warm > 0 && 20*unproven > warm
	if noCache {
		left = fmt.Sprintf("the cache family is not in this golden: %d of %d warm answers came without proof of a cache hit",
			unproven, warm)
	}
	for _, s := range p.Order {
		if noCache && s.Family == gate.Cache {
			continue
		}
		c := gate.Cell{ID: s.ID, Family: s.Family}
		for i := range c.Repeats {
			if o, ok := byID[i][s.ID]; ok {
				c.Repeats[i] = OutcomeOf(o)
			}
		}
		request.Cells = append(request.Cells, c)
	}
	made, err := gate.Bless(request, gate.DefaultPolicy())
	if err != nil {
		return nil, left, err
	}
	noise := NoiseOf(runs, b.Source)
	h := Header{Reason: made.Reason, Suite: Version(), Server: b.Server, Exact: b.Exact, Noise: noise}
	for _, f := range made.Families {
		h.Gate = append(h.Gate, Baseline{
			Family:   f.Family,
			Stable:   f.Stable,
			Unstable: f.Unstable,
			Recall:   f.Recall,
			Margins:  f.Margins,
			AA:       f.AA,
		})
	}
	cases = map[string]any{HeaderID: h}
	for _, o := range runs[gate.Repeats-1] {
		if !o.Measured {
			return nil, left, fmt.Errorf("no golden is made: the cell %q is %s (%w)", o.Cell.ID, o.Class, orNothing(o.Err))
		}
		c := Keep(o)
		for i := 0; i < gate.Repeats-1 && !b.Exact; i++ {
			c.Before = append(c.Before, repeatOf(byID[i][o.Cell.ID]))
		}
		cases[o.Cell.ID] = c
	}
	return cases, left, nil
}

func repeatOf(o Observation) Repeat {
	r := Repeat{Class: o.Class, Prompt: o.PromptSHA, Tokens: o.Tokens.N}
	if m, ok := meanMargin(o.Positions); ok {
		r.Margin = &m
	}
	return r
}

func orNothing(err error) error {
	if err != nil {
		return err
	}
	return errors.New("no error was reported")
}

// Version is the version of assay that this binary was built from.
func Version() string {
	return cmp.Or(suite.Version(), "unknown")
}

// meanMargin is the margin that the gate pairs: the mean over an answer's positions.
func meanMargin(positions []Position) (float64, bool) {
	if len(positions) == 0 {
		return 0, false
	}
	sum := 0.0
	for _, p := range positions {
		sum += p.Margin
	}
	mean := sum / float64(len(positions))
	return mean, !math.IsNaN(mean) && !math.IsInf(mean, 0)
}

// OutcomeOf is an observation as the gate takes it.
func OutcomeOf(o Observation) gate.Outcome {
	out := gate.Outcome{Measured: o.Measured, Hit: o.Measured && o.Hit, Prompt: o.PromptSHA}
	if o.Measured {
		out.Margin, out.HasMargin = meanMargin(o.Positions)
	}
	return out
}

// Proven reports whether a warm answer came with proof that it was warm.
func (o Observation) Proven() bool { return o.Cached.Known && o.Cached.N > 0 }
