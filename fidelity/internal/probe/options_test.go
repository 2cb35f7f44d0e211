package probe_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/scripted"
)

// The plan MUST list every probe with a reason or a cost before anything is sent, disruptive ones only where allowed.
func TestPlan(t *testing.T) {
	s := serve(t, scripted.Options{Window: 4096})
	before := s.o.Client.Requests()
	for _, b := range []probe.Budget{probe.Smoke, probe.Standard, probe.Full} {
		s.o.Budget = b
		r, err := probe.New(s.o)
		require.NoError(t, err)
		plan := r.Plan()
		require.Len(t, plan, len(evidence.Order()))
		for i, row := range plan {
			assert.Equal(t, evidence.Order()[i], row.Probe)
			assert.Equal(t, row.LeftOut == "", row.Requests > 0, row.Probe)
			if evidence.Disruptive(row.Probe) {
				assert.Contains(t, row.LeftOut, "ASSAY_DISRUPT")
			}
		}
		assert.Contains(t, strings.Join(plan.Lines(1000), "\n"), "min")
		assert.Equal(t, int64(plan.Cost().Tokens), plan.Time(1000).Milliseconds())
	}
	assert.Equal(t, before, s.o.Client.Requests(), "a plan sends nothing")
}

func TestRefusedOptions(t *testing.T) {
	s := serve(t, scripted.Options{Window: 4096})
	for want, change := range map[string]func(o *probe.Options){
		"budget":         func(o *probe.Options) { o.Budget = "huge" },
		"cases at once":  func(o *probe.Options) { o.Parallel = 5 },
		"is unknown":     func(o *probe.Options) { o.Only = []string{"nosuch"} },
		"a client and a": func(o *probe.Options) { o.Haystack = nil },
	} {
		o := s.o
		change(&o)
		_, err := probe.New(o)
		assert.ErrorContains(t, err, want)
	}
	o := s.o
	o.Nonce = ""
	r, err := probe.New(o)
	require.NoError(t, err)
	_, err = r.Run(t.Context())
	assert.ErrorContains(t, err, "nonce is empty")
}

// The token cap MUST end a probe with a reason, and a cancelled run MUST return what it has with its cause.
func TestCapAndCancel(t *testing.T) {
	s := serve(t, scripted.Options{Window: 4096})
	set := s.run(t, func(o *probe.Options) { o.TokenCap, o.Only = 300, []string{evidence.Sanity, evidence.Length} })
	assert.Contains(t, set.LeftOut[evidence.Length], "cap of 300 tokens")
	_, ok := set.Arm(evidence.Sanity, "q4")
	assert.True(t, ok)

	ctx, cancel := context.WithCancel(t.Context())
	s.o.Only = []string{evidence.Sanity, evidence.Length}
	s.o.Progress = func(p probe.Progress) {
		if p.Case == "sanity/q2" {
			cancel()
		}
	}
	r, err := probe.New(s.o)
	require.NoError(t, err)
	set, err = r.Run(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	_, ok = set.Arm(evidence.Sanity, "q2")
	assert.True(t, ok)
	_, ok = set.Arm(evidence.Length, "len-192")
	assert.False(t, ok)
}
