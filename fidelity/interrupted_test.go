package fidelity_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/session"
	"github.com/assay-suite/assay/internal/suite"
)

// A run that is interrupted MUST leave report, junit and incident of what it has, conclude nothing, and say the line
// that goes on with it; and that line's run MUST come to its end without asking again.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	e := &engine{}
	var chats atomic.Int64
	e.before = func() {
		if chats.Add(1) == 34 { // survey and some cells
			stop(suite.ErrInterrupted)
		}
	}
	srv := httptest.NewServer(e)
	defer srv.Close()
	dir := t.TempDir()
	j := ledgerJob(t, srv.URL, dir)
	j.Again = "go tool mage live"
	d, err := j.Run(ctx)
	require.ErrorIs(t, err, session.ErrInterrupted)
	assert.Equal(t, suite.Inconclusive, d.Judgement.Code)
	line := "ASSAY_RESUME=" + dir + " go tool mage live"
	assert.Contains(t, d.Judgement.Verdict, "interrupted after ")
	assert.Contains(t, d.Judgement.Verdict, line)
	for _, name := range []string{"report.html", "junit.xml", "incident.txt"} {
		page, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Contains(t, string(page), "interrupted after", name)
	}
	assert.Empty(t, d.Report.Findings, "what was never asked is no finding")

	past, err := session.ReadPast(dir)
	require.NoError(t, err)
	next := ledgerJob(t, srv.URL, t.TempDir())
	next.Past = past
	done, err := next.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, suite.Pass, done.Judgement.Code, done.Judgement.Verdict)
	assert.Positive(t, done.Restored)
}

// Before the first question there is nothing to report: the cause MUST come back.
func TestInterruptedAtOnce(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	e := &engine{before: func() { stop(suite.ErrInterrupted) }}
	srv := httptest.NewServer(e)
	defer srv.Close()
	_, err := ledgerJob(t, srv.URL, t.TempDir()).Run(ctx)
	require.ErrorIs(t, err, suite.ErrInterrupted)
}
