package kernels

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/inside"
)

// Job is the run that a user watches: progress on standard error, table and verdict on standard output, report.html,
// junit.xml, the ledger and a repro of every failure in the run's folder. resume is the folder of an earlier run whose
// settled facets are taken over; empty for none. A run that is stopped by ctx leaves the report of what it has judged.
func Job(ctx context.Context, under bench.Candidate, o Options, resume string) error {
	dir, err := suite.RunDir()
	if err != nil {
		return err
	}
	o.Repros = filepath.Join(dir, "repros")
	out := Outcome{Title: "built-in candidates", Started: time.Now()}
	if under != nil {
		if out.Hello, err = under.Hello(ctx); err != nil {
			return err
		}
		out.Title, out.Unknown = out.Hello.Name, unknown(out.Hello)
		if err := checkMadeFor(out.Hello); err != nil {
			return UsageError{err}
		}
	}
	if resume != "" {
		if o.Settled, err = settled(resume, out.Hello); err != nil {
			return UsageError{err}
		}
	}
	rows, err := Plan(out.Hello, under, o)
	if err != nil {
		return err
	}
	bar := report.NewProgress(os.Stderr, report.ProgressOptions{
		Label: "kernels", Total: rows, Style: report.StyleFor(os.Stderr),
	})
	o.Progress = bar.Add
	o.Saw = func(j Judged) error {
		for _, r := range j.Rows {
			result, err := Result(j, r, out.Hello.Name)
			if err == nil {
				err = suite.Record(result)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	out.Judged, err = Run(ctx, under, o)
	bar.Done()
	if err == nil && under != nil && budget() != "smoke" {
		out.Inside, err = insideModel(ctx, under, out)
	}
	if ctx.Err() != nil {
		out.Stopped, err = fmt.Sprintf("stopped: %d of %d facets settled; ASSAY_RESUME=%s goes on from here",
			len(out.Judged), len(out.Judged), dir), nil
	}
	if err != nil {
		return err
	}
	out.Elapsed = time.Since(out.Started)
	return out.write(dir)
}

// UsageError is an error of the command, its environment or what a worker says of itself.
type UsageError struct{ Err error }

// Error is the sentence.
func (u UsageError) Error() string { return u.Err.Error() }

// Unwrap gives the cause.
func (u UsageError) Unwrap() error { return u.Err }

// write shows a run and files it.
func (o Outcome) write(dir string) error {
	style := report.StyleFor(os.Stdout)
	run := o.Report()
	run.Report = filepath.Join(dir, report.HTMLFile)
	err := errors.Join(report.WriteHead(os.Stdout, run, style), report.WriteBody(os.Stdout, run, style),
		report.WriteAll(dir, run, nil))
	suite.Verdict(suite.Code(run.Verdict.Code), run.Verdict.Text)
	return err
}

// Result is a row as the ledger keeps it, with what fidelity/suspects joins patches by.
func Result(j Judged, r Row, candidate string) (suite.Result, error) {
	detail := map[string]string{
		"op": r.Case.Family.Op, "phase": r.Case.Scenario.Phase, "contract": r.Case.Contract.Name, "path": r.Report.Path,
		"candidate": candidate,
	}
	if j.Facet.Format != "" {
		detail["facet"], detail["rows"] = j.Facet.String(), fmt.Sprint(len(j.Rows))
	}
	if len(r.Causes) > 0 {
		detail["cause"] = r.Causes[0].Class
	}
	raw, err := json.Marshal(detail)
	return suite.Result{
		Case: r.Case.ID, Outcome: r.Outcome, Message: r.Message, Seconds: r.Report.Seconds,
		Numbers: suite.Numbers{"rho-max": r.Report.Rho()}, Detail: raw,
	}, err
}

// settled are the facets of an earlier run of the same worker in which every row passed: what failed or was not
// answered is judged again.
func settled(folder string, h bench.Hello) (map[string]Judged, error) {
	results, err := suite.ReadLedgerFile(filepath.Join(folder, "results.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("ASSAY_RESUME=%s: %w", folder, err)
	}
	out, want := map[string]Judged{}, map[string]string{}
	spoiled := map[string]bool{}
	for _, r := range results {
		var d map[string]string
		if err := json.Unmarshal(r.Detail, &d); err != nil || d["facet"] == "" {
			continue
		}
		if d["candidate"] != h.Name {
			return nil, fmt.Errorf("ASSAY_RESUME=%s is a run of worker %q, and this is %q; unset it, or give its folder",
				folder, d["candidate"], h.Name)
		}
		j := out[d["facet"]]
		j.Contract = d["contract"]
		row := Row{Outcome: r.Outcome, Message: r.Message}
		row.Case.ID, row.Case.Contract.Name = r.Case, d["contract"]
		row.Report.Seconds, row.Report.Path = r.Seconds, d["path"]
		j.Rows = append(j.Rows, row)
		out[d["facet"]], want[d["facet"]] = j, d["rows"]
		spoiled[d["facet"]] = spoiled[d["facet"]] || r.Outcome != suite.Passed
	}
	for facet, j := range out {
		if spoiled[facet] || fmt.Sprint(len(j.Rows)) != want[facet] {
			delete(out, facet)
		}
	}
	return out, nil
}

// unknown are the operators of a worker that assay does not have.
func unknown(h bench.Hello) []string {
	var out []string
	for _, op := range sortedKeys(h.Ops) {
		if _, known := facetRules[op]; !known {
			out = append(out, op)
		}
	}
	return out
}

// checkMadeFor refuses dimensions that an operator's shapes do not have.
func checkMadeFor(h bench.Hello) error {
	for _, s := range Suites() {
		for _, f := range s.Families {
			for _, dim := range sortedKeys(h.Ops[f.Op].MadeFor) {
				if have := f.Dimensions(); !slices.Contains(have, dim) {
					return fmt.Errorf("the worker says that %s is made for %q, which is no dimension of it; use one of %q", f.Op,
						dim, have)
				}
			}
		}
	}
	return nil
}

// insideModel asks nano-v4 for needles with the worker's kernels in it.
func insideModel(ctx context.Context, under bench.Candidate, out Outcome) ([]Inside, error) {
	o := InsideOptions{Needles: 10, Tokens: 1024, Chunk: 256}
	if budget() == "full" {
		o.Needles = 40
	}
	places := 0
	for _, op := range inside.Replaceable() {
		if _, offered := out.Hello.Ops[op]; offered {
			places++
		}
	}
	if places == 0 {
		return nil, nil
	}
	bar := report.NewProgress(os.Stderr, report.ProgressOptions{
		Label: "inside", Total: o.Needles * (places + 1), Style: report.StyleFor(os.Stderr),
	})
	defer bar.Done()
	o.After = func() error { bar.Add(1); return nil }
	lines, err := RunInside(ctx, under, o)
	if err != nil {
		return lines, err
	}
	return lines, judgeInside(lines, out.Judged)
}

func budget() string {
	v, _ := suite.Value("ASSAY_BUDGET")
	return v
}
