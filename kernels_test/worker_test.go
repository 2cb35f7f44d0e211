package kernels_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Through a worker process a candidate MUST get the same verdict, to the bit of every rho, as in this process: correct
// ones and faulty ones, one of every suite.
func TestWorkerIsTheSameCandidate(t *testing.T) {
	for _, s := range job.Suites() {
		for _, c := range telling(t, s.Cases()) {
			for _, p := range append([]bench.Plant{{Build: s.Built}}, s.Plants[:min(1, len(s.Plants))]...) {
				if p.Name == "" || p.Concerns(c) {
					sameThroughWorker(t, s, c, p)
				}
			}
		}
	}
}

// telling is one case of a suite, and those that use the rest of the protocol: other requests in the launch, graphs,
// repeats.
func telling(t *testing.T, all []bench.Case) []bench.Case {
	t.Helper()
	out, seen := []bench.Case{all[len(all)/2]}, map[string]bool{}
	for _, c := range all {
		what := ""
		if c.Scenario.ID == "one-launch" {
			what = "batch"
		} else if p, err := c.Problem(); err == nil && (p.Mode != "" || p.Repeat > 1) {
			what = p.Mode + " repeated"
		}
		if what != "" && !seen[what] {
			seen[what] = true
			out = append(out, c)
		}
	}
	return out
}

func sameThroughWorker(t *testing.T, s bench.Suite, c bench.Case, p bench.Plant) {
	t.Helper()
	b, err := bench.New(c)
	require.NoError(t, err)
	inside, err := p.Build(c.Contract.Name)
	require.NoError(t, err)
	want, err := b.Judge(t.Context(), inside)
	require.NoError(t, err)
	outside, _ := startWorker(t, workerLine(t, s.Name, p.Name, c.Contract.Name))
	got, err := b.Judge(t.Context(), outside)
	require.NoError(t, err)
	assert.Equal(t, want.Gate(), got.Gate(), "%s in %s", p.Name, c.ID)
	assert.Equal(t, want.Rho(), got.Rho(), "%s in %s", p.Name, c.ID)
}

// The numpy reference was written from the math and not from the Go code: it is the second implementation of the
// oracles, and must pass every case through the worker protocol.
func TestNumpyReference(t *testing.T) {
	python := value("ASSAY_PYTHON")
	if python == "" {
		t.Skip("set ASSAY_PYTHON to an interpreter with numpy to judge the numpy reference")
	}
	script, err := filepath.Abs("../adapters/python/reference.py")
	require.NoError(t, err)
	worker, hello := startWorker(t, python+" "+script)
	judged := 0
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			assert.Contains(t, hello.Ops, f.Op, "the reference lacks an operator")
		}
		for _, c := range s.Cases() {
			b, err := bench.New(c)
			require.NoError(t, err)
			r, err := b.Judge(t.Context(), worker)
			require.NoError(t, err, c.ID)
			if !r.Accepted() {
				t.Error(b.Failure(t.Context(), worker, r, s.Plants))
			}
			judged++
		}
	}
	t.Logf("%d cases through the worker protocol", judged)
}
