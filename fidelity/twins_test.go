package fidelity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/golden"
)

// TestTwins measures recall of the quantised twins: ten cells against each one's golden, the standard plan with
// ASSAY_BUDGET=full and when -update records it.
func TestTwins(t *testing.T) {
	long(t)
	for _, name := range []string{"nano-v4-mxfp4", "nano-v4-nvfp4"} {
		t.Run(name, func(t *testing.T) {
			family := familyOf(name)
			whole := planOf(t, recall.Standard, func(c recall.Cell) bool { return !c.Further })
			plan := whole.Only(func(c recall.Cell) bool {
				return c.Family == recall.Recall && (c.Tokens == 128 || c.Tokens == 256)
			})
			require.Len(t, plan.Cells, 10)
			if budgetOf() == recall.Full || golden.Updating() {
				plan = whole
			}
			obs := observe(t, load(t, name), name, plan)
			g, err := readGolden(family)
			require.NoError(t, err)
			if golden.Updating() && !holds(t, obs, g) {
				write(t, family, name, plan, obs)
				g, err = readGolden(family)
				require.NoError(t, err)
			}
			require.NotNil(t, g, "goldens/%s.json is missing: run go test ./fidelity -run '^TestTwins$' -update", family)
			c, err := recall.Compare(obs, g)
			require.NoError(t, err)
			t.Log(c)
			if c.Overall != recall.Held || c.Pairs != len(plan.Cells) {
				t.Errorf("%s", c)
			}
			ids := []string{recall.HeaderID}
			for _, cell := range whole.Cells {
				ids = append(ids, cell.ID)
			}
			golden.Orphans(t, family, ids)
		})
	}
}

func holds(t testing.TB, obs []recall.Observation, g *recall.Golden) bool {
	t.Helper()
	if g == nil {
		return false
	}
	c, err := recall.Compare(obs, g)
	require.NoError(t, err)
	return c.Margins == recall.Held && len(c.Unpaired)+len(c.Missing) == 0
}

// TestTwinsAreNotNano is the planted fault: a twin served under the name of the fp32 model must not hold
// against its golden, although it loses no needle.
func TestTwinsAreNotNano(t *testing.T) {
	long(t)
	g, err := readGolden(familyOf("nano-v4"))
	require.NoError(t, err)
	plan := planOf(t, recall.Standard, func(c recall.Cell) bool {
		return c.Family == recall.Recall && c.Tokens == 128
	})
	c, err := recall.Compare(observe(t, load(t, "nano-v4-mxfp4"), "nano-v4", plan), g)
	require.NoError(t, err)
	if c.Margins != recall.Regressed || len(c.Moved) != 5 {
		t.Errorf("quantised weights pass for the fp32 model: %s", c)
	}
}
