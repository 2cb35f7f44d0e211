package diagnosis_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/diagnosis"
	"github.com/assay-suite/assay/fidelity/probe"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/scripted"
)

// smokeNames are the kinds that a smoke run must name.
var smokeNames = []string{"head-cut", "sparse-selection", "tail-only", "junk-cliff", "warm-forgets", "dead-logits", "prompt-not-seen"}

// again are the runs that every test run executes: the kinds that smoke must name, and two controls.
func again() []subject {
	var out []subject
	for _, f := range smokeNames {
		out = append(out, subject{faults: []string{f}, seed: 1, budget: probe.Smoke})
	}
	for _, c := range []string{scripted.Healthy, scripted.WeakModel} {
		out = append(out, subject{control: c, seed: 1, budget: probe.Smoke})
	}
	return out
}

// subjectOf reads a golden's id back.
func subjectOf(t *testing.T, id string) subject {
	t.Helper()
	p := strings.Split(strings.TrimPrefix(id, family+"/"), "/")
	require.Len(t, p, 3, id)
	s := subject{budget: probe.Budget(p[0])}
	for _, c := range p[2] {
		s.seed = s.seed*10 + uint64(c-'0')
	}
	if c, ok := strings.CutPrefix(p[1], "control."); ok {
		s.control = c
	} else {
		s.faults = strings.Split(p[1], ".and.")
	}
	return s
}

func provenance() golden.Provenance {
	return golden.Provenance{
		Generator: "diagnosis_test.TestMeasured: probes against scripted engines in this process",
		Seed:      "of engine and probes: the last segment of the case ID",
		Model:     "scripted", Profile: "generated",
		Source: "internal/scripted, window 16384, parameters drawn from the seed; generated haystack of 40,000 words",
	}
}

// What was measured MUST come out again, to the word: a slice of it by default, all of it under ASSAY_BUDGET=full.
func TestMeasured(t *testing.T) {
	runs := again()
	if b, ok := os.LookupEnv("ASSAY_BUDGET"); ok && b == "full" {
		g, err := golden.Read(family)
		require.NoError(t, err)
		runs = nil
		for id := range g.Cases {
			runs = append(runs, subjectOf(t, id))
		}
	}
	doc := golden.Doc{Provenance: provenance(), Cases: map[string]any{}}
	var mu sync.Mutex
	t.Run("runs", func(t *testing.T) {
		for _, s := range runs {
			t.Run(s.id(), func(t *testing.T) {
				t.Parallel()
				line := said(diagnosis.Diagnose(probed(t, s)))
				mu.Lock()
				defer mu.Unlock()
				doc.Cases[s.id()] = line
			})
		}
	})
	golden.Assert(t, family, doc, golden.All(golden.Exact("a verdict is a word, and a run is a function of its seed")))
}

// Each of what was measured MUST be a line that can be read back, and every kind and control MUST have been measured.
func TestEveryKindIsMeasured(t *testing.T) {
	g, err := golden.Read(family)
	require.NoError(t, err)
	all := tally(g.Cases)
	n := 0
	for _, m := range all {
		for _, c := range m {
			n += c.runs
		}
	}
	assert.Equal(t, len(g.Cases), n, "every case is a run")
	for _, k := range scripted.Kinds() {
		assert.Contains(t, all["standard"], k.Slug)
	}
	for c := range scripted.Controls() {
		assert.Contains(t, all["smoke"], "control."+c)
	}
}
