package scripted_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/scripted"
)

// The project's own client finds out what the engine can do, and gets through to it under every single fault.
func TestClientSurvey(t *testing.T) {
	survey := func(o scripted.Options) (endpoint.Survey, error) {
		e := engine(t, o)
		c, err := endpoint.New(endpoint.Options{
			BaseURL:   "http://engine.test",
			Transport: e.Transport(),
			Limits:    endpoint.Limits{MaxTries: 1},
		})
		require.NoError(t, err)
		return c.Survey(t.Context(), "nonce")
	}
	s, err := survey(scripted.Options{})
	require.NoError(t, err)
	for _, name := range []string{
		"chat", "completions", "completions-ids", "logprobs", "echo", "tokenize", "usage", "usage-stream", "cached-tokens",
		"cache-salt", "window",
	} {
		if got := s.State(name); got != endpoint.Supported {
			t.Errorf("%s is %s", name, got)
		}
	}
	for _, k := range scripted.Kinds() {
		if _, err := survey(scripted.Options{Faults: []string{k.Slug}}); err != nil {
			t.Errorf("%s: %v", k.Slug, err)
		}
	}
}
