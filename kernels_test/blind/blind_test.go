package blind_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/blind"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

const family = "kernels/blind-spots"

// slice are the operators whose mutants every run judges again; the others wait for ASSAY_BUDGET=full.
var slice = []string{"sinkhorn", "window_mask", "extend_rows", "page_table"}

// TestBlindSpots puts generic mutants of every operator before the rows of the job, as a user runs it: standard budget,
// every facet offered. What is stopped, proven equivalent, or survives is the committed matrix exactly.
func TestBlindSpots(t *testing.T) {
	budget, _ := suite.Value("ASSAY_BUDGET")
	t.Setenv("ASSAY_BUDGET", "standard")
	cases := map[string]any{}
	var ops []string
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			ops = append(ops, f.Op)
			if budget != "full" && !slices.Contains(slice, f.Op) {
				continue
			}
			t.Run(f.Op, func(t *testing.T) {
				began := time.Now()
				o, err := blind.Prepare(t.Context(), s, f)
				require.NoError(t, err)
				ready := time.Since(began)
				l, err := o.Run(t.Context(), nil)
				require.NoError(t, err)
				sum := l.Sum()
				assert.LessOrEqual(t, 20*sum.Equivalent, sum.Mutants, "more than 5 %% of the mutants are equivalent")
				for hint, why := range l.Equivalent {
					assert.Contains(t, []blind.Reason{blind.Hint, blind.Unread}, why, hint)
				}
				t.Logf("%-22s %4d mutants, %4d stopped, %2d equivalent, %.3f; ready in %.1f s, all in %.1f s", f.Op, sum.Mutants,
					sum.Stopped, sum.Equivalent, sum.Score(), ready.Seconds(), time.Since(began).Seconds())
				cases[f.Op] = l
			})
		}
	}
	golden.Assert(t, family, golden.Doc{Provenance: golden.Provenance{
		Generator: "kernels_test/blind.TestBlindSpots", Seed: suite.RandDescription,
		Source: "the operators' Docs, facets and rows; kernels_test/blind/extents.go for the extents of shipping models",
	}, Cases: cases}, golden.All(golden.Count("mutants and kernels are deterministic")))
	golden.Orphans(t, family, ops)
}

// TestPage: docs/blind-spots.md MUST be what the golden says.
func TestPage(t *testing.T) {
	file, err := golden.Read(family)
	require.NoError(t, err)
	raw, err := json.Marshal(file.Cases)
	require.NoError(t, err)
	var lines map[string]blind.Line
	require.NoError(t, json.Unmarshal(raw, &lines))
	var ops []string
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			ops = append(ops, f.Op)
		}
	}
	golden.Page(t, "../../docs/blind-spots.md", blind.Page(ops, lines))
}
