package fidelity_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/ask"
	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/server"
	"github.com/assay-suite/assay/oracle/faults"
)

// handler is a RoundTripper that calls a handler in this goroutine: the whole path but the sockets.
type handler struct{ http.Handler }

func (h handler) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// observe runs the cells of a plan on a model. Requests that fail are not repeated: a model that computes
// NaN fails every time.
func observe(t testing.TB, m *nano.Model, name string, p recall.Plan) []recall.Observation {
	t.Helper()
	e, err := server.Nano(m, name, contextWindow)
	require.NoError(t, err)
	s, err := server.New(e, server.Config{})
	require.NoError(t, err)
	return askAll(t, handler{s}, flight(name), p)
}

// flight is the pre-flight of the embedded server; TestMainJob shows that the real one says the same.
func flight(name string) endpoint.Preflight {
	f := endpoint.Preflight{Model: name, Window: endpoint.Count{N: contextWindow, Known: true}}
	for _, n := range []string{
		"chat", "completions", "logprobs", "tokenize", "usage", "cached-tokens", "cache-salt", "window",
	} {
		f.Features = append(f.Features, endpoint.Feature{Name: n, State: endpoint.Supported})
	}
	for i := range f.Features {
		if f.Features[i].Name == "logprobs" {
			f.Features[i].N = 20
		}
	}
	return f
}

func askAll(t testing.TB, h http.RoundTripper, f endpoint.Preflight, p recall.Plan) []recall.Observation {
	t.Helper()
	c, err := endpoint.New(endpoint.Options{
		BaseURL:   "http://engine.test",
		Model:     f.Model,
		Transport: h,
		Limits:    endpoint.Limits{MaxTries: 1},
	})
	require.NoError(t, err)
	a := &recall.Asker{Asker: ask.Asker{Client: c, Flight: f}, Haystack: haystack(t), RunNonce: "run", Parallel: 2}
	require.NoError(t, a.Prepare(t.Context()))
	obs, err := a.Run(t.Context(), p)
	require.NoError(t, err)
	return obs
}

// faulty is nano-v4 with a catalogued fault in place.
func faulty(t testing.TB, name string) *nano.Model {
	t.Helper()
	f, err := faults.Lookup(name)
	require.NoError(t, err)
	m := load(t, "nano-v4")
	return m.With(f.Apply(m.Ops()))
}

func planOf(t testing.TB, b recall.Budget, keep func(recall.Cell) bool) recall.Plan {
	t.Helper()
	p, err := recall.NewPlan(b, contextWindow)
	require.NoError(t, err)
	return p.Only(keep)
}

func wholePlan(recall.Cell) bool { return true }

// long leaves numeric proofs to runs without -short: under -race they take twenty times as long and race nothing
// that TestMainJob does not.
func long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("numeric proof, runs without -short")
	}
}
