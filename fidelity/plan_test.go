package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity"
	"github.com/assay-suite/assay/internal/suite"
)

func TestPlanCounts(t *testing.T) {
	for _, row := range []struct {
		budget              fidelity.Budget
		grid, window, cache int
		maxTokens           int
	}{
		{fidelity.Smoke, 9, 5, 4, 12_000},
		{fidelity.Standard, 35, 20, 24, 97_000}, // the newcomer's run of design/exemplars
		{fidelity.Full, 105, 20, 24, 195_000},
	} {
		t.Run(string(row.budget), func(t *testing.T) {
			p, err := fidelity.NewPlan(row.budget, 8192)
			require.NoError(t, err)
			got := []int{p.Count(fidelity.Recall), p.Count(fidelity.Window), p.Count(fidelity.Cache)}
			if d := cmp.Diff([]int{row.grid, row.window, row.cache}, got); d != "" {
				t.Errorf("grid, window, cache (-want +got):\n%s", d)
			}
			if c := p.Cost(); c.Requests != len(p.Cells) || c.Tokens > row.maxTokens {
				t.Errorf("cost %v for %d cells, want at most %d tokens", c, len(p.Cells), row.maxTokens)
			}
			seen := map[string]bool{}
			for _, c := range p.Cells {
				if err := c.Validate(); err != nil {
					t.Error(err)
				}
				if seen[c.ID] {
					t.Errorf("%s is planned twice", c.ID)
				}
				seen[c.ID] = true
				if c.Arm == "warm" && !seen[strings.TrimSuffix(c.ID, "warm")+"cold"] {
					t.Errorf("%s comes before its cold cell", c.ID)
				}
			}
			if !slices.IsSortedFunc(p.Cells, func(a, b fidelity.Cell) int { return a.Tokens - b.Tokens }) {
				t.Error("dear cells come before cheap ones")
			}
		})
	}
}

// Smaller budgets are part of larger ones, so that one golden serves them all.
func TestBudgetsNest(t *testing.T) {
	ids := func(b fidelity.Budget) map[string]string {
		p, err := fidelity.NewPlan(b, 0)
		require.NoError(t, err)
		out := map[string]string{}
		for _, c := range p.Cells {
			out[c.ID] = c.Prompt
		}
		return out
	}
	full := ids(fidelity.Full)
	for _, b := range []fidelity.Budget{fidelity.Smoke, fidelity.Standard} {
		for id, prompt := range ids(b) {
			if full[id] != prompt {
				t.Errorf("%s of %s is not in the full plan with the same prompt", id, b)
			}
		}
	}
}

func TestPlanKeepsInsideTheWindow(t *testing.T) {
	p, err := fidelity.NewPlan(fidelity.Standard, 2048)
	require.NoError(t, err)
	for _, c := range p.Cells {
		if c.Tokens > 2048-256 {
			t.Errorf("%s needs %d tokens and an answer of up to 256, the window has 2048", c.ID, c.Tokens)
		}
	}
	if d := cmp.Diff([]string{"length 2048 (context window 2048)", "length 4096 (context window 2048)", "cache length 2048 (context window 2048)"}, p.LeftOut); d != "" {
		t.Errorf("left out (-want +got):\n%s", d)
	}
	if _, err := fidelity.NewPlan(fidelity.Standard, 200); err == nil || !strings.Contains(err.Error(), "200 tokens") {
		t.Errorf("a window of 200 tokens holds no cell, got %v", err)
	}
	if _, err := fidelity.NewPlan("huge", 0); err == nil || !strings.Contains(err.Error(), `"huge"`) {
		t.Errorf("an unknown budget must be named, got %v", err)
	}
}

func TestCellsAreRegistered(t *testing.T) {
	p, err := fidelity.NewPlan(fidelity.Full, 0)
	require.NoError(t, err)
	registered := suite.IDs(suite.Cases("fidelity/"))
	for _, c := range p.Cells {
		if !slices.Contains(registered, c.ID) {
			t.Errorf("%s is not registered: `go tool mage cases` does not show it", c.ID)
		}
	}
}
