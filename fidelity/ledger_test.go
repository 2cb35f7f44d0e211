package fidelity_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/schema"
	"github.com/assay-suite/assay/internal/suite"
)

// What is lost MUST be a fail in the ledger, a finding of the report and a line of junit.xml, also in a run that does
// not fail by it; and nothing else may be.
func TestOneTruth(t *testing.T) {
	srv := httptest.NewServer(&engine{answer: someLost(8)})
	defer srv.Close()
	dir := t.TempDir()
	d, err := ledgerJob(t, srv.URL, dir).Run(t.Context())
	require.NoError(t, err)
	var lost []string
	for _, o := range d.Observations {
		if o.Measured && !o.Hit {
			lost = append(lost, o.Cell.ID)
		}
	}
	require.NotEmpty(t, lost)
	require.NotEqual(t, suite.Regression, d.Judgement.Code, d.Judgement.Verdict)

	raw, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	published, err := schema.Published("ledger-1")
	require.NoError(t, err)
	require.NoError(t, published.CheckLines(raw))
	results, err := suite.ReadLedgerFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	var ledger, page []string
	for _, r := range results {
		if r.Outcome == suite.Failed {
			assert.True(t, r.Observation, r.Case)
			assert.Contains(t, r.Message, "want ")
			ledger = append(ledger, r.Case)
		}
	}
	for _, f := range d.Report.Findings {
		page = append(page, f.Case)
	}
	assert.ElementsMatch(t, lost, ledger)
	assert.ElementsMatch(t, lost, page)
	junit, err := os.ReadFile(filepath.Join(dir, "junit.xml"))
	require.NoError(t, err)
	assert.Equal(t, len(lost), strings.Count(string(junit), ": want "))
	for _, c := range d.Report.Cases {
		assert.NotEqual(t, report.Fail, c.Outcome, "%s fails in a run that does not", c.ID)
	}
}
