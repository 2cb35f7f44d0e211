package diagnose_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/diagnose"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/fidelity/suspects"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/scripted"
	"github.com/assay-suite/assay/internal/suite"
)

// job asks a scripted engine with some faults, at the budget of a smoke test.
func job(t *testing.T, out *bytes.Buffer, faults ...string) diagnose.Job {
	t.Helper()
	e, err := scripted.New(scripted.Options{Faults: faults, Seed: 3, Gather: 1})
	require.NoError(t, err)
	fresh := func() (*endpoint.Client, error) {
		return endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Transport: e.Transport()})
	}
	c, err := fresh()
	require.NoError(t, err)
	text, err := needle.Opticks()
	require.NoError(t, err)
	return diagnose.Job{
		Title: "scripted", Client: c, Fresh: fresh, Haystack: text, Budget: probe.Smoke, Parallel: 2, Nonce: "test",
		Dir: t.TempDir(), Out: out,
	}
}

// A healthy engine MUST be called clean with code 0, and one that loses its prompt's head a fault with code 1, with a
// class, its evidence, a flag to flip, and a report.
func TestJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		d, err := job(t, &out).Run(t.Context())
		require.NoError(t, err)
		code, text := d.Code()
		assert.Equal(t, suite.Pass, code, out.String())
		assert.Contains(t, text, "no fault found")

		out.Reset()
		j := job(t, &out, "head-cut")
		var recorded []suite.Result
		j.Result = func(r suite.Result) error { recorded = append(recorded, r); return nil }
		d, err = j.Run(t.Context())
		require.NoError(t, err)
		code, text = d.Code()
		assert.Equal(t, suite.Regression, code)
		assert.Contains(t, text, "head-cut")
		for _, want := range []string{"evidence", "next", "verdict"} {
			if want != "verdict" { // suite.Main prints that
				assert.Contains(t, out.String(), want)
			}
		}
		page, err := os.ReadFile(filepath.Join(j.Dir, "report.html"))
		require.NoError(t, err)
		assert.Contains(t, string(page), "head-cut")
		kept, err := filepath.Glob(filepath.Join(j.Dir, "requests", "length-sweep*.json"))
		require.NoError(t, err)
		assert.NotEmpty(t, kept, "no exchange is kept")
		require.Len(t, recorded, 1)
		require.NoError(t, recorded[0].Validate())
		assert.Contains(t, string(recorded[0].Detail), `"class":"head-cut"`)
	})
}

// Suspects MUST stand in the report with their state and the switch to flip.
func TestJobWithSuspects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		j := job(t, &out, "sparse-selection")
		j.Ledgers = t.TempDir()
		run := filepath.Join(j.Ledgers, "run")
		require.NoError(t, os.Mkdir(run, 0o700))
		line := `{"case":"kernels/topk/a","outcome":"pass","detail":{"op":"topk","candidate":"mine"}}` + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(run, "results.jsonl"), []byte(line), 0o600))
		j.Patches = []suspects.Patch{
			{Name: "my top-k", Operator: "topk", Off: "--stock-topk"},
			{Name: "my mix", Operator: "mhc_pre", Off: "--stock-mix"},
		}
		d, err := j.Run(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(d.Suspects), 2)
		assert.Equal(t, suspects.Cleared, d.Suspects[0].State)
		assert.Equal(t, suspects.NotExercised, d.Suspects[1].State)
		assert.True(t, strings.Contains(out.String(), "my top-k") && strings.Contains(out.String(), "--stock-mix"),
			out.String())
	})
}

// A plan that is declined MUST send nothing of it.
func TestDeclined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		j := job(t, &out)
		j.Agree = func(question string) bool {
			assert.Contains(t, question, "requests")
			return false
		}
		_, err := j.Run(t.Context())
		require.ErrorIs(t, err, diagnose.ErrDeclined)
	})
}
