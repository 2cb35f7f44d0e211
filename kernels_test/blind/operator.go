package blind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// enoughCalls is how many calls the job makes of every facet at least (job.enoughCalls).
const enoughCalls = 60

// Operator is an operator with all rows of all its facets made ready, and the sound candidate of each facet.
type Operator struct {
	Op    string
	suite bench.Suite
	drawn drawn
	sound map[string]*memory // by facet
	bench map[string]*bench.Bench
	calls map[string]bench.Call // plain calls by case ID
	kills map[string]int        // of rows and facets: what has killed is asked first
}

// Prepare draws every row of an operator's facets and runs the sound candidates. An error names a row that a sound
// candidate fails: then nothing that this package says would mean anything.
func Prepare(ctx context.Context, s bench.Suite, f bench.Family) (*Operator, error) {
	facets, err := s.Facets(f)
	if err != nil {
		return nil, err
	}
	o := &Operator{
		Op: f.Op, suite: s, sound: map[string]*memory{}, bench: map[string]*bench.Bench{},
		calls: map[string]bench.Call{}, kills: map[string]int{},
	}
	o.drawn = drawn{suite: s.Name, family: f, facets: facets}
	for _, fc := range facets {
		built, err := s.Built(fc.Contracts[0].Name)
		if err != nil {
			return nil, err
		}
		sound := &memory{Candidate: built, learning: true, known: map[uint64]bench.Reply{}}
		o.sound[fc.Facet.String()] = sound
		for _, r := range fc.Rows {
			c := r.Under(fc.Contracts[0])
			b, err := o.ready(c)
			if err != nil {
				return nil, err
			}
			o.calls[c.ID] = b.Call()
			o.drawn.calls = append(o.drawn.calls, o.calls[c.ID])
			report, err := b.Judge(ctx, sound)
			if err != nil {
				return nil, err
			}
			if f, bad := report.First(); bad {
				return nil, fmt.Errorf("the sound candidate of %s fails %q: %s", fc.Facet, c.ID, f.Verdict.Reason)
			}
		}
		sound.learning = false
	}
	return o, nil
}

// Mutants lists the operator's mutants.
func (o *Operator) Mutants() []Mutant { return o.drawn.mutants() }

func (o *Operator) ready(c bench.Case) (*bench.Bench, error) {
	if b, ok := o.bench[c.ID]; ok {
		return b, nil
	}
	b, err := bench.New(c)
	if err == nil {
		o.bench[c.ID] = b
	}
	return b, err
}

// Fate is what the job makes of a mutant.
type Fate string

// The fates.
const (
	Killed    Fate = "killed"
	Looser    Fate = "looser"            // code 3: met only a contract that is looser than its format
	Slid      Fate = "another contract"  // accepted under another contract than the sound kernel's
	Accepted  Fate = "accepted"          // its results differ, and every row accepts them
	Same      Fate = "the same results"  // rows reach it, and its results are the sound kernel's
	Unreached Fate = "no row reaches it" // no row has the extent, the value or the operand
)

// Stopped tells whether a run with this fate ends with another code than 0.
func (f Fate) Stopped() bool { return f == Killed || f == Looser }

// Judge runs a mutant through the facets as the job does: a facet is a fault where each of its contracts rejects a row.
// A first fault ends it. Rows in which a mutant cannot change anything are not run again.
func (o *Operator) Judge(ctx context.Context, m Mutant) (Fate, error) {
	fate := Unreached
	facets := slices.Clone(o.drawn.facets)
	slices.SortStableFunc(facets, func(a, b bench.FacetCases) int {
		return o.kills[b.Facet.String()] - o.kills[a.Facet.String()]
	})
	for _, fc := range facets {
		if m.Facet != "" && m.Facet != fc.Facet.String() {
			continue
		}
		f, err := o.judgeFacet(ctx, m, fc)
		if err != nil {
			return fate, fmt.Errorf("%s, %s: %w", o.Op, m.Name, err)
		}
		if f == Killed {
			o.kills[fc.Facet.String()]++
			return f, nil
		}
		if order(f) > order(fate) {
			fate = f
		}
	}
	return fate, nil
}

