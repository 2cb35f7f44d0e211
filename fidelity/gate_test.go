package fidelity_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/suite"
)

// fake is what a scripted run does at a cell, the i-th of its plan.
type fake struct {
	miss  bool
	shift float64 // of every margin and log-probability
	class string  // instead of exact / invented
	gap   bool    // not measured
	other bool    // other prompt bytes
	warm  string  // answer of a warm cell instead of the cold one's
	cold  bool    // a warm cell without a hit
}

func standard(t testing.TB) fidelity.Plan {
	t.Helper()
	p, err := fidelity.NewPlan(fidelity.Standard, 0)
	require.NoError(t, err)
	return p
}

// script makes observations of a plan; behave says what each cell does.
func script(p fidelity.Plan, behave func(i int, c fidelity.Cell) fake) []fidelity.Observation {
	var out []fidelity.Observation
	for i, c := range p.Cells {
		f := behave(i, c)
		o := fidelity.Observation{
			Cell: c, Class: "exact", Hit: true, Measured: true, Formed: true, Expected: "48213", Answer: "48213",
			PromptSHA: "0123456789abcdef", Tokens: endpoint.Count{N: c.Tokens, Known: true}, Cached: endpoint.Count{Known: true},
		}
		if c.Arm == "warm" && !f.cold {
			o.Cached.N = 64
		}
		if f.miss {
			o.Class, o.Hit, o.Answer = "invented", false, "11111"
		}
		if f.class != "" {
			o.Class = f.class
		}
		if f.gap {
			o.Class, o.Measured, o.Hit = "unmeasured", false, false
		}
		if f.other {
			o.PromptSHA = "fedcba9876543210"
		}
		if f.warm != "" {
			o.Answer = f.warm
		}
		for _, digit := range "48213" {
			o.Positions = append(o.Positions, fidelity.Position{Token: string(digit), Margin: 10 + f.shift, Top: []float64{-0.0001, -10 - f.shift, -11 - f.shift}})
			if f.miss {
				o.Positions[0].Margin = -2
				break
			}
		}
		out = append(out, o)
	}
	return out
}

func healthy(int, fidelity.Cell) fake { return fake{} }

func goldenOf(t testing.TB, obs []fidelity.Observation, noise fidelity.Noise) *fidelity.Golden {
	t.Helper()
	cases, err := fidelity.GoldenCases(obs, noise)
	require.NoError(t, err)
	raw, err := json.Marshal(cases) // as a golden file holds it
	require.NoError(t, err)
	var back map[string]any
	require.NoError(t, json.Unmarshal(raw, &back))
	g, err := fidelity.ParseGolden("fidelity/test", back)
	require.NoError(t, err)
	return g
}

// first makes the first n cells of the plan behave as f.
func first(n int, f fake) func(int, fidelity.Cell) fake {
	return func(i int, _ fidelity.Cell) fake {
		if i < n {
			return f
		}
		return fake{}
	}
}

