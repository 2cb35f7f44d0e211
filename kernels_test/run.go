package kernels

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// Options of Run.
type Options struct {
	Suites   []bench.Suite                     // nil: all
	Keep     func(id string) bool              // nil: every case
	Shard    suite.Shard                       // part of the cases
	Shrink   bool                              // look for a smaller shape before a failure is written
	Repros   string                            // folder for repros; empty: none are written
	Progress func(id string)                   // called before every case
	Saw      func(r Row) error                 // called after every case
	Declared func(op string, d bench.Declared) // called once an operator's contract is known
	Shown    func(path string) string          // how the user reads a path; nil: as it is
}

// Row is what became of one case.
type Row struct {
	Case     bench.Case
	Outcome  suite.Outcome
	Message  string // one sentence
	Text     string // the failure at length
	Report   bench.Report
	Causes   []bench.Cause // of a failure, likely first
	Like     []bench.Cause // known bugs that look like it
	Repro    string        // folder; empty without
	Pictures []report.Picture
	Bytes    int // read and written by one call
}

// Run judges a candidate, nil for the built-in ones, by every case that the options keep. For a worker the contract of
// each operator is found first, and its cases alone run. An error says that the run broke; a wrong kernel is in the
// rows.
func Run(ctx context.Context, under bench.Candidate, o Options) ([]Row, error) {
	if o.Suites == nil {
		o.Suites = Suites()
	}
	var rows []Row
	for _, s := range o.Suites {
		if under == nil {
			part, err := o.cases(ctx, s, s.Cases(), nil)
			if rows = append(rows, part...); err != nil {
				return rows, err
			}
			continue
		}
		for _, f := range s.Families {
			part, err := o.family(ctx, s, f, under)
			if rows = append(rows, part...); err != nil {
				return rows, err
			}
		}
	}
	return rows, o.see(rows, under)
}

// see reports the rows of a worker, once its contracts are settled.
func (o Options) see(rows []Row, under bench.Candidate) error {
	if under == nil || o.Saw == nil {
		return nil
	}
	for _, r := range rows {
		if err := o.Saw(r); err != nil {
			return err
		}
	}
	return nil
}

// cases judges cases in turn. Built-in candidates' rows are seen as they come.
func (o Options) cases(ctx context.Context, s bench.Suite, all []bench.Case, under bench.Candidate) ([]Row, error) {
	var rows []Row
	for _, c := range all {
		if o.Keep != nil && !o.Keep(c.ID) || !o.Shard.Has(c.ID) {
			continue
		}
		if o.Progress != nil {
			o.Progress(c.ID)
		}
		row, err := o.judge(ctx, s, c, under)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
		if under == nil && o.Saw != nil {
			if err := o.Saw(row); err != nil {
				return rows, err
			}
		}
	}
	return rows, nil
}

// family judges one operator of a worker under the contract that it follows: the sharpest that its first rows meet, or
// a looser one if that accepts every row which this one refuses.
func (o Options) family(ctx context.Context, s bench.Suite, f bench.Family, under bench.Candidate) ([]Row, error) {
	h, err := under.Hello(ctx)
	if err != nil {
		return nil, err
	}
	if _, offered := h.Ops[f.Op]; !offered {
		return nil, nil
	}
	d, err := s.Declare(ctx, f, under, 0)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		d = bench.Declared{Contract: f.Contracts[0].Name, Why: err.Error()}
	}
	rows, err := o.cases(ctx, s, casesUnder(s, f, d.Contract), under)
	if err != nil {
		return rows, err
	}
	for _, looser := range o.looser(ctx, s, f, d.Contract, rows, under) {
		again, err := o.cases(ctx, s, casesUnder(s, f, looser), under)
		if err != nil {
			return rows, err
		}
		if first := firstFailed(again); first == "" {
			d = bench.Declared{
				Contract: looser,
				Why:      fmt.Sprintf("%s is not met (%s), and this accepts every case", d.Contract, firstFailed(rows)),
			}
			rows = again
			break
		}
	}
	if o.Declared != nil {
		o.Declared(f.Op, d)
	}
	return rows, nil
}

