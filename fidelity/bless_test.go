package fidelity_test

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/gate"
)

// whole is the standard plan with everything that a blessing asks.
func whole(t testing.TB) (asked, blessed recall.Plan) {
	t.Helper()
	p, err := recall.NewPlan(recall.Standard, 8192)
	require.NoError(t, err)
	return p, p.Whole(recall.Standard)
}

// repeats are the runs of a blessing; behave knows which repeat it is.
func repeats(p recall.Plan, behave func(repeat int, c recall.Cell) fake) [][]recall.Observation {
	var out [][]recall.Observation
	for r := range gate.Repeats {
		out = append(out, script(p, func(_ int, c recall.Cell) fake { return behave(r, c) }))
	}
	return out
}

// share picks a part of the cells, by a hash of their IDs that the plan's order does not use.
func share(c recall.Cell, percent uint64) bool {
	h := fnv.New64()
	_, _ = h.Write([]byte("share " + c.ID))
	return h.Sum64()%100 < percent
}

// toTheEnd asks as a job does: the plan, then what the gate wants.
func toTheEnd(t testing.TB, p recall.Plan, g *recall.Golden,
	behave func(recall.Cell) fake,
) (c recall.Comparison, asked int) {
	t.Helper()
	each := func(_ int, c recall.Cell) fake { return behave(c) }
	obs := script(p, each)
	for {
		c = judge(t, p, obs, g)
		if c.Overall == recall.Regressed || len(c.Gate.More) == 0 {
			return c, len(obs)
		}
		more := p
		more.Cells = slices.DeleteFunc(slices.Clone(p.Reserve), func(c2 recall.Cell) bool {
			return !slices.Contains(c.Gate.More, c2.ID)
		})
		require.Len(t, more.Cells, len(c.Gate.More), "cells that the gate wants are in the reserve")
		obs = append(obs, script(more, each)...)
	}
}

// A live server's golden: an unchanged engine is held, drops that matter are caught, what cannot be told is
// inconclusive.
func TestGateOnALiveGolden(t *testing.T) {
	plan, blessed := whole(t)
	g := goldenBy(t, blessed, repeats(blessed, func(int, recall.Cell) fake { return fake{} }), recall.Blessing{
		Reason: "test",
		Source: "s",
	})
	far := func(percent uint64, f fake) func(recall.Cell) fake {
		return func(c recall.Cell) fake {
			if c.Gate == gate.Far && share(c, percent) {
				return f
			}
			return fake{}
		}
	}
	base := len(plan.Cells)
	for name, row := range map[string]struct {
		now     func(recall.Cell) fake
		overall recall.Standing
		family  gate.Family
		more    bool
	}{
		"unchanged": {far(0, fake{}), recall.Held, "", false},
		// below 0.25 nat: no gate
		"numbers-move":       {func(recall.Cell) fake { return fake{shift: -0.1} }, recall.Held, "", false},
		"20-points-lost":     {far(20, fake{miss: true}), recall.Regressed, gate.Far, true},
		"half-lost":          {far(50, fake{miss: true}), recall.Regressed, gate.Far, false},
		"margins-fall":       {func(recall.Cell) fake { return fake{shift: -0.5} }, recall.Regressed, gate.Far, false},
		"margins-rise":       {func(recall.Cell) fake { return fake{shift: 0.5} }, recall.Held, "", false},
		"a-tenth-unmeasured": {far(10, fake{gap: true}), recall.Inconclusive, gate.Far, false},
		"warm-without-a-hit": {
			func(c recall.Cell) fake { return fake{cold: c.Arm == "warm"} }, recall.Inconclusive, gate.Cache, false,
		},
		"concurrency-loses": {
			func(c recall.Cell) fake { return fake{miss: c.Gate == gate.Concurrency && share(c, 50)} }, recall.Regressed,
			gate.Concurrency, false,
		},
		"other-bytes-in-near": {
			func(c recall.Cell) fake { return fake{other: c.Gate == gate.Near} }, recall.Inconclusive, gate.Near, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, asked := toTheEnd(t, plan, g, row.now)
			if c.Overall != row.overall || row.more != (asked > base) {
				t.Errorf("%s after %d cells (%d in the plan), want %s\n%s", c.Overall, asked, base, row.overall, c.Gate.Sentence)
			}
			for _, f := range c.Gate.Families {
				if f.Family == row.family && f.Standing != row.overall {
					t.Errorf("%s: want %s", f.Sentence, row.overall)
				}
				if !strings.Contains(f.Sentence, string(f.Standing)) {
					t.Errorf("the sentence %q does not say %q", f.Sentence, f.Standing)
				}
			}
		})
	}
}

