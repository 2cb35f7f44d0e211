package fidelity_test

import (
	"context"
	"io/fs"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity"
	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/server"
	"github.com/assay-suite/assay/oracle"
)

// weights are loaded once a folder; models with other operators share them.
var weights = struct {
	sync.Mutex
	byFolder map[string]*nano.Model
}{byFolder: map[string]*nano.Model{}}

func load(t testing.TB, folder string) *nano.Model {
	t.Helper()
	weights.Lock()
	defer weights.Unlock()
	m, ok := weights.byFolder[folder]
	if !ok {
		sub, err := fs.Sub(fixtures.FS, folder)
		require.NoError(t, err)
		m, err = nano.Load(sub, oracle.Reference())
		require.NoError(t, err)
		weights.byFolder[folder] = m
	}
	return m
}

type engine struct {
	m    *nano.Model
	name string
}

func (e engine) Name() string             { return e.name }
func (e engine) MaxModelLen() int         { return e.m.Config.MaxPositions }
func (e engine) Encode(text string) []int { return nano.Encode(text) }
func (e engine) EncodeChat(ms []server.Message) ([]int, error) {
	out := make([]nano.Message, len(ms))
	for i, m := range ms {
		out[i] = nano.Message{Role: m.Role, Content: m.Content}
	}
	return nano.EncodeChat(out)
}
func (e engine) TokenText(id int) string { return nano.TokenText(id) }
func (e engine) Special(id int) bool     { return id < nano.Newline }
func (e engine) Vocab() int              { return nano.VocabSize }
func (e engine) BOS() int                { return nano.BOS }
func (e engine) EOS() int                { return nano.EOS }
func (e engine) NewState() server.State  { return state{e.m, e.m.NewState()} }

type state struct {
	m *nano.Model
	s *nano.State
}

func (s state) Len() int { return s.s.Len() }
func (s state) Extend(ctx context.Context, ids []int, last int) ([][]float64, error) {
	return s.m.Extend(ctx, s.s, ids, last)
}
func (s state) Clone() server.State { return state{s.m, s.s.Clone()} }

// serve starts a model behind the real server on a loopback listener.
func serve(t testing.TB, m *nano.Model, name string) string {
	t.Helper()
	s, err := server.New(engine{m, name}, server.Config{Logf: func(f string, a ...any) { t.Logf(f, a...) }})
	require.NoError(t, err)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return srv.URL
}

// asker is a client of the server with its pre-flight done.
func asker(t testing.TB, url, key string) *fidelity.Asker {
	t.Helper()
	c, err := endpoint.New(endpoint.Options{BaseURL: url, APIKey: key, MaxInFlight: 4})
	require.NoError(t, err)
	flight, err := c.Preflight(t.Context(), "preflight")
	require.NoError(t, err)
	hay, err := needle.Opticks()
	require.NoError(t, err)
	a := &fidelity.Asker{Client: c.WithModel(flight.Model), Flight: flight, Haystack: hay, RunNonce: "run", Parallel: 2}
	require.NoError(t, a.Prepare(t.Context()))
	return a
}
