package endpoint

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/wire"
)

// Fresh asks every question on a connection of its own, New keeps one.
func TestFresh(t *testing.T) {
	s, err := wire.New(wire.Options{})
	require.NoError(t, err)
	var opened atomic.Int64
	srv := httptest.NewUnstartedServer(s)
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	c, err := New(Options{BaseURL: srv.URL, Model: "wire"})
	require.NoError(t, err)
	for _, row := range []struct {
		client *Client
		want   int64
	}{{c, 1}, {c.Fresh(), 5}, {c, 0}} {
		before := opened.Load()
		for range 5 {
			_, err := row.client.Chat(t.Context(), hello())
			require.NoError(t, err)
		}
		assert.Equal(t, row.want, opened.Load()-before)
	}
}
