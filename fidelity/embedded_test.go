package fidelity_test

import (
	"io/fs"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
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
		m = m.Fast() // as nanoserve does; operators that a fault exchanges stay what they are
		weights.byFolder[folder] = m
	}
	return m
}

// contextWindow is nanoserve's default.
const contextWindow = 8192

// serve starts a model behind the real server on a loopback listener.
func serve(t testing.TB, m *nano.Model, name string) string {
	t.Helper()
	e, err := server.Nano(m, name, contextWindow)
	require.NoError(t, err)
	s, err := server.New(e, server.Config{})
	require.NoError(t, err)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return srv.URL
}
