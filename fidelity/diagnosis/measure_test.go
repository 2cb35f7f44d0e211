package diagnosis_test

import (
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/diagnosis"
	"github.com/assay-suite/assay/internal/golden"
)

func provenance() golden.Provenance {
	return golden.Provenance{
		Generator: "diagnosis_test.TestMeasured: probes against scripted engines in this process",
		Seed:      "of engine and probes: the last segment of the case ID",
		Model:     "scripted", Profile: "generated",
		Source: "internal/scripted, window 16384, parameters drawn from the seed; generated haystack of 40,000 words",
	}
}

// What was measured MUST come out again, to the word: a slice of it by default, what the bars are about under
// ASSAY_BUDGET=full, and with -tags exhaustive what budget standard sees as well.
func TestMeasured(t *testing.T) {
	runs := again()
	if b, ok := os.LookupEnv("ASSAY_BUDGET"); ok && b == "full" {
		runs = bars()
		if everything {
			runs = append(runs, visible()...)
		}
		defer debug.SetGCPercent(debug.SetGCPercent(800)) // a third of the time else goes into collecting a small heap
	}
	runs = slices.DeleteFunc(runs, func(s subject) bool { return !asked(t, s) })
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

// asked tells whether a run is executed: of the campaign those that the golden holds, and when it is updated all, or
// those whose evidence was kept.
func asked(t *testing.T, s subject) bool {
	t.Helper()
	if golden.Updating() {
		return *evidenceDir == "" || isKept(s.id())
	}
	g, err := golden.Read(family)
	require.NoError(t, err)
	_, there := g.Cases[s.id()]
	return there
}

// Each of what was measured MUST be a line that can be read back.
func TestEveryRunIsTallied(t *testing.T) {
	g, err := golden.Read(family)
	require.NoError(t, err)
	n := 0
	for _, m := range tally(g.Cases) {
		for _, c := range m {
			n += c.runs
		}
	}
	assert.Equal(t, len(g.Cases), n, "every case is a run")
}
