package probe_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/scripted"
)

// A healthy engine MUST be clean on every text, the agent's lines without stops as well.
func TestEveryText(t *testing.T) {
	names, only := []string{"agent"}, []string{evidence.Fork, evidence.Flat, evidence.Cue}
	if seeds() > 1 {
		names, only = []string{"opticks", "tom-sawyer", "agent", "generated"}, nil
	}
	for _, name := range names {
		synctest.Test(t, func(t *testing.T) {
			h, err := needle.Open(name, 1, 20_000)
			require.NoError(t, err)
			s := serve(t, scripted.Options{Window: 4096})
			s.o.Haystack, s.o.Budget, s.o.Disrupt, s.o.Only = h, probe.Standard, only == nil, only
			set := s.run(t, nil)
			assert.Empty(t, wrong(set), name)
			assert.Empty(t, unmeasured(set), name)
		})
	}
}
