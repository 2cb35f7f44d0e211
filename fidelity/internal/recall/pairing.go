package recall

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/internal/gate"
)

// Standing is a gate's answer.
type Standing = gate.Standing

// The answers; absent is for a gate that had nothing to compare, undecided for one that wants more cells.
const (
	Held         = gate.Held
	Regressed    = gate.Regressed
	Inconclusive = gate.Inconclusive
	Undecided    = gate.Undecided
	Absent       = gate.Absent
)

// Comparison is a run against a golden.
type Comparison struct {
	Gate  gate.Decision // the decision on recall and margins, by family
	Exact bool          // the golden's engine repeats itself to the bit, so that Margins is a gate too

	// Of all cells, those without a gated family included.
	Pairs     int // measured on both sides, same prompt bytes
	Hits      int // of the golden, among the pairs
	Lost, Won []string
	Unpaired  []string // cells without a golden of the same prompt
	Missing   []string // cells that were not measured

	Shifts    []Shift // pairs with margins on both sides, largest first
	Moved     []Shift // beyond Threshold
	Threshold float64
	Median    Shift // medians over cells, ID empty
	// NoLogprobs says that the server gives no log-probabilities, so that recall alone decides.
	NoLogprobs bool

	Recall  Standing // the gate's
	Margins Standing // whether numbers moved
	Overall Standing

	nonced int // pairs whose prompts begin with other words, so that only what was found is compared
}

// Compare pairs a run with a golden by case ID and prompt bytes, over the observed cells alone: what internal/gate
// decides is left Absent. It serves records of what a change moves.
func Compare(obs []Observation, g *Golden) (Comparison, error) {
	c := Comparison{Exact: g.Exact, Recall: Absent}
	for _, o := range obs {
		want, ok := g.Cells[o.Cell.ID]
		switch {
		case !o.Measured:
			c.Missing = append(c.Missing, o.Cell.ID)
			continue
		case !ok || want.Prompt != o.PromptSHA:
			c.Unpaired = append(c.Unpaired, o.Cell.ID)
			continue
		}
		c.Pairs++
		switch {
		case want.Hit && !o.Hit:
			c.Lost = append(c.Lost, o.Cell.ID)
		case !want.Hit && o.Hit:
			c.Won = append(c.Won, o.Cell.ID)
		}
		if want.Hit {
			c.Hits++
		}
		if o.Nonced {
			c.nonced++
			continue
		}
		if s, ok := shiftOf(o.Positions, want.Positions); ok {
			s.ID = o.Cell.ID
			c.Shifts = append(c.Shifts, s)
		}
	}
	c.judgeShifts(g.Noise)
	c.Overall = c.combine(len(obs))
	return c, nil
}

// Decide is Compare with the gate's decision: Gate.More names cells of the plan to ask next.
func Decide(p Plan, obs []Observation, x Context) (Comparison, error) {
	g := x.Golden
	c, err := Compare(obs, g)
	if err != nil || c.Pairs == 0 {
		return c, err
	}
	plan, err := gate.PlanFor(string(x.Budget))
	if err != nil {
		return c, err
	}
	c.NoLogprobs = x.NoLogprobs && len(c.Shifts) == 0
	base := g.gated(p, x.Reported, !c.NoLogprobs)
	now := map[string]gate.Outcome{}
	for _, o := range obs {
		out := OutcomeOf(o)
		if o.Cell.Gate == gate.Cache && !o.Proven() {
			out.Measured = false
		}
		now[o.Cell.ID] = out
	}
	if c.Gate, err = gate.Decide(base, plan, now, gate.DefaultPolicy()); err != nil {
		return c, err
	}
	c.Recall = c.Gate.Overall
	c.Overall = c.combine(len(obs))
	return c, nil
}

// gated is the golden as the gate takes it, cut to the cells of the plan: a context window that became smaller leaves
// cells out, which the plan says. Without reports of cached tokens no warm answer is proven, and the family is out;
// without log-probabilities recall alone decides.
func (g *Golden) gated(p Plan, reported, logprobs bool) gate.Golden {
	planned := map[string]bool{}
	for _, s := range p.Order {
		planned[s.ID] = true
	}
	out := gate.Golden{Reason: g.Reason}
	for _, b := range g.Gate {
		if b.Family == gate.Cache && !reported {
			continue
		}
		base := gate.Baseline{
			Family:   b.Family,
			Unstable: b.Unstable,
			Recall:   b.Recall,
			Margins:  b.Margins && logprobs,
			AA:       b.AA,
			Cells:    map[string]gate.Outcome{},
		}
		for _, id := range b.Stable {
			c, ok := g.Cells[id]
			if !ok || !planned[id] {
				continue
			}
			o := gate.Outcome{Measured: true, Hit: c.Hit, Prompt: c.Prompt}
			o.Margin, o.HasMargin = meanMargin(c.Positions)
			base.Stable = append(base.Stable, id)
			base.Cells[id] = o
		}
		if len(base.Stable) > 0 {
			out.Families = append(out.Families, base)
		}
	}
	return out
}

// combine lets the gate speak, and for an exact engine the shift of its numbers as well. Numbers that stand still on
// nearly all cells, with no needle lost, settle an exact engine: where every log-probability is the golden's the few
// pairs of a family need not prove it.
func (c *Comparison) combine(cells int) Standing {
	gaps := float64(len(c.Unpaired)+len(c.Missing)) > unmeasuredShare*float64(cells)
	switch {
	case c.Pairs == 0:
		return Absent
	case c.Recall == Regressed:
		return Regressed
	case !c.Exact:
		return c.Recall
	case c.Margins == Regressed:
		return Regressed
	case gaps || c.Margins == Inconclusive:
		return Inconclusive
	case c.Margins == Held && len(c.Lost) == 0 && float64(len(c.Shifts)) >= (1-unmeasuredShare)*float64(c.Pairs-c.nonced):
		return Held
	}
	return c.Recall
}

// More lists the cells to ask next, none once nothing can change the verdict.
func (c *Comparison) More() []string {
	if c.Overall == Regressed || c.Exact && c.Overall == Held {
		return nil
	}
	return c.Gate.More
}

// String is the gate in one line.
func (c Comparison) String() string {
	if c.Pairs == 0 {
		return "no pair: no cell has a golden of the same prompt"
	}
	s := fmt.Sprintf("%s: %d lost, %d won of %d pairs", c.Overall, len(c.Lost), len(c.Won), c.Pairs)
	if len(c.Shifts) > 0 {
		s += fmt.Sprintf("; margins moved in %d of %d cells, median %s nat (allowed %s)", len(c.Moved), len(c.Shifts),
			Nats(c.Median.Size()), Nats(c.Threshold))
	} else {
		s += "; no margins to compare"
	}
	if c.NoLogprobs {
		s += ": the server gives no log-probabilities, recall alone decides"
	}
	if gaps := len(c.Unpaired) + len(c.Missing); gaps > 0 {
		s += fmt.Sprintf("; %d cells unpaired, %d unmeasured", len(c.Unpaired), len(c.Missing))
	}
	return s
}

func pvalue(p float64) string {
	if p < 1e-9 {
		return "< 1e-9"
	}
	return fmt.Sprintf("= %.2g", p)
}

// Nats prints a number of nats to two digits.
func Nats(v float64) string {
	if v != 0 && math.Abs(v) < 0.01 {
		return fmt.Sprintf("%.1g", v)
	}
	return fmt.Sprintf("%.2g", v)
}
