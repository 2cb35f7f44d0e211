package probe_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/scripted"
)

// plain hides the tokenize route.
type plain struct{ http.RoundTripper }

func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/tokenize") {
		return &http.Response{
			StatusCode: http.StatusNotFound,
			Header:     http.Header{},
			Body:       io.NopCloser(strings.NewReader("{}")),
			Request:    r,
		}, nil
	}
	return p.RoundTripper.RoundTrip(r)
}

// Without a tokenize route lengths are estimates, a cut is told all the same, and exact lengths come by usage.
func TestWithoutTokenizer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(only []string, faults ...string) evidence.Set {
			s := serve(t, scripted.Options{Window: 4096, Faults: faults})
			c, err := endpoint.New(endpoint.Options{
				BaseURL:   "http://engine.test",
				Model:     "scripted",
				Transport: plain{s.engine.Transport()},
			})
			require.NoError(t, err)
			s.o.Client = c
			s.o.Survey, err = c.Survey(t.Context(), "plain")
			require.NoError(t, err)
			require.NotEqual(t, endpoint.Supported, s.o.Survey.State("tokenize"))
			s.o.Only, s.o.Budget = only, "standard"
			return s.run(t, nil)
		}
		healthy := run([]string{evidence.Accounting, evidence.Length, evidence.Warm})
		assert.Empty(t, wrong(healthy))
		assert.Equal(t, "estimated", healthy.Words["accounting/counter"])
		// estimates of whole prompts err by some per cent, a cut by half
		least := num(healthy, evidence.Accounting, "kept-least")
		assert.Greater(t, least, 0.9)
		assert.Less(t, least, 1.1)
		cut := run([]string{evidence.Length}, "head-cut")
		assert.Less(t, num(cut, evidence.Accounting, "kept-least"), 0.7)
		assert.Positive(t, num(run([]string{evidence.Shift}, "phase"), evidence.Shift, "modulus"))
	})
}
