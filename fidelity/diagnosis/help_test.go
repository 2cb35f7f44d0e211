package diagnosis_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/scripted"
)

// text is the haystack of all measurements: long enough for twice the window of the scripted engine.
var text = sync.OnceValues(func() (*needle.Haystack, error) { return needle.Open("generated", 3, 40_000) })

// subject is one engine to be diagnosed.
type subject struct {
	faults  []string
	control string
	seed    uint64
	budget  probe.Budget
	only    []string // probes; nil: all
}

func (s subject) String() string {
	name := s.control
	for _, f := range s.faults {
		if name != "" {
			name += "+"
		}
		name += f
	}
	return fmt.Sprintf("%s/%s/%d", s.budget, name, s.seed)
}

// poolTokens is the KV pool that the run is told of: as large as the largest that tier-restore draws.
const poolTokens = 16384

// run diagnoses a scripted engine in this process, in a bubble whose clock costs nothing.
func (s subject) run(t *testing.T) (k kept) {
	t.Helper()
	h, err := text()
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		e, err := scripted.New(scripted.Options{Faults: s.faults, Control: s.control, Seed: s.seed, Window: 16384})
		require.NoError(t, err)
		client := func() (*endpoint.Client, error) {
			return endpoint.New(endpoint.Options{BaseURL: "http://engine.test", Model: "scripted", Transport: e.Transport()})
		}
		c, err := client()
		require.NoError(t, err)
		v, err := c.Survey(t.Context(), "survey")
		require.NoError(t, err)
		r, err := probe.New(probe.Options{
			Client: c, Survey: v, Fresh: client, Haystack: h, Budget: s.budget, Seed: s.seed, Nonce: fmt.Sprint("run-", s.seed),
			Disrupt: s.budget != probe.Smoke, Known: probe.Known{Pool: poolTokens}, Only: s.only,
		})
		require.NoError(t, err)
		k.Evidence, err = r.Run(t.Context())
		require.NoError(t, err)
		k.Answers, k.Logprobs = r.Answers(), r.Logprobs()
	})
	return k
}

// probed is the evidence of a scripted engine.
func probed(t *testing.T, s subject) evidence.Set {
	t.Helper()
	return keep(t, s.id(), s.run).Evidence
}
