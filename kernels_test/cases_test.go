package kernels_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// TestCases judges the built-in candidates, or the worker of ASSAY_CANDIDATE, by every case. As a job (go tool mage
// kernels) it prints the table of facets and writes report.html, junit.xml and a repro for each failure.
func TestCases(t *testing.T) {
	shard, shardErr := suite.ParseShard(value("ASSAY_SHARD"))
	o := job.Options{
		Shard: shard, Shrink: value("ASSAY_SHRINK") == "1", Contract: value("ASSAY_CONTRACT"), Suites: job.Suites(),
	}
	if err := o.Check(); err != nil {
		suite.Verdict(suite.UsageError, "usage: "+err.Error())
		return
	}
	under, hello, err := worker(t)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		suite.Verdict(suite.UsageError, "usage: "+firstLine(err))
		return
	}
	if suite.Job(t) {
		o.Shard = suite.JobShard()
		ctx := suite.Interruptible(t.Context())
		if err := engine(t, &o, hello); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			suite.Verdict(suite.UsageError, "usage: "+firstLine(err))
			return
		}
		if err := job.Watch(ctx, under, o, value("ASSAY_RESUME")); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			code := suite.ToolError
			if _, usage := errors.AsType[job.UsageError](err); usage {
				code = suite.UsageError
			}
			suite.Verdict(code, code.String()+": "+firstLine(err))
		}
		return
	}
	require.NoError(t, shardErr)
	if under != nil || o.Shrink {
		dir, err := suite.RunDir()
		require.NoError(t, err)
		o.Repros = filepath.Join(dir, "repros")
	}
	tables := map[string]any{}
	for _, s := range o.Suites {
		for _, f := range s.Families {
			t.Run(f.Slug, func(t *testing.T) {
				cases := s.Cases()
				if under != nil {
					cases = offered(t, s, f, hello)
				}
				for _, c := range cases {
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

// offered are the cases of the facets that a worker offers, under every contract: a failure's command finds its case.
func offered(t *testing.T, s bench.Suite, f bench.Family, h bench.Hello) []bench.Case {
	t.Helper()
	facets, err := s.Facets(f)
	require.NoError(t, err)
	var out []bench.Case
	for _, fc := range facets {
		if !bench.Offers(h, fc.Facet) {
			continue
		}
		for _, r := range fc.Rows {
			for _, contract := range fc.Contracts {
				c, err := bench.Retarget(r.Under(contract), h.Ops[f.Op].MadeFor)
				if err == nil {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
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
func one(t *testing.T, o job.Options, s bench.Suite, c bench.Case, under bench.Candidate, candidate string,
	tables map[string]any,
) {
	t.Helper()
	r, err := o.One(t.Context(), s, c, under)
	require.NoError(t, err)
	result, err := job.Result(job.Judged{}, r, candidate)
	require.NoError(t, err)
	require.NoError(t, suite.Record(result))
	table := map[string]any{}
	for _, f := range r.Report.Findings {
		table[f.Output] = golden.Float(twoDigits(max(f.Verdict.Rho.Max, f.Verdict.RhoMartingale.Max)))
	}
	tables[c.ID] = table
	if r.Text != "" {
		t.Error(r.Text)
	}
}

func twoDigits(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		return x
	}
	return v
}

// worker starts the user's worker, ASSAY_CANDIDATE; nil without one.
func worker(t *testing.T) (bench.Candidate, bench.Hello, error) {
	t.Helper()
	line := value("ASSAY_CANDIDATE")
	if line == "" {
		return nil, bench.Hello{}, nil
	}
	w, err := bench.StartWorker(t.Context(), line)
	if err != nil {
		return nil, bench.Hello{}, fmt.Errorf("ASSAY_CANDIDATE=%q does not start: %w", line, err)
	}
	t.Cleanup(func() {
		if said := w.Stderr(); said != "" {
			t.Logf("the worker's stderr:\n%s", said)
		}
		_ = w.Close() // it ends at the end of its input in any case
	})
	h, err := w.Hello(t.Context())
	return w, h, err
}

func startWorker(t *testing.T, line string) (bench.Candidate, bench.Hello) {
	t.Helper()
	w, err := bench.StartWorker(t.Context(), line)
	require.NoError(t, err, "the worker does not start")
	t.Cleanup(func() { _ = w.Close() })
	h, err := w.Hello(t.Context())
	require.NoError(t, err)
	return w, h
}