// casesUnder are the cases of an operator under a contract.
func casesUnder(s bench.Suite, f bench.Family, contract string) []bench.Case {
	var out []bench.Case
	for _, c := range s.Cases() {
		if c.Family.Op == f.Op && c.Contract.Name == contract {
			out = append(out, c)
		}
	}
	return out
}

func firstFailed(rows []Row) string {
	for _, r := range rows {
		if r.Outcome == suite.Failed {
			return r.Case.ID
		}
	}
	return ""
}

// looser finds the contracts further down the list that accept every row which this one refuses.
func (o Options) looser(ctx context.Context, s bench.Suite, f bench.Family, contract string, rows []Row,
	under bench.Candidate,
) []string {
	refused := map[string]bool{}
	for _, r := range rows {
		if r.Outcome == suite.Failed {
			refused[r.Case.RowID()] = true
		}
	}
	at := slices.IndexFunc(f.Contracts, func(c numerics.Contract) bool { return c.Name == contract })
	if len(refused) == 0 || at < 0 {
		return nil
	}
	var out []string
	for _, c := range f.Contracts[at+1:] {
		tried, accepted := 0, true
		for _, k := range casesUnder(s, f, c.Name) {
			if !refused[k.RowID()] || !accepted {
				continue
			}
			b, err := bench.New(k)
			if err != nil {
				return out
			}
			r, err := b.Judge(ctx, under)
			tried++
			accepted = err == nil && r.Accepted()
		}
		if accepted && tried == len(refused) {
			out = append(out, c.Name)
		}
	}
	return out
}

// One judges a candidate, nil for the built-in one, by a single case under the case's own contract.
func (o Options) One(ctx context.Context, s bench.Suite, c bench.Case, under bench.Candidate) (Row, error) {
	return o.judge(ctx, s, c, under)
}

// judge runs one case.
func (o Options) judge(ctx context.Context, s bench.Suite, c bench.Case, under bench.Candidate) (Row, error) {
	row := Row{Case: c, Outcome: suite.Passed}
	b, err := bench.New(c)
	if err != nil {
		return row, err
	}
	if under == nil {
		if under, err = s.Built(c.Contract.Name); err != nil {
			return row, err
		}
	}
	row.Bytes = b.Bytes()
	var broken error
	row.Report, broken = b.Judge(ctx, under)
	switch {
	case ctx.Err() != nil:
		return row, ctx.Err()
	case bench.Unsupported(broken):
		row.Outcome, row.Message = suite.Skip, broken.Error()
		return row, nil
	case broken != nil:
		row.Outcome, row.Message, row.Text = suite.Errored, broken.Error(), broken.Error()+"\n    again    "+c.Again()
		return row, nil //nolint:nilerr // the outcome of the case says it
	case row.Report.Accepted():
		return row, nil
	}
	if o.Shrink {
		b, row.Report = bench.Shrink(ctx, b, row.Report, under, 200)
	}
	f, _ := row.Report.First()
	row.Outcome, row.Message = suite.Failed, f.Verdict.Reason
	row.Pictures = Pictures(b, row.Report)
	row.Causes, row.Like = b.Explain(ctx, under, row.Report), b.Library(ctx, s.Plants, row.Report)
	row.Text = b.Failure(ctx, under, row.Report, s.Plants)
	if o.Shrink {
		row.Text += fmt.Sprintf("\n    shrunk   %v", b.Case.Shape.Dims)
	}
	if o.Repros != "" {
		row.Repro = filepath.Join(o.Repros, strings.ReplaceAll(strings.TrimPrefix(c.ID, "kernels/"), "/", "."))
		if err := b.WriteRepro(row.Repro, row.Report, row.Text); err != nil {
			return row, err
		}
		shown := row.Repro
		if o.Shown != nil {
			shown = o.Shown(shown)
		}
		row.Text += "\n    repro    python3 " + filepath.Join(shown, "repro.py")
	}
	return row, ctx.Err()
}
