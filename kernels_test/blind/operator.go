package blind

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Operator is an operator with all rows of all its facets made ready, and the sound candidate of each facet.
type Operator struct {
	Op    string
	draws int // of equivalent
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
		Op: f.Op, draws: Draws, suite: s, sound: map[string]*memory{}, bench: map[string]*bench.Bench{},
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

// Judge runs a mutant through the facets as the job does, and tells how many of its seeds are stopped: of one, or of
// Seeds where it is rare. A rare mutant is killed where Enough are.
func (o *Operator) Judge(ctx context.Context, m Mutant) (Fate, int, error) {
	if !m.Rare() {
		f, err := o.judge(ctx, m)
		if f.Stopped() {
			return f, 1, err
		}
		return f, 0, err
	}
	stopped := 0
	for seed := range Seeds {
		one := m
		one.wrap = m.seeded(seed)
		f, err := o.judge(ctx, one)
		if err != nil {
			return f, stopped, err
		}
		if f.Stopped() {
			stopped++
		}
	}
	if stopped >= Enough {
		return Killed, stopped, nil
	}
	return Accepted, stopped, nil
}

// judge goes through the facets. A first fault ends it; which have killed before come first.
func (o *Operator) judge(ctx context.Context, m Mutant) (Fate, error) {
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

// Facets lists the operator's facets.
func (o *Operator) Facets() []bench.Facet {
	var out []bench.Facet
	for _, fc := range o.drawn.facets {
		out = append(out, fc.Facet)
	}
	return out
}

// JudgeFacet judges a mutant by one facet.
func (o *Operator) JudgeFacet(ctx context.Context, m Mutant, facet string) (Fate, error) {
	for _, fc := range o.drawn.facets {
		if fc.Facet.String() == facet && (m.Facet == "" || m.Facet == facet) {
			return o.judgeFacet(ctx, m, fc)
		}
	}
	return Unreached, nil
}

// judgeFacet asks the job, by the rows in which the mutant can change something: the others would be answered as the
// sound candidate has answered them.
func (o *Operator) judgeFacet(ctx context.Context, m Mutant, fc bench.FacetCases) (Fate, error) {
	rows := o.reached(m, fc)
	if len(rows) == 0 {
		return Unreached, nil
	}
	if m.pure {
		var err error
		if rows, err = o.changed(ctx, m, fc, rows); err != nil || len(rows) == 0 {
			return Same, err
		}
	}
	fc.Rows = rows
	options := job.Options{Brief: true, Ready: o.ready}
	j, err := options.Facet(ctx, o.suite, fc, m.wrap(o.answers(m, fc)), bench.Capability{})
	switch {
	case err != nil:
		return Accepted, err
	case j.State == job.Fault:
		for _, r := range j.Rows {
			if r.Outcome == suite.Failed {
				o.kills[r.Case.RowID()]++
			}
		}
		return Killed, nil
	case j.State != job.Equivalent: // looser, or answered in part: code 3
		return Looser, nil
	case j.Contract != fc.Contracts[0].Name:
		return Slid, nil
	}
	return Accepted, nil
}

// changed are the rows in which a mutant that edits outputs answers otherwise than the sound candidate.
func (o *Operator) changed(ctx context.Context, m Mutant, fc bench.FacetCases, rows []bench.FacetRow,
) ([]bench.FacetRow, error) {
	sound := o.sound[fc.Facet.String()]
	mutated := m.wrap(o.answers(m, fc))
	var out []bench.FacetRow
	for _, r := range rows {
		call := o.calls[r.Under(fc.Contracts[0]).ID]
		want, err := sound.Run(ctx, call)
		if err != nil {
			return nil, err
		}
		got, err := mutated.Run(ctx, call)
		if err != nil {
			return nil, err
		}
		if !sameBits(got, want) {
			out = append(out, r)
		}
	}
	return out, nil
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
