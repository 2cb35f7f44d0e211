package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/suite"
)

func TestPlanCounts(t *testing.T) {
	for _, row := range []struct {
		budget              recall.Budget
		grid, window, cache int
		further             int // far, near and bursts
		maxTokens           int
	}{
		{recall.Smoke, 9, 5, 4, 6, 14_000},
		{recall.Standard, 35, 20, 80, 65, 120_000}, // the newcomer's run
		{recall.Full, 105, 20, 240, 235, 290_000},
	} {
		t.Run(string(row.budget), func(t *testing.T) {
			p, err := recall.NewPlan(row.budget, 8192)
			require.NoError(t, err)
			got := []int{
				p.Count(recall.Recall), p.Count(recall.Window), p.Count(recall.Cache),
				p.Count(recall.Extra) + p.Count(recall.Concurrency),
			}
			if d := cmp.Diff([]int{row.grid, row.window, row.cache, row.further}, got); d != "" {
				t.Errorf("grid, window, cache, further (-want +got):\n%s", d)
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
			if !slices.IsSortedFunc(p.Cells, func(a, b recall.Cell) int { return a.Tokens - b.Tokens }) {
				t.Error("dear cells come before cheap ones")
			}
		})
	}
}

// Smaller budgets are part of larger ones, so that one golden serves them all.
func TestBudgetsNest(t *testing.T) {
	ids := func(b recall.Budget) map[string]string {
		p, err := recall.NewPlan(b, 0)
		require.NoError(t, err)
		out := map[string]string{}
		for _, c := range p.Cells {
			out[c.ID] = c.Prompt
		}
		return out
	}
	full := ids(recall.Full)
	for _, b := range []recall.Budget{recall.Smoke, recall.Standard} {
		for id, prompt := range ids(b) {
			if full[id] != prompt {
				t.Errorf("%s of %s is not in the full plan with the same prompt", id, b)
			}
		}
	}
}

func TestPlanKeepsInsideTheWindow(t *testing.T) {
	p, err := recall.NewPlan(recall.Standard, 2048)
	require.NoError(t, err)
	for _, c := range p.Cells {
		if c.Tokens > 2048-256 {
			t.Errorf("%s needs %d tokens and an answer of up to 256, the window has 2048", c.ID, c.Tokens)
		}
	}
	if d := cmp.Diff([]string{
		"length 2048 (context window 2048)", "length 4096 (context window 2048)", "cache length 2048 (context window 2048)",
	}, p.LeftOut); d != "" {
		t.Errorf("left out (-want +got):\n%s", d)
	}
	if _, err := recall.NewPlan(recall.Standard, 200); err == nil || !strings.Contains(err.Error(), "200 tokens") {
		t.Errorf("a window of 200 tokens holds no cell, got %v", err)
	}
	if _, err := recall.NewPlan("huge", 0); err == nil || !strings.Contains(err.Error(), `"huge"`) {
		t.Errorf("an unknown budget must be named, got %v", err)
	}
}

// Every family has as many cells as the gate looks at, in an order that smaller budgets begin with.
func TestFamiliesOfThePlan(t *testing.T) {
	for _, window := range []int{0, 2048, 8192, 131072} {
		order := map[recall.Budget]map[gate.Family][]string{}
		for b, first := range map[recall.Budget]int{recall.Smoke: 10, recall.Standard: 40, recall.Full: 120} {
			p, err := recall.NewPlan(b, window)
			require.NoError(t, err)
			asked, unit := map[string]bool{}, map[string]gate.Family{}
			for _, c := range p.Cells {
				asked[c.ID] = true
			}
			for _, c := range slices.Concat(p.Cells, p.Reserve) {
				unit[c.ID] = c.Gate
				if c.Tokens+256 > window && window > 0 {
					t.Errorf("window %d: %s has %d tokens", window, c.ID, c.Tokens)
				}
			}
			order[b] = map[gate.Family][]string{}
			for _, s := range p.Order {
				order[b][s.Family] = append(order[b][s.Family], s.ID)
				if unit[s.ID] != s.Family {
					t.Errorf("window %d, %s: %s is of the family %q in the order and %q in its cell", window, b, s.ID, s.Family,
						unit[s.ID])
				}
			}
			for f, ids := range order[b] {
				if len(ids) < gate.BlessCells {
					t.Errorf("window %d, %s: %d cells of %s, want %d", window, b, len(ids), f, gate.BlessCells)
				}
				for i, id := range ids[:first] {
					if !asked[id] && (b != recall.Smoke || f == gate.Far || f == gate.Near) {
						t.Errorf("window %d, %s: %s is number %d of %s and not planned", window, b, id, i+1, f)
					}
				}
			}
		}
		for f, ids := range order[recall.Full] {
			for b, n := range map[recall.Budget]int{recall.Smoke: 40, recall.Standard: 120} {
				if !slices.Equal(order[b][f][:n], ids[:n]) {
					t.Errorf("window %d: the first %d cells of %s are others in %s than in full", window, n, f, b)
				}
			}
		}
	}
}

func TestCellsAreRegistered(t *testing.T) {
	registered := map[string]bool{}
	for _, id := range suite.IDs(suite.Cases("fidelity/")) {
		registered[id] = true
	}
	for _, window := range []int{0, 8192, 32768} {
		p, err := recall.NewPlan(recall.Full, window)
		require.NoError(t, err)
		for _, c := range slices.Concat(p.Cells, p.Reserve) {
			if !registered[c.ID] {
				t.Errorf("%s is not registered: `go tool mage cases` does not show it", c.ID)
			}
		}
	}
}
