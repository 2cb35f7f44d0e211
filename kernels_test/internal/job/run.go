package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/tape"
)

// Options of Run.
type Options struct {
	Suites   []bench.Suite            // nil: all
	Keep     func(id string) bool     // by case ID; nil: every case
	Shard    suite.Shard              // part of the cases
	Shrink   bool                     // look for a smaller shape before a failure is written
	Repros   string                   // folder for repros; empty: none are written
	Contract string                   // the contract that is demanded; empty: the sharpest that is met
	Settled  map[string]Judged        // facets that an earlier run has settled, by Facet.String
	Planned  func(facets, rows int)   // called once, before the first row is judged
	Progress func(n int)              // called with the number of rows that were just dealt with
	Saw      func(j Judged) error     // called once a facet is settled, with nil facets of built-in candidates' rows
	Shown    func(path string) string // how the user reads a path; nil: as it is
	Again    string                   // the command that judges a case again; empty: the case's own
	// Ready makes a case ready; nil is bench.New. For callers that judge many candidates by the same cases.
	Ready func(c bench.Case) (*bench.Bench, error)
	// Brief ends a facet once its state is certain: what is rejected is neither counted nor explained.
	Brief  bool
	Timing Timing // whether Watch takes kernel times
	Tapes  *Taper // keeps what the candidate answered; nil: nothing is kept
	// Changes says what differs from an earlier run that was recorded; nil: none was. Called once, before the verdict.
	Changes func(o Outcome) []string
}

// Run judges a candidate by every facet that it offers, and the built-in candidates, for nil, by every case. An error
// says that the run broke; a wrong kernel is in the result.
func Run(ctx context.Context, under bench.Candidate, o Options) ([]Judged, error) {
	var all []Judged
	see := func(j Judged) error {
		all = append(all, j)
		if o.Saw == nil {
			return nil
		}
		return o.Saw(j)
	}
	if under == nil {
		err := o.builtIn(ctx, see)
		return all, err
	}
	h, err := under.Hello(ctx)
	if err != nil {
		return nil, err
	}
	offers, err := o.offers(h)
	if err != nil {
		return nil, err
	}
	rows := 0
	for _, f := range offers {
		rows += len(f.cases.Rows)
	}
	o.plan(len(offers), rows)
	for _, f := range offers {
		j, done := o.Settled[f.cases.Facet.String()]
		if done {
			j.Facet, j.Declared = f.cases.Facet, j.Contract == f.can.Contract || j.Contract == o.Contract
			j.settle(f.suite)
			o.tick(len(f.cases.Rows))
		} else if j, err = o.Facet(ctx, f.suite, f.cases, under, f.can); err != nil {
			return all, err
		}
		if err := see(j); err != nil {
			return all, err
		}
	}
	return all, nil
}

// offer is a facet that a candidate offers.
type offer struct {
	suite bench.Suite
	cases bench.FacetCases
	can   bench.Capability
}

// offers lists the facets that a candidate offers, in the order of the suites. It draws every case of their operators.
func (o Options) offers(h bench.Hello) ([]offer, error) {
	var out []offer
	for _, s := range o.suites() {
		for _, f := range s.Families {
			can, offered := h.Ops[f.Op]
			if !offered {
				continue
			}
			facets, err := s.Facets(f)
			if err != nil {
				return nil, err
			}
			for _, fc := range facets {
				if bench.Offers(h, fc.Facet) {
					out = append(out, offer{s, fc, can})
				}
			}
		}
	}
	return out, nil
}

// Check returns a sentence for options that make no sense.
func (o Options) Check() error {
	if o.Contract == "" {
		return nil
	}
	var known []string
	for _, s := range o.suites() {
		for _, f := range s.Families {
			for _, c := range f.Contracts {
				if c.Name == o.Contract {
					return nil
				}
				known = append(known, c.Name)
			}
		}
	}
	slices.Sort(known)
	return fmt.Errorf("ASSAY_CONTRACT=%q is no contract of any operator; use one of %s", o.Contract,
		strings.Join(slices.Compact(known), ", "))
}