// The expected p are McNemar's closed form 2^-n for n losses and no win; the shifts are the fault table of docs/sources.md.
func TestGoldenGate(t *testing.T) {
	plan := standard(t)
	exact := fidelity.Noise{Repeats: 2}
	for name, row := range map[string]struct {
		now                      func(int, fidelity.Cell) fake
		noise                    fidelity.Noise
		recall, margins, overall fidelity.Standing
		lost                     int
		p                        float64
	}{
		"unchanged":                {healthy, exact, fidelity.Held, fidelity.Held, fidelity.Held, 0, 1},
		"fp32-noise":               {first(79, fake{shift: 2e-5}), exact, fidelity.Held, fidelity.Held, fidelity.Held, 0, 1},
		"benign-reordering":        {first(79, fake{shift: -1e-4}), exact, fidelity.Held, fidelity.Held, fidelity.Held, 0, 1},
		"mhc-bf16":                 {first(79, fake{shift: 0.0028}), exact, fidelity.Held, fidelity.Regressed, fidelity.Regressed, 0, 1},
		"window-one-short":         {first(79, fake{shift: -0.008}), exact, fidelity.Held, fidelity.Regressed, fidelity.Regressed, 0, 1},
		"v-scale":                  {first(79, fake{shift: 0.043}), exact, fidelity.Held, fidelity.Regressed, fidelity.Regressed, 0, 1},
		"one-column-moves":         {first(5, fake{shift: 0.05}), exact, fidelity.Held, fidelity.Regressed, fidelity.Regressed, 0, 1},
		"a-tie-falls-elsewhere":    {first(1, fake{shift: 0.5}), exact, fidelity.Held, fidelity.Inconclusive, fidelity.Inconclusive, 0, 1},
		"noisy-server":             {first(79, fake{shift: 0.02}), fidelity.Noise{Nats: 0.01, Repeats: 3}, fidelity.Held, fidelity.Held, fidelity.Held, 0, 1},
		"noisy-server-and-a-fault": {first(79, fake{shift: 0.05}), fidelity.Noise{Nats: 0.01, Repeats: 3}, fidelity.Held, fidelity.Regressed, fidelity.Regressed, 0, 1},
		"six-lost":                 {first(6, fake{miss: true}), fidelity.Noise{Nats: 10, Repeats: 3}, fidelity.Inconclusive, fidelity.Held, fidelity.Inconclusive, 6, 1. / 64},
		"seven-lost":               {first(7, fake{miss: true}), fidelity.Noise{Nats: 10, Repeats: 3}, fidelity.Regressed, fidelity.Held, fidelity.Regressed, 7, 1. / 128},
		"unmeasured-beyond-5-pct":  {first(5, fake{gap: true}), exact, fidelity.Held, fidelity.Held, fidelity.Inconclusive, 0, 1},
		"unmeasured-within-5-pct":  {first(3, fake{gap: true}), exact, fidelity.Held, fidelity.Held, fidelity.Held, 0, 1},
		"other-prompts-pair-not":   {first(79, fake{other: true}), exact, fidelity.Absent, fidelity.Absent, fidelity.Absent, 0, 1},
		"gaps-hide-no-fault":       {func(i int, _ fidelity.Cell) fake { return fake{gap: i < 40, shift: 0.05} }, exact, fidelity.Held, fidelity.Regressed, fidelity.Regressed, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := fidelity.Compare(script(plan, row.now), goldenOf(t, script(plan, healthy), row.noise))
			require.NoError(t, err)
			if c.Overall != row.overall || c.Margins != row.margins || c.Recall != row.recall {
				t.Errorf("recall %s, margins %s, overall %s; want %s, %s, %s\n%s", c.Recall, c.Margins, c.Overall, row.recall, row.margins, row.overall, c)
			}
			if len(c.Lost) != row.lost || math.Abs(c.P-row.p) > 1e-12 {
				t.Errorf("%d lost with p %g, want %d with %g", len(c.Lost), c.P, row.lost, row.p)
			}
		})
	}
}

// Cells that the golden missed too are no losses, and what is found now is won.
func TestGoldenGateCountsPairs(t *testing.T) {
	plan := standard(t)
	was := script(plan, first(10, fake{miss: true}))
	c, err := fidelity.Compare(script(plan, first(4, fake{miss: true})), goldenOf(t, was, fidelity.Noise{Repeats: 2}))
	require.NoError(t, err)
	if len(c.Lost) != 0 || len(c.Won) != 6 || c.Hits != 69 || c.Pairs != 79 {
		t.Errorf("%d lost, %d won, %d golden hits of %d pairs; want 0, 6, 69 of 79", len(c.Lost), len(c.Won), c.Hits, c.Pairs)
	}
	if c.Recall == fidelity.Regressed {
		t.Errorf("recall improved and is %s", c.Recall)
	}
}

// Positions after a wrong digit have another context and are not compared.
func TestShiftStopsAtTheFirstWrongDigit(t *testing.T) {
	plan := standard(t).Only(func(c fidelity.Cell) bool { return c.ID == "fidelity/recall/len-128/depth-0.00" })
	now := script(plan, healthy)
	now[0].Positions = now[0].Positions[:1]
	now[0].Positions[0].Margin = -3
	c, err := fidelity.Compare(now, goldenOf(t, script(plan, healthy), fidelity.Noise{}))
	require.NoError(t, err)
	if len(c.Shifts) != 1 || c.Shifts[0].Margin != 13 {
		t.Errorf("shifts %+v: want one of 13 nats, from 10 to -3", c.Shifts)
	}
}

func TestNoiseIsBetweenRepeats(t *testing.T) {
	plan := standard(t)
	run := func(s float64) []fidelity.Observation { return script(plan, first(79, fake{shift: s})) }
	n := fidelity.NoiseOf([][]fidelity.Observation{run(0), run(0.01), run(-0.02)}, "test")
	if math.Abs(n.Nats-0.02) > 1e-12 || n.Repeats != 3 {
		t.Errorf("noise %+v, want 0.02 nat over 3 repeats", n)
	}
	if n := fidelity.NoiseOf([][]fidelity.Observation{run(0)}, "test"); n.Nats != 0 || n.Repeats != 1 {
		t.Errorf("one run tells nothing of noise, got %+v", n)
	}
}

