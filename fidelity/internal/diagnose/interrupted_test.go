package diagnose_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/diagnose"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/scripted"
	"github.com/assay-suite/assay/internal/suite"
)

// A run that is interrupted MUST leave its files, conclude nothing, and say the line that goes on with it.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		e, err := scripted.New(scripted.Options{Faults: []string{"head-cut"}, Seed: 3, Gather: 1})
		require.NoError(t, err)
		var chats atomic.Int64
		over := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/chat/completions" && chats.Add(1) == 90 {
				stop(suite.ErrInterrupted)
			}
			e.ServeHTTP(w, r)
		})
		var out bytes.Buffer
		j := job(t, &out)
		j.Again = "go tool mage diagnose"
		j.Client, err = endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Transport: e.TransportOver(over)})
		require.NoError(t, err)
		d, err := j.Run(ctx)
		require.ErrorIs(t, err, diagnose.ErrInterrupted)
		code, text := d.Code()
		assert.Equal(t, suite.Inconclusive, code)
		assert.Contains(t, text, "ASSAY_RESUME="+j.Dir+" go tool mage diagnose")
		for _, name := range []string{"report.html", "junit.xml", "incident.txt"} {
			page, err := os.ReadFile(filepath.Join(j.Dir, name))
			require.NoError(t, err)
			assert.Contains(t, string(page), "interrupted after", name)
		}
		before := len(d.Evidence.Arms)
		require.Positive(t, before)

		j.Resume, j.Dir = j.Dir, t.TempDir()
		d, err = j.Run(t.Context())
		require.NoError(t, err)
		assert.Greater(t, len(d.Evidence.Arms), before)
	})
}