// order tells what is said of a mutant with several fates.
func order(f Fate) int {
	return slices.Index([]Fate{Unreached, Same, Accepted, Slid, Looser, Killed}, f)
}

func (o *Operator) judgeFacet(ctx context.Context, m Mutant, fc bench.FacetCases) (Fate, error) {
	for i, contract := range fc.Contracts {
		f, err := o.under(ctx, m, fc, contract)
		switch {
		case err != nil:
			return f, err
		case f == Killed:
			continue
		case i > 0 && slices.Contains(o.drawn.family.Facets.Looser, contract.Name):
			return Looser, nil
		case i > 0:
			return Slid, nil
		}
		return f, nil
	}
	return Killed, nil
}

// under judges a mutant by a facet's rows under one contract, up to the first that is rejected.
func (o *Operator) under(ctx context.Context, m Mutant, fc bench.FacetCases, contract numerics.Contract) (Fate, error) {
	sound := o.sound[fc.Facet.String()]
	mutated := m.wrap(o.answers(m, fc))
	fate, calls := Unreached, 0
	rows := o.reached(m, fc)
	for calls < enoughCalls {
		for _, r := range rows {
			b, err := o.ready(r.Under(contract))
			if err != nil {
				return fate, err
			}
			if m.pure {
				same, err := o.same(ctx, mutated, sound, o.calls[r.Under(fc.Contracts[0]).ID])
				if err != nil {
					return fate, err
				}
				if same {
					if fate == Unreached {
						fate = Same
					}
					continue
				}
			}
			report, err := b.Judge(ctx, mutated)
			if bench.Unsupported(err) {
				continue
			}
			if _, fault := broken(err); err != nil && !fault {
				return fate, err
			}
			if rejected := err != nil || !report.Accepted(); rejected {
				o.kills[r.ID]++
				return Killed, nil
			}
			fate = Accepted
			calls += b.Calls()
		}
		if !m.rare || calls == 0 {
			break
		}
	}
	return fate, nil
}

// answers is the sound candidate inside of a mutant of a facet: the facet's own, or, where contracts differ in the
// attribute that the mutant does not look at, that of the facet which has the value that is baked in.
func (o *Operator) answers(m Mutant, fc bench.FacetCases) *memory {
	if m.baked != nil && hasWord(fc.Facet.Attrs, m.Hint) {
		for _, other := range o.drawn.facets {
			f, g := other.Facet, fc.Facet
			first := o.calls[other.Rows[0].Under(other.Contracts[0]).ID]
			if first.Attrs[m.Hint] == m.baked && f.Format == g.Format && f.Layout == g.Layout && f.Phase == g.Phase &&
				f.Mode == g.Mode {
				return o.sound[f.String()]
			}
		}
	}
	return o.sound[fc.Facet.String()]
}

// reached are the rows in which a mutant can change something: those that have killed before first, then small ones.
func (o *Operator) reached(m Mutant, fc bench.FacetCases) []bench.FacetRow {
	var out []bench.FacetRow
	for _, r := range fc.Rows {
		if m.touches == nil || m.touches(o.calls[r.Under(fc.Contracts[0]).ID]) {
			out = append(out, r)
		}
	}
	size := func(r bench.FacetRow) int { return o.bench[r.Under(fc.Contracts[0]).ID].Bytes() }
	slices.SortStableFunc(out, func(a, b bench.FacetRow) int {
		return cmp.Or(o.kills[b.ID]-o.kills[a.ID], size(a)-size(b))
	})
	return out
}

// same tells whether a mutant answers a call as the sound candidate does.
func (o *Operator) same(ctx context.Context, mutated, sound bench.Candidate, call bench.Call) (bool, error) {
	want, err := sound.Run(ctx, call)
	if err != nil {
		return false, err
	}
	got, err := mutated.Run(ctx, call)
	return err == nil && sameBits(got, want), err
}

// broken tells whether an error is a fault of the candidate. The kernels run in this process, where one that does not
// get what it needs returns an error or crashes: a worker would answer the same.
func broken(err error) (string, bool) {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "", false
	}
	return err.Error(), true
}
