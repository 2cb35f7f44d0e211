package kernels

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
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

// Run judges a candidate, nil for the built-in ones, by every case that the options keep. For a worker the contract of each
// operator is found first, and its cases alone run. An error says that the run broke; a wrong kernel is in the rows.
func Run(ctx context.Context, under bench.Candidate, o Options) ([]Row, error) {
	if o.Suites == nil {
		o.Suites = Suites()
	}
	var rows []Row
	for _, s := range o.Suites {
		contracts, err := o.contracts(ctx, s, under)
		if err != nil {
			return rows, err
		}
		for _, c := range s.Cases() {
			if o.Keep != nil && !o.Keep(c.ID) || !o.Shard.Has(c.ID) {
				continue
			}
			if d, found := contracts[c.Family.Op]; found && d.Contract != c.Contract.Name {
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
			if o.Saw != nil {
				if err := o.Saw(row); err != nil {
					return rows, err
				}
			}
		}
	}
	return rows, nil
}

// contracts finds the contract of every operator that a worker offers; none for built-in candidates.
func (o Options) contracts(ctx context.Context, s bench.Suite, under bench.Candidate) (map[string]bench.Declared, error) {
	if under == nil {
		return nil, nil
	}
	h, err := under.Hello(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]bench.Declared{}
	for _, f := range s.Families {
		if _, offered := h.Ops[f.Op]; !offered {
			out[f.Op] = bench.Declared{} // no contract: none of its cases run
			continue
		}
		d, err := s.Declare(ctx, f, under, 0)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			d = bench.Declared{Contract: f.Contracts[0].Name, Why: err.Error()}
		}
		out[f.Op] = d
		if o.Declared != nil {
			o.Declared(f.Op, d)
		}
	}
	return out, nil
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
	row.Report, err = b.Judge(ctx, under)
	switch {
	case ctx.Err() != nil:
		return row, ctx.Err()
	case bench.Unsupported(err):
		row.Outcome, row.Message = suite.Skip, err.Error()
		return row, nil
	case err != nil:
		row.Outcome, row.Message, row.Text = suite.Errored, err.Error(), err.Error()+"\n    again    "+c.Again()
		return row, nil
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
