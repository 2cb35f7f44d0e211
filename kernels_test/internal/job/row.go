package job

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/tape"
)

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

	bench      *bench.Bench
	taped      []tape.Answer // every answer, where a tape is taken and they are small
	tapedBytes int
}

// explain looks for what a rejected case gets wrong, and writes its text and its repro.
func (o Options) explain(ctx context.Context, s bench.Suite, row *Row, under bench.Candidate) error {
	if err := o.ask(ctx, s, row, under, true); err != nil {
		return err
	}
	return o.write(row)
}

// ask finds the causes of a rejected case, and the known bugs that look like it where alike is set.
func (o Options) ask(ctx context.Context, s bench.Suite, row *Row, under bench.Candidate, alike bool) error {
	if row.Report.Accepted() {
		return nil // it gave no result to look at, or was accepted when it ran alone
	}
	if o.Shrink {
		row.bench, row.Report = bench.Shrink(ctx, row.bench, row.Report, under, 200)
	}
	row.Pictures = Pictures(row.bench, row.Report)
	row.Causes = row.bench.Explain(ctx, under, row.Report)
	if alike {
		row.Like = row.bench.Library(ctx, s.Plants, row.Report)
	}
	return ctx.Err()
}

// write writes a rejected case's text and repro.
func (o Options) write(row *Row) error {
	if row.Text != "" || row.Report.Accepted() {
		return nil
	}
	row.Text = row.bench.Text(row.Report, row.Causes, row.Like)
	if o.Shrink {
		row.Text += fmt.Sprintf("\n    shrunk   %v", row.bench.Case.Shape.Dims)
	}
	if o.Repros == "" {
		return nil
	}
	row.Repro = filepath.Join(o.Repros, strings.ReplaceAll(strings.TrimPrefix(row.Case.ID, "kernels/"), "/", "."))
	if err := row.bench.WriteRepro(row.Repro, row.Report, row.Text); err != nil {
		return err
	}
	shown := row.Repro
	if o.Shown != nil {
		shown = o.Shown(shown)
	}
	row.Text += "\n    repro    python3 " + filepath.Join(shown, "repro.py")
	return nil
}
