package job

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
	"github.com/assay-suite/assay/kernels_test/internal/inside"
	"github.com/assay-suite/assay/kernels_test/internal/tape"
)

// Watch is the run that a user watches: progress on standard error, table and verdict on standard output, report.html,
// junit.xml, the ledger and a repro of every failure in the run's folder. resume is the folder of an earlier run whose
// settled facets are taken over; empty for none. A run that is stopped by ctx leaves the report of what it has judged.
func Watch(ctx context.Context, under bench.Candidate, o Options, resume string) error {
	dir, err := suite.RunDir()
	if err != nil {
		return err
	}
	o.Repros = filepath.Join(dir, "repros")
	out, err := o.begin(ctx, under)
	if err != nil {
		return err
	}
	if resume != "" {
		if o.Settled, err = settled(resume, out.Hello); err != nil {
			return UsageError{err}
		}
	}
	if o.Tapes != nil && under != nil {
		under = &tape.Recorder{Under: under}
	}
	bar, facets := (*report.Progress)(nil), 0
	o.Planned = func(n, rows int) {
		facets = n
		bar = report.NewProgress(os.Stderr, report.ProgressOptions{
			Label: "kernels", Total: rows, Style: report.StyleFor(os.Stderr),
		})
	}
	o.Progress = func(n int) { bar.Add(n) }
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
		if o.Tapes == nil || under == nil {
			return nil
		}
		return o.Tapes.See(ctx, j, out.Hello.Ops[j.Facet.Op])
	}
	if o.Timing != TimesOnly {
		out.Judged, err = Run(ctx, under, o)
	}
	if bar != nil {
		bar.Done()
	}
	if err == nil && under != nil && budget() != "smoke" && o.Timing != TimesOnly {
		out.Inside, err = insideModel(ctx, under, out)
	}
	if err == nil && under != nil && o.Timing != NoTimes {
		out.Times, err = o.Times(ctx, under, out.Hello)
	}
	if ctx.Err() != nil {
		out.Stopped, err = fmt.Sprintf("stopped: %d of %d facets settled; ASSAY_RESUME=%s goes on from here",
			len(out.Judged), facets, dir), nil
	}
	if err != nil {
		return err
	}
	if o.Tapes != nil && under != nil {
		if out.Tape, err = o.Tapes.Write(out.Hello, out); err != nil {
			return err
		}
	}
	if o.Changes != nil {
		out.Changes = o.Changes(out)
	}
	out.Elapsed = time.Since(out.Started)
	return out.write(dir)
}

// begin asks a candidate what it offers.
func (o Options) begin(ctx context.Context, under bench.Candidate) (Outcome, error) {
	out := Outcome{Title: "built-in candidates", Shard: o.Shard, Started: time.Now()}
	if under == nil {
		return out, nil
	}
	var err error
	if out.Hello, err = under.Hello(ctx); err != nil {
		return out, err
	}
	out.Title, out.Unknown, out.Absent = out.Hello.Name, o.unknown(out.Hello), o.absent(out.Hello)
	if err := o.checkHello(out.Hello); err != nil {
		return out, UsageError{err}
	}
	return out, nil
}

// Whole judges a candidate and puts together what a report shows; its Verdict is the run's.
func Whole(ctx context.Context, under bench.Candidate, o Options) (Outcome, error) {
	if err := o.Check(); err != nil {
		return Outcome{}, UsageError{err}
	}
	out, err := o.begin(ctx, under)
	if err != nil {
		return out, err
	}
	if out.Judged, err = Run(ctx, under, o); ctx.Err() != nil {
		out.Stopped, err = fmt.Sprintf("stopped: %d facets were judged, and others were not", len(out.Judged)), nil
	}
	out.Elapsed = time.Since(out.Started)
	return out, err
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
		row.Case.Family.Op, row.Case.Scenario.Phase = d["op"], d["phase"]
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

// unknown are the operators of a worker that no suite has.
func (o Options) unknown(h bench.Hello) []string {
	known := map[string]bool{}
	for _, s := range o.suites() {
		for _, f := range s.Families {
			known[f.Op] = true
		}
	}
	return slices.DeleteFunc(sortedKeys(h.Ops), func(op string) bool { return known[op] })
}

// absent are the operators that a worker does not offer.
func (o Options) absent(h bench.Hello) []string {
	var out []string
	for _, s := range o.suites() {
		for _, f := range s.Families {
			if _, offered := h.Ops[f.Op]; !offered {
				out = append(out, f.Op)
			}
		}
	}
	return out
}

// checkHello refuses dimensions that an operator's shapes do not have, and other words of a worker that mean nothing.
func (o Options) checkHello(h bench.Hello) error {
	for op, can := range h.Ops {
		if !slices.Contains([]string{"", bench.NaNPropagates, bench.NaNAny}, can.NaN) {
			return fmt.Errorf("the worker says nan=%q of %s; use %q or %q", can.NaN, op, bench.NaNPropagates, bench.NaNAny)
		}
	}
	for _, s := range o.suites() {
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
