package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

// Standing is a gate's answer.
type Standing string

// The answers.
const (
	Regressed    Standing = "regressed"
	Held         Standing = "held"         // no regression shown; the result says how large a drop would have been
	Inconclusive Standing = "inconclusive" // unmeasured, or suspicious with no cells left to ask
	Undecided    Standing = "undecided"    // run the cells in More and decide again
	Absent       Standing = "absent"       // the golden has no such family
)

// Result is the decision about one family.
type Result struct {
	Family   Family
	Standing Standing
	// Look of Looks was the last one that was decided on, from 1; 0 before the first.
	Look, Looks int
	// Cells were planned up to that look, of which Pairs were measured, asked the same bytes and so paired.
	Cells, Pairs, Unmeasured int
	Lost, Won                []string // IDs in plan order
	Counts                   stat.Matched
	P                        float64 // one-sided exact McNemar over all pairs
	Adjusted                 float64 // smallest weighted p of the looks, after Holm over all tests of the run
	Drop                     float64 // net share lost
	Interval                 stat.Interval
	// Smallest drop that is seen with Policy.Power at this look after Holm, when none is won; 1 when none can be.
	Smallest float64
	Margins  Margins
	More     []string // cells to run next, in order
	Sentence string
}

// Margins is the margin test of a family.
type Margins struct {
	Gated    bool // the golden has margins for this family
	Pairs    int
	Missing  int     // right answers that had a margin at bless and have none now
	Mean     float64 // drop, nats; negative for a gain
	Allowed  float64 // practical margin, nats
	P        stat.Permutation
	Adjusted float64
}

// Decision is the gate's answer about a run.
type Decision struct {
	// Overall is regressed when any family is, else undecided, inconclusive, held, absent, whichever comes first in
	// this order among the families. While it is regressed, More may still name cells; they can no longer acquit.
	Overall  Standing
	Families []Result // in plan order
	Tests    int      // that Holm corrects for
	More     []string // cells to run next, over all families
	Sentence string
}

// Decide compares outcomes with a golden. now holds what was asked so far by cell ID; a cell that was tried without an
// answer is there with Measured false, a cell that was not tried yet is not there. A stage is judged only when all its
// cells were tried, so no luck of the order can end it early.
//
// It fails on a policy or plan that makes no sense, on a golden without a recorded cell for one of its stable ones, and
// on a margin that is no number.
func Decide(g Golden, plan Plan, now map[string]Outcome, p Policy) (Decision, error) {
	if err := p.validate(); err != nil {
		return Decision{}, err
	}
	if err := plan.validate(); err != nil {
		return Decision{}, err
	}
	var fams []*family
	var d Decision
	for _, name := range plan.Families {
		f := &family{Result: Result{Family: name, Standing: Absent, P: 1, Adjusted: 1}, recall: 1, margin: 1}
		if i := slices.IndexFunc(g.Families, func(b Baseline) bool { return b.Family == name }); i >= 0 &&
			len(g.Families[i].Stable) > 0 {
			f.base = g.Families[i]
			f.stages = stagesOf(plan.Stages, len(f.base.Stable))
			f.Looks, f.Standing, f.open = len(f.stages), Undecided, true
			f.Margins.Gated = f.base.Margins
			if err := f.check(now); err != nil {
				return Decision{}, err
			}
			d.Tests += f.tests()
		}
		fams = append(fams, f)
	}
	// All families that are ready take one look, then Holm speaks over all tests, then each goes on or stops. A family
	// that waits for cells counts with what it has.
	for looked := true; looked; {
		looked = false
		for _, f := range fams {
			if f.fresh = f.open && f.ready(now); f.fresh {
				if err := f.look(now, p); err != nil {
					return Decision{}, err
				}
				looked = true
			}
		}
		if err := correct(fams); err != nil {
			return Decision{}, err
		}
		for _, f := range fams {
			if f.fresh {
				f.open = f.goesOn(p)
			}
		}
	}
	for _, f := range fams {
		if f.Looks > 0 {
			f.conclude(now, p, d.Tests)
		}
		f.Sentence = f.sentence(p)
		d.Families = append(d.Families, f.Result)
		d.More = append(d.More, f.More...)
	}
	d.Overall = overall(d.Families)
	d.Sentence = d.sentence(p)
	return d, nil
}

func overall(results []Result) Standing {
	for _, s := range []Standing{Regressed, Undecided, Inconclusive, Held} {
		if slices.ContainsFunc(results, func(r Result) bool { return r.Standing == s }) {
			return s
		}
	}
	return Absent
}

// correct writes Holm's adjusted p-values over the tests of all families.
func correct(fams []*family) error {
	var ps []float64
	var to []*float64
	for _, f := range fams {
		if f.Looks == 0 {
			continue
		}
		ps, to = append(ps, f.recall), append(to, &f.Adjusted)
		if f.Margins.Gated {
			ps, to = append(ps, f.margin), append(to, &f.Margins.Adjusted)
		}
	}
	adjusted, err := stat.Holm(ps)
	if err != nil {
		return fmt.Errorf("golden gate: %w", err)
	}
	for i, v := range adjusted {
		*to[i] = v
	}
	return nil
}

// check refuses a golden that cannot be paired with, before anything is judged.
func (f *family) check(now map[string]Outcome) error {
	for _, id := range f.base.Stable {
		b, ok := f.base.Cells[id]
		if !ok || !b.Measured {
			return fmt.Errorf("the golden of %s lists the stable cell %q and has no outcome for it: bless again",
				string(f.Family), id)
		}
		for _, o := range []Outcome{b, now[id]} {
			if o.HasMargin && (math.IsNaN(o.Margin) || math.IsInf(o.Margin, 0)) {
				return fmt.Errorf("the cell %q has a margin of %v: say that it has none instead", id, o.Margin)
			}
		}
	}
	if !(f.base.AA >= 0) || math.IsInf(f.base.AA, 0) {
		return fmt.Errorf("the golden of %s gives %v nat between repeats, want a number of at least 0: bless again",
			string(f.Family), f.base.AA)
	}
	return nil
}
