package fidelity_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/oracle/faults"
)

// losing are the faults that lose most needles at 512 tokens, so that the internal controls must see them without a
// golden.
var losing = []string{
	"select-random", "select-last", "hadamard-on-q-only", "first-half-lost", "compressor-overlap-dropped",
	"output-rope-kept", "rope-other-pairing",
}

// unanswered are faults under which the model answers nothing: an engine error, and no recall to judge.
var unanswered = []string{"hc-reads-past-end"}

// TestCatalogueInTheModel serves nano-v4 with every fault of the catalogue that fits into it. Each MUST be a regression
// against the golden, by needles or by margins, and the losing ones a fault without one. By default a slice runs, and
// TestFaults has seven more; ASSAY_BUDGET=full runs all.
func TestCatalogueInTheModel(t *testing.T) {
	long(t)
	g, err := readGolden(familyOf("nano-v4"))
	require.NoError(t, err)
	require.NotNil(t, g)
	far := func(c recall.Cell) bool { return c.Tokens == 512 && c.Depth <= 0.25 }
	short := func(c recall.Cell) bool { return c.Tokens == 128 && c.Repeat == 0 }
	keep := func(c recall.Cell) bool {
		return c.Arm == recall.Short || c.Family == recall.Recall && (far(c) || short(c))
	}
	plan := planOf(t, recall.Full, keep)
	seen := 0
	for _, f := range faults.All() {
		if budgetOf() != recall.Full && f.Name != "hadamard-on-q-only" && f.Name != "sinks-zero" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			obs := observe(t, faulty(t, f.Name), "nano-v4", plan)
			with, err := recall.Judge(plan, obs, recall.Context{
				Budget:        recall.Standard,
				Golden:        g,
				Deterministic: true,
				Reported:      true,
			})
			require.NoError(t, err)
			t.Log(with.Verdict)
			if slices.Contains(unanswered, f.Name) {
				if with.Code != suite.ToolError {
					t.Errorf("code %d, %q", with.Code, with.Verdict)
				}
				return
			}
			seen++
			if with.Code != suite.Regression {
				t.Errorf("against the golden: code %d, %q", with.Code, with.Verdict)
			}
			without, err := recall.Judge(plan, obs, recall.Context{
				Budget:        recall.Standard,
				Deterministic: true,
				Reported:      true,
			})
			require.NoError(t, err)
			if slices.Contains(losing, f.Name) && without.Code != suite.Regression {
				t.Errorf("without a golden: code %d, %q", without.Code, without.Verdict)
			}
		})
	}
	t.Logf("%d faults", seen)
}
