package kernels_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	process "github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	kernels "github.com/assay-suite/assay/kernels_test"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/inside"
)

// TestCases judges the built-in candidates, or the worker of ASSAY_CANDIDATE, by every case. As a job (go tool mage
// kernels) it prints the table and writes report.html, junit.xml and a repro for each failure.
func TestCases(t *testing.T) {
	shard, err := suite.ParseShard(value("ASSAY_SHARD"))
	require.NoError(t, err)
	o := kernels.Options{Shard: shard, Shrink: value("ASSAY_SHRINK") == "1"}
	under, hello := worker(t)
	if suite.Job(t) {
		job(t, o, under, hello)
		return
	}
	if under != nil || o.Shrink {
		dir, err := suite.RunDir()
		require.NoError(t, err)
		o.Repros = filepath.Join(dir, "repros")
	}
	tables := map[string]any{}
	for _, s := range kernels.Suites() {
		for _, f := range s.Families {
			t.Run(f.Slug, func(t *testing.T) {
				for _, c := range s.Cases() {
					if c.Family.Op == f.Op && shard.Has(c.ID) {
						t.Run(strings.TrimPrefix(c.ID, "kernels/"+f.Slug+"/"), func(t *testing.T) {
							one(t, o, s, c, under, hello.Name, tables)
						})
					}
				}
			})
		}
	}
	if under != nil || shard.Count > 1 || budget() == "full" {
		return // the golden is of the built-in candidates, all of them, at the default sizes
	}
	golden.Assert(t, "kernels/rho", golden.Doc{Provenance: provenance("TestCases"), Cases: tables}, rhoRules)
}

func value(name string) string {
	v, _ := suite.Value(name)
	return v
}

func budget() string { return value("ASSAY_BUDGET") }

// rhoRules compare the rho tables of the built-in candidates.
var rhoRules = golden.All(golden.Factor(1.5, "rho tables keep two digits and compare within x1.5"))

func provenance(test string) golden.Provenance {
	return golden.Provenance{
		Generator: "kernels_test." + test, Seed: suite.RandDescription + ", the contract's segment left out; NormFloat64 " +
			"(ziggurat)",
		Source: "oracle in float64 and numerics' bounds (docs/sources.md); nano-v4 rows: fixtures/nano-v4",
	}
}

// one judges one case as a subtest.
func one(t *testing.T, o kernels.Options, s bench.Suite, c bench.Case, under bench.Candidate, candidate string,
	tables map[string]any,
) {
	t.Helper()
	r, err := o.One(t.Context(), s, c, under)
	require.NoError(t, err)
	require.NoError(t, suite.Record(result(t, r, candidate)))
	table := map[string]any{}
	for _, f := range r.Report.Findings {
		table[f.Output] = golden.Float(twoDigits(max(f.Verdict.Rho.Max, f.Verdict.RhoMartingale.Max)))
	}
	tables[c.ID] = table
	if r.Text != "" {
		t.Error(r.Text)
	}
}

// result is a row as the ledger keeps it: with what fidelity/suspects joins patches by.
func result(t *testing.T, r kernels.Row, candidate string) suite.Result {
	t.Helper()
	detail := map[string]string{
		"op": r.Case.Family.Op, "phase": r.Case.Scenario.Phase, "contract": r.Case.Contract.Name, "path": r.Report.Path,
		"candidate": candidate,
	}
	if len(r.Causes) > 0 {
		detail["cause"] = r.Causes[0].Class
	}
	raw, err := json.Marshal(detail)
	require.NoError(t, err)
	return suite.Result{
		Case: r.Case.ID, Outcome: r.Outcome, Message: r.Message, Seconds: r.Report.Seconds, Numbers: suite.Numbers{
			"rho-max": r.Report.Rho(),
		}, Detail: raw,
	}
}

func twoDigits(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		return x
	}
	return v
}

// job is the run that a user watches.
func job(t *testing.T, o kernels.Options, under bench.Candidate, hello bench.Hello) {
	t.Helper()
	dir, err := suite.RunDir()
	require.NoError(t, err)
	o.Repros = filepath.Join(dir, "repros")
	out := kernels.Outcome{Title: "built-in candidates", Hello: hello, Started: time.Now()}
	if under != nil {
		out.Title = hello.Name
	}
	cases := 0
	for _, c := range kernels.Cases() {
		if _, offered := hello.Ops[c.Family.Op]; (under == nil || offered) && o.Shard.Has(c.ID) {
			cases++
		}
	}
	style := report.StyleFor(os.Stdout)
	bar := report.NewProgress(os.Stderr, report.ProgressOptions{
		Label: "kernels",
		Total: cases,
		Style: report.StyleFor(os.Stderr),
	})
	o.Progress = func(string) { bar.Add(1) }
	o.Saw = func(r kernels.Row) error { return suite.Record(result(t, r, hello.Name)) }
	o.Declared = func(op string, d bench.Declared) {
		out.Declared = append(out.Declared, op+": "+d.Contract+", "+d.Why)
	}
	out.Rows, err = kernels.Run(t.Context(), under, o)
	bar.Done()
	require.NoError(t, err)
	if under != nil && budget() != "smoke" {
		out.Inside = insideModel(t, under, hello)
	}
	out.Elapsed = time.Since(out.Started)
	run := out.Report()
	run.Report = filepath.Join(dir, report.HTMLFile)
	require.NoError(t, report.WriteHead(os.Stdout, run, style))
	require.NoError(t, report.WriteBody(os.Stdout, run, style))
	require.NoError(t, report.WriteAll(dir, run, nil))
	suite.Verdict(suite.Code(run.Verdict.Code), run.Verdict.Text)
}

// insideModel asks nano-v4 for needles with the worker's kernels in it.
func insideModel(t *testing.T, under bench.Candidate, hello bench.Hello) []kernels.Inside {
	t.Helper()
	o := kernels.InsideOptions{Needles: 10, Tokens: 1024, Chunk: 256}
	if budget() == "full" {
		o.Needles = 40
	}
	places := 0
	for _, op := range inside.Replaceable() {
		if _, offered := hello.Ops[op]; offered {
			places++
		}
	}
	if places == 0 {
		return nil
	}
	bar := report.NewProgress(os.Stderr, report.ProgressOptions{
		Label: "inside",
		Total: o.Needles * (places + 1),
		Style: report.StyleFor(os.Stderr),
	})
	defer bar.Done()
	o.After = func() error { bar.Add(1); return nil }
	lines, err := kernels.RunInside(t.Context(), under, o)
	require.NoError(t, err)
	return lines
}

// worker starts the user's worker, ASSAY_CANDIDATE; nil without one.
func worker(t *testing.T) (bench.Candidate, bench.Hello) {
	t.Helper()
	line := value("ASSAY_CANDIDATE")
	if line == "" {
		return nil, bench.Hello{}
	}
	return startWorker(t, line)
}

func startWorker(t *testing.T, line string) (bench.Candidate, bench.Hello) {
	t.Helper()
	w, err := process.Start(t.Context(), line, process.Options{})
	require.NoError(t, err, "the worker does not start")
	t.Cleanup(func() {
		if said := w.Stderr(); said != "" {
			t.Logf("the worker's stderr:\n%s", said)
		}
		_ = w.Close() // it ends at the end of its input in any case
	})
	c := bench.FromWorker(w)
	h, err := c.Hello(t.Context())
	require.NoError(t, err)
	return c, h
}
