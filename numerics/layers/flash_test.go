package layers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/layers"
)

const flashFamily = "numerics/layers-flash43"

// flashDepths are the depths whose free-running error the golden keeps.
var flashDepths = []int{1, 2, 4, 8, 16, 32, 43}

var flashProvenance = golden.Provenance{
	Generator: "numerics/layers_test.TestLayers/measure/flash43", Seed: suite.RandDescription + " of " + flashFamily,
	Source: "43 layers of a 16384-wide hyper-connection (math of V4 inference/model.py) around RMSNorm and a rank-64 " +
		"SiLU map, outlier channels x30; contracts of package numerics",
	Notes: "independent anchor: a 43-layer residual toy of another author has slopes 0.32 (rounding) and 0.83 " +
		"(truncation); see anchors_test.go",
}

// flashSlice are the variants of every run.
var flashSlice = []string{"mhc/tf32", "mhc/bf16", "linear/bf16-acc", "residual/bf16", "residual/bf16-rz"}

// measureFlash runs the stack once with all candidates and returns the golden's cases and the reports by slug.
func measureFlash(t *testing.T) (map[string]any, map[string]layers.Result) {
	t.Helper()
	s := &flashStack{seed: flashFamily}
	names := pick(flashSlice...)
	var candidates []layers.Layer
	for _, name := range names {
		candidates = append(candidates, s.run(variants()[name]))
	}
	fp32 := under(numerics.MHCFP32())
	names = append(names, "sound/reordered")
	candidates = append(candidates, s.run(variant{mix: reordered(fp32, 1000)}))
	members := 0
	if full() { // a tree over 16,384 products is slow to emulate; nano-v4's gate has one in every run
		names = append(names, "sound/pairwise")
		candidates = append(candidates, s.run(variant{mix: pairwise()}))
		members = layers.MinMembers
	}
	for seed := range members {
		candidates = append(candidates, s.run(variant{mix: reordered(fp32, uint64(seed))}))
	}
	plan := layers.Plan{Depth: flashLayers, Rows: flashTokens, Start: s.start(), Seed: 1}
	reports, err := plan.Measure(s.run(variant{}), candidates...)
	require.NoError(t, err)
	cases, byName := map[string]any{}, map[string]layers.Result{}
	for i, name := range names {
		byName[name] = reports[i]
		if _, known := variants()[name]; known {
			cases[name] = newCurveCase(t, reports[i], flashDepths)
			t.Logf("%-20s %s", name, summary(cases[name]))
		}
	}
	if members > 0 {
		ref, err := layers.Calibrate(reports[len(names):])
		require.NoError(t, err)
		cases[referenceCase] = shortReference(ref)
	}
	return cases, byName
}

// summary is a case in one line.
func summary(c any) string {
	v, ok := c.(curveCase)
	if !ok {
		return fmt.Sprint(c)
	}
	return fmt.Sprintf("local %.1e, free %.1e to %.1e, slope %.2f [%.2f, %.2f], coherence %.2f",
		float64(v.LocalMedian), float64(v.Free[0]), float64(v.Free[len(v.Free)-1]), float64(v.Slope), float64(v.SlopeLo),
		float64(v.SlopeHi), float64(v.Coherence))
}