// Two lost cells by chance cost more questions and no verdict.
func TestTwoLostCellsAskForMore(t *testing.T) {
	plan, blessed := whole(t)
	g := goldenBy(t, blessed, repeats(blessed, func(int, recall.Cell) fake { return fake{} }), recall.Blessing{
		Reason: "test",
		Source: "s",
	})
	order := slices.DeleteFunc(slices.Clone(plan.Order), func(s gate.Slot) bool { return s.Family != gate.Far })
	c, asked := toTheEnd(t, plan, g, func(c recall.Cell) fake {
		return fake{miss: c.ID == order[3].ID || c.ID == order[17].ID}
	})
	if c.Recall != recall.Held || asked <= len(plan.Cells) {
		t.Errorf("%s after %d cells, want held after more than %d\n%s", c.Recall, asked, len(plan.Cells), c.Gate.Sentence)
	}
}

// Each refusal with the blessing beside it that is accepted.
func TestBlessRefuses(t *testing.T) {
	p, err := recall.NewPlan(recall.Smoke, 8192)
	require.NoError(t, err)
	p = p.Whole(recall.Smoke)
	flips := func(percent uint64) func(int, recall.Cell) fake {
		return func(r int, c recall.Cell) fake {
			return fake{miss: r == 1 && c.Gate == gate.Near && share(c, percent)}
		}
	}
	weak := func(percent uint64) func(int, recall.Cell) fake {
		return func(_ int, c recall.Cell) fake { return fake{miss: c.Gate == gate.Far && share(c, percent)} }
	}
	still := func(int, recall.Cell) fake { return fake{} }
	for name, row := range map[string]struct {
		behave func(int, recall.Cell) fake
		reason string
		ci     bool
		rule   string // empty: accepted
	}{
		"accepted":         {still, "new build", false, ""},
		"no-reason":        {still, "  ", false, "reason"},
		"in-ci":            {still, "new build", true, "ci"},
		"a-third-unstable": {flips(33), "new build", false, "unstable"},
		"few-unstable":     {flips(5), "new build", false, ""},
		"below-the-floor":  {weak(75), "new build", false, "floor"},
		"weak-but-steady":  {weak(25), "new build", false, ""},
		"a-hole": {
			func(r int, c recall.Cell) fake { return fake{gap: r == 2 && c.Gate == gate.Far && share(c, 5)} }, "new build",
			false, "unmeasured",
		},
		"luck-in-the-last-repeat": {
			func(r int, c recall.Cell) fake { return fake{miss: r == 3 && share(c, 60)} }, "new build", false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := recall.Bless(p, repeats(p, row.behave), recall.Blessing{
				Reason: row.reason,
				CI:     row.ci,
				Source: "s",
			})
			refusal, refused := errors.AsType[*gate.RefusalError](err)
			switch {
			case row.rule == "" && err != nil:
				t.Errorf("refused: %v", err)
			case row.rule != "" && (!refused || refusal.Rule != row.rule):
				t.Errorf("got %v, want a refusal by the rule %q", err, row.rule)
			}
		})
	}
	if _, _, err := recall.Bless(p, repeats(p, still)[:3], recall.Blessing{Reason: "r"}); err == nil {
		t.Error("three repeats made a golden")
	}
}

// A golden keeps every repeat, its reason and the server's fingerprint; without proof of hits it has no cache family.
func TestWhatAGoldenKeeps(t *testing.T) {
	_, p := whole(t)
	server := recall.Server{
		Kind:    "sglang",
		Version: "0.5",
		Hash:    "ab",
		Fields:  []endpoint.Field{{Name: "server_info.tp", Value: "4"}},
	}
	runs := repeats(p, func(r int, c recall.Cell) fake {
		return fake{shift: float64(r) / 100, cold: c.Arm == "warm" && share(c, 50)}
	})
	cases, left, err := recall.Bless(p, runs, recall.Blessing{Reason: "first", Server: server, Source: "s"})
	require.NoError(t, err)
	if !strings.Contains(left, "without proof of a cache hit") {
		t.Errorf("half of the warm answers were cold, and bless says %q", left)
	}
	raw, err := json.Marshal(cases)
	require.NoError(t, err)
	var back map[string]any
	require.NoError(t, json.Unmarshal(raw, &back))
	g, err := recall.ParseGolden("fidelity/x", back)
	require.NoError(t, err)
	var families []gate.Family
	for _, b := range g.Gate {
		families = append(families, b.Family)
	}
	if !slices.Equal(families, []gate.Family{gate.Far, gate.Near, gate.Concurrency}) || g.Reason != "first" ||
		g.Suite == "" {
		t.Errorf("families %v, reason %q, suite %q", families, g.Reason, g.Suite)
	}
	now := recall.Server{Hash: "cd", Fields: []endpoint.Field{{Name: "server_info.tp", Value: "8"}}}
	if d := g.Server.Differences(now); !slices.Equal(d, []string{`server_info.tp: "4", then "8"`}) {
		t.Errorf("differences of the servers: %q", d)
	}
	c := g.Cells["fidelity/recall/len-1024/depth-0.50"]
	if len(c.Before) != 3 || *c.Before[1].Margin != 10.01 || c.Before[2].Class != "exact" ||
		c.Positions[0].Margin != 10.03 {
		t.Errorf("repeats 1 to 3 and the baseline: %+v, %+v", c.Before, c.Positions)
	}
}