func TestGoldenRoundTripAndRefusal(t *testing.T) {
	plan := standard(t)
	obs := script(plan, first(1, fake{miss: true}))
	obs[0].Positions[0].AtMost = true
	obs[1].Positions[0].Token = "\"\\ \u00e9"
	g := goldenOf(t, obs, fidelity.Noise{Nats: 0.5, Repeats: 3, Source: "s"})
	want := map[string]fidelity.GoldenCell{}
	for _, o := range obs {
		want[o.Cell.ID] = fidelity.Keep(o)
	}
	if d := cmp.Diff(want, g.Cells); d != "" {
		t.Errorf("cells (-want +got):\n%s", d)
	}
	if g.Noise != (fidelity.Noise{Nats: 0.5, Repeats: 3, Source: "s"}) {
		t.Errorf("noise %+v", g.Noise)
	}
	if _, err := fidelity.GoldenCases(script(plan, first(1, fake{gap: true})), fidelity.Noise{}); err == nil || !strings.Contains(err.Error(), plan.Cells[0].ID) {
		t.Errorf("a golden with a hole must be refused by name, got %v", err)
	}
	for _, bad := range []string{`"4 =1 : 2"`, `"\"4\" =x : 2"`, `"\"4\" =1 : two"`, `"\"4\" =1"`, `7`, `"\"4 =1 : 2"`} {
		var p fidelity.Position
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("position %s was read as %+v", bad, p)
		}
	}
}

// What the run amounts to: codes and the words of the verdict line.
func TestVerdicts(t *testing.T) {
	plan := standard(t)
	recorded := fidelity.Noise{Repeats: 2}
	lateLost := func(_ int, c fidelity.Cell) fake { return fake{miss: c.Tokens >= 512 && c.Arm != "repeat"} }
	for name, row := range map[string]struct {
		now    func(int, fidelity.Cell) fake
		golden bool
		code   suite.Code
		words  string
	}{
		"healthy":                   {healthy, true, suite.Pass, "no fault found"},
		"healthy-no-golden":         {healthy, false, suite.Pass, "no fault found, no golden"},
		"one-miss-no-golden":        {first(1, fake{miss: true}), false, suite.Pass, "no fault found, no golden"},
		"far-lost":                  {lateLost, true, suite.Regression, "REGRESSED  recall: "},
		"far-lost-no-golden":        {lateLost, false, suite.Regression, "fault  recall lost from 512 tokens"},
		"margins-only":              {first(79, fake{shift: 0.05}), true, suite.Regression, "margins moved in 79 of 79 cells, median 0.05 nat (allowed 0.001); no needle lost"},
		"warm-differs":              {func(_ int, c fidelity.Cell) fake { return fake{warm: map[string]string{"warm": "1"}[c.Arm]} }, true, suite.Regression, "fault  warm differs from cold in 12 of 12 pairs"},
		"no-hits":                   {func(_ int, c fidelity.Cell) fake { return fake{cold: c.Arm == "warm"} }, true, suite.Inconclusive, "warm arm without hits"},
		"request-failed":            {first(1, fake{class: "error", gap: false}), true, suite.ToolError, "engine error: 1 requests failed"},
		"half-unmeasured":           {first(40, fake{gap: true}), true, suite.Inconclusive, "40 cells unmeasured"},
		"half-unmeasured-no-golden": {first(40, fake{gap: true}), false, suite.Inconclusive, "40 of 79 cells unmeasured"},
		"nothing-measured":          {first(79, fake{gap: true}), false, suite.Inconclusive, "nothing was measured on the grid"},
		"tie":                       {first(1, fake{shift: 0.3}), true, suite.Inconclusive, "a tie that fell the other way"},
		"other-prompts":             {first(79, fake{other: true}), true, suite.Pass, "no fault found, no golden"},
	} {
		t.Run(name, func(t *testing.T) {
			var g *fidelity.Golden
			if row.golden {
				g = goldenOf(t, script(plan, healthy), recorded)
			}
			j, err := fidelity.Judge(plan, script(plan, row.now), g, true, true)
			require.NoError(t, err)
			if j.Code != row.code || !strings.Contains(j.Verdict, row.words) {
				t.Errorf("code %d, %q; want %d with %q", j.Code, j.Verdict, row.code, row.words)
			}
		})
	}
}

func ExampleSlug() {
	fmt.Println(fidelity.Slug("deepseek-ai/DeepSeek-V4 Flash"), fidelity.Slug("///"))
	// Output: deepseek-ai-deepseek-v4-flash unnamed
}