func (o Options) suites() []bench.Suite {
	if o.Suites == nil {
		return Suites()
	}
	return o.Suites
}

func (o Options) keeps(id string) bool { return (o.Keep == nil || o.Keep(id)) && o.Shard.Has(id) }

func (o Options) plan(facets, rows int) {
	if o.Planned != nil {
		o.Planned(facets, rows)
	}
}

func (o Options) tick(n int) {
	if o.Progress != nil {
		o.Progress(n)
	}
}

// builtIn judges the suites' own candidates, each by the cases of the contract that it follows to the letter: one
// Judged an operator and contract.
func (o Options) builtIn(ctx context.Context, see func(Judged) error) error {
	type part struct {
		suite bench.Suite
		j     Judged
		cases []bench.Case
	}
	var parts []part
	rows := 0
	for _, s := range o.suites() {
		all := s.Cases()
		for _, f := range s.Families {
			for _, contract := range f.Contracts {
				p := part{suite: s, j: Judged{Facet: bench.Facet{Op: f.Op}, Contract: contract.Name, State: Equivalent}}
				for _, c := range all {
					if c.Family.Op == f.Op && c.Contract.Name == contract.Name && o.keeps(c.ID) {
						p.cases = append(p.cases, c)
					}
				}
				if rows += len(p.cases); len(p.cases) > 0 {
					parts = append(parts, p)
				}
			}
		}
	}
	o.plan(len(parts), rows)
	for _, p := range parts {
		for _, c := range p.cases {
			row, err := o.One(ctx, p.suite, c, nil)
			if err != nil {
				return err
			}
			o.tick(1)
			p.j.Rows = append(p.j.Rows, row)
		}
		p.j.settle(p.suite)
		if err := see(p.j); err != nil {
			return err
		}
	}
	return nil
}

// One judges a candidate, nil for the built-in one, by a single case under the case's own contract.
func (o Options) One(ctx context.Context, s bench.Suite, c bench.Case, under bench.Candidate) (Row, error) {
	if under == nil {
		built, err := s.Built(c.Contract.Name)
		if err != nil {
			return Row{Case: c}, err
		}
		under = built
	}
	row, err := o.judge(ctx, c, under)
	if err != nil {
		return row, err
	}
	if row.Outcome == suite.Failed {
		err = o.explain(ctx, s, &row, under)
	}
	return row, err
}

// judge runs one case and leaves explaining to explain.
func (o Options) judge(ctx context.Context, c bench.Case, under bench.Candidate) (Row, error) {
	row := Row{Case: c, Outcome: suite.Passed}
	ready := o.Ready
	if ready == nil {
		ready = bench.New
	}
	b, err := ready(c)
	if err != nil {
		return row, err
	}
	row.bench, row.Bytes = b, b.Bytes()
	recorder, _ := under.(*tape.Recorder)
	if recorder != nil {
		recorder.Begin()
	}
	var broken error
	row.Report, broken = b.Judge(ctx, under)
	if recorder != nil && broken == nil {
		row.taped, row.tapedBytes = recorder.Taken()
	}
	switch {
	case ctx.Err() != nil:
		return row, ctx.Err()
	case bench.Unsupported(broken):
		row.Outcome, row.Message = suite.Skip, broken.Error()
	case broken != nil:
		class, fault := bench.Broken(broken)
		if !fault {
			return row, fmt.Errorf("the candidate cannot be judged: %w", broken)
		}
		row.Outcome, row.Message = suite.Failed, broken.Error()
		row.Causes = []bench.Cause{{Class: class, Name: "no result", Why: broken.Error()}}
		row.Text = broken.Error() + "\n    likely   " + class + "\n    again    " + c.Again()
	case !row.Report.Accepted():
		f, _ := row.Report.First()
		row.Outcome, row.Message = suite.Failed, f.Verdict.Reason
	}
	return row, nil
}
