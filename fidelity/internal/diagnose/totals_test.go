package diagnose_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/diagnose"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/scripted"
	"github.com/assay-suite/assay/internal/suite"
)

// diagnosed is a whole job, with what it leaves in its files.
func diagnosed(t *testing.T, b probe.Budget, faults ...string) (d diagnose.Done, files map[string]string) {
	t.Helper()
	files = map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		j := job(t, &out, faults...)
		j.Budget = b
		if b != probe.Smoke { // a file for each request takes longer than the rest
			j.Dir = ""
		}
		var err error
		d, err = j.Run(t.Context())
		require.NoError(t, err)
		files["terminal"] = out.String()
		for _, name := range []string{"report.html", "incident.txt"} {
			if j.Dir == "" {
				continue
			}
			page, err := os.ReadFile(filepath.Join(j.Dir, name))
			require.NoError(t, err)
			files[name] = string(page)
		}
	})
	return d, files
}

// A loss without a contrast MUST be a fault with its count, in the terminal, the report and the incident.
func TestUnexplainedLosses(t *testing.T) {
	for _, c := range []struct {
		fault, says string
		budget      probe.Budget
	}{
		{"every-nth", "every 4th request fails", probe.Smoke},
		{"misses-everywhere", "short questions", probe.Smoke},
		{"half-answers", "short questions", probe.Smoke},
		{"others-kv", "warm answers", probe.Standard},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			d, files := diagnosed(t, c.budget, c.fault)
			code, text := d.Code()
			assert.Equal(t, suite.Regression, code, "%s\n%s", text, d.Totals.Lines())
			assert.Contains(t, d.Totals.Lines(), c.says)
			for name, file := range files {
				assert.Contains(t, file, fmt.Sprintf("%d asked, %d wrong", d.Totals.All.Asked, d.Totals.All.Wrong), name)
			}
		})
	}
}

// Log-probabilities that are none MUST be a fault of their own where the answers are right.
func TestBrokenLogprobs(t *testing.T) {
	for variant, says := range []string{"all equal", "not those of the answer", "base 10", "probabilities, not logs"} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, err := scripted.New(scripted.Options{
					Faults: []string{"logprobs"}, Params: map[string]scripted.Params{"logprobs": {"variant": variant}}, Gather: 1,
				})
				require.NoError(t, err)
				var out bytes.Buffer
				j := job(t, &out)
				j.Only = []string{evidence.Sanity, evidence.SelfNoise, evidence.Length, evidence.Logprobs, evidence.Alone}
				j.Client, err = endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Transport: e.Transport()})
				require.NoError(t, err)
				d, err := j.Run(t.Context())
				require.NoError(t, err)
				code, text := d.Code()
				assert.Equal(t, suite.Regression, code, text)
				assert.Contains(t, text, "log-probabilities")
				assert.Contains(t, out.String(), says)
				assert.Contains(t, out.String(), "margins unmeasured")
			})
		})
	}
}

// A model that misses three facts in a hundred MUST NOT be a fault, nor one whose recall declines with length, and the
// latter MUST NOT be clean.
func TestSoundModels(t *testing.T) {
	for control, want := range map[string][]suite.Code{
		"misses-little": {suite.Pass, suite.Inconclusive}, "declines": {suite.Inconclusive},
	} {
		t.Run(control, func(t *testing.T) {
			t.Parallel()
			d, _ := diagnosed(t, probe.Standard, control)
			code, text := d.Code()
			assert.Contains(t, want, code, "%s\n%s\n%+v", text, d.Totals.Lines(), d.Diagnosis.Findings)
		})
	}
}
