package probe_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/scripted"
)

// text is the haystack of all tests.
var text = sync.OnceValues(func() (*needle.Haystack, error) { return needle.Open("generated", 3, 60_000) })

// server is a scripted engine with a client and what its survey found.
type server struct {
	engine *scripted.Engine
	o      probe.Options
}

func serve(t testing.TB, o scripted.Options) server {
	t.Helper()
	e, err := scripted.New(o)
	require.NoError(t, err)
	client := func() (*endpoint.Client, error) {
		return endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Model: "scripted", Transport: e.Transport()})
	}
	c, err := client()
	require.NoError(t, err)
	s, err := c.Survey(t.Context(), "survey")
	require.NoError(t, err)
	h, err := text()
	require.NoError(t, err)
	return server{e, probe.Options{Client: c, Survey: s, Fresh: client, Haystack: h, Budget: probe.Smoke, Nonce: "test"}}
}

// evidenceOf runs some probes.
func (s server) run(t testing.TB, o func(o *probe.Options)) evidence.Set {
	t.Helper()
	opt := s.o
	if o != nil {
		o(&opt)
	}
	r, err := probe.New(opt)
	require.NoError(t, err)
	set, err := r.Run(t.Context())
	require.NoError(t, err)
	return set
}
