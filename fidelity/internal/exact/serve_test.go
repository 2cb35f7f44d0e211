package exact

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/server"
)

// shortWindow leaves only the shortest cells, one for each residue of a page, and holds the pre-flight.
const shortWindow = 250

// asking is an asker of a model behind the real server on loopback.
func asking(t testing.TB, e server.Engine) *Asker {
	t.Helper()
	s, err := server.New(e, server.Config{Parallel: atOnce})
	require.NoError(t, err)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	client := func(most int) *endpoint.Client {
		c, err := endpoint.New(endpoint.Options{BaseURL: srv.URL, Model: e.Name(), MaxInFlight: most})
		require.NoError(t, err)
		return c
	}
	flight, err := client(4).Preflight(t.Context(), "exact")
	require.NoError(t, err)
	return &Asker{Client: client(4), Wide: client(atOnce), Flight: flight, Nonce: t.Name()}
}

func ofModel(t testing.TB, m *nano.Model, name string, window int) *Asker {
	t.Helper()
	e, err := server.Nano(m, name, window)
	require.NoError(t, err)
	return asking(t, e)
}

func run(t testing.TB, a *Asker, format string) Result {
	t.Helper()
	h, err := needle.Opticks()
	require.NoError(t, err)
	o, err := a.Run(t.Context(), h, format)
	require.NoError(t, err)
	return o
}
