package fidelity_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
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
	mute  bool    // without cached_tokens
	// without log-probabilities; with the run's own first words
	silent, nonced bool
}

// only is f where it is to be, and nothing elsewhere.
func (f fake) only(where bool) fake {
	if where {
		return f
	}
	return fake{}
}

// standard is grid, window and cache test of the standard plan: 79 cells.
func standard(t testing.TB) recall.Plan {
	t.Helper()
	p, err := recall.NewPlan(recall.Standard, 0)
	require.NoError(t, err)
	return p.Only(func(c recall.Cell) bool { return !c.Further })
}

// script makes observations of a plan; behave says what each cell does.
func script(p recall.Plan, behave func(i int, c recall.Cell) fake) []recall.Observation {
	var out []recall.Observation
	for i, c := range p.Cells {
		f := behave(i, c)
		o := recall.Observation{
			Cell: c, Nonced: f.nonced,
			Class: "exact", Hit: true, Measured: true, Formed: true, Expected: "48213", Answer: "48213",
			PromptSHA: "0123456789abcdef", Tokens: endpoint.Count{N: c.Tokens, Known: true}, Cached: endpoint.Count{Known: true},
		}
		if c.Arm == "warm" && !f.cold {
			o.Cached.N = 64
		}
		if f.mute {
			o.Cached = endpoint.Count{}
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
			o.Positions = append(o.Positions, recall.Position{
				Token:  string(digit),
				Margin: 10 + f.shift,
				Top:    []float64{-0.0001, -10 - f.shift, -11 - f.shift},
			})
			if f.miss {
				o.Positions[0].Margin = -2
				break
			}
		}
		if f.silent {
			o.Positions = nil
		}
		out = append(out, o)
	}
	return out
}

func healthy(int, recall.Cell) fake { return fake{} }

// goldenOf blesses one run of a plan as that of an exact engine, and reads it back as a file holds it.
func goldenOf(t testing.TB, p recall.Plan, obs []recall.Observation) *recall.Golden {
	t.Helper()
	return goldenBy(t, p, [][]recall.Observation{obs}, recall.Blessing{Reason: "test", Exact: true, Source: "s"})
}

func goldenBy(t testing.TB, p recall.Plan, runs [][]recall.Observation, b recall.Blessing) *recall.Golden {
	t.Helper()
	cases, _, err := recall.Bless(p, runs, b)
	require.NoError(t, err)
	raw, err := json.Marshal(cases)
	require.NoError(t, err)
	var back map[string]any
	require.NoError(t, json.Unmarshal(raw, &back))
	g, err := recall.ParseGolden("fidelity/test/s-standard", back)
	require.NoError(t, err)
	return g
}

func judge(t testing.TB, p recall.Plan, obs []recall.Observation, g *recall.Golden) recall.Comparison {
	t.Helper()
	c, err := recall.Decide(p, obs, recall.Context{Budget: recall.Standard, Golden: g, Reported: true})
	require.NoError(t, err)
	return c
}

// first makes the first n cells of the plan behave as f.
func first(n int, f fake) func(int, recall.Cell) fake {
	return func(i int, _ recall.Cell) fake {
		if i < n {
			return f
		}
		return fake{}
	}
}

// An engine that repeats itself to the bit is held to its numbers. The shifts are the fault table of docs/sources.md.
func TestExactGate(t *testing.T) {
	plan := standard(t)
	g := goldenOf(t, plan, script(plan, healthy))
	for name, row := range map[string]struct {
		now              func(int, recall.Cell) fake
		margins, overall recall.Standing
		lost             int
	}{
		"unchanged":         {healthy, recall.Held, recall.Held, 0},
		"fp32-noise":        {first(79, fake{shift: 2e-5}), recall.Held, recall.Held, 0},
		"benign-reordering": {first(79, fake{shift: -1e-4}), recall.Held, recall.Held, 0},
		"mhc-bf16":          {first(79, fake{shift: 0.0028}), recall.Regressed, recall.Regressed, 0},
		"window-one-short":  {first(79, fake{shift: -0.008}), recall.Regressed, recall.Regressed, 0},
		"v-scale":           {first(79, fake{shift: 0.043}), recall.Regressed, recall.Regressed, 0},
		"one-column-moves":  {first(5, fake{shift: 0.05}), recall.Regressed, recall.Regressed, 0},
		// a server without salts gets cache prompts that begin with this run's words: their numbers are their own
		"other-words-in-front": {
			func(_ int, c recall.Cell) fake { return fake{shift: 0.05, nonced: true}.only(c.Family == recall.Cache) },
			recall.Held, recall.Held, 0,
		},
		"the-same-words-in-front": {
			func(_ int, c recall.Cell) fake { return fake{shift: 0.05}.only(c.Family == recall.Cache) },
			recall.Regressed, recall.Regressed, 0,
		},
		"a-tie-falls-elsewhere":   {first(1, fake{shift: 0.5}), recall.Inconclusive, recall.Inconclusive, 0},
		"six-lost":                {first(6, fake{miss: true}), recall.Regressed, recall.Regressed, 6},
		"unmeasured-beyond-5-pct": {first(5, fake{gap: true}), recall.Held, recall.Inconclusive, 0},
		"unmeasured-within-5-pct": {first(3, fake{gap: true}), recall.Held, recall.Held, 0},
		"other-prompts-pair-not":  {first(79, fake{other: true}), recall.Absent, recall.Absent, 0},
		"gaps-hide-no-fault": {
			func(i int, _ recall.Cell) fake { return fake{gap: i < 40, shift: 0.05} }, recall.Regressed, recall.Regressed,
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := judge(t, plan, script(plan, row.now), g)
			if c.Overall != row.overall || c.Margins != row.margins || len(c.Lost) != row.lost {
				t.Errorf("margins %s, overall %s, %d lost; want %s, %s, %d\n%s", c.Margins, c.Overall, len(c.Lost), row.margins,
					row.overall, row.lost, c)
			}
		})
	}
}

// Cells that the golden missed too are no losses, and what is found now is won.
func TestGoldenGateCountsPairs(t *testing.T) {
	plan := standard(t)
	g := goldenOf(t, plan, script(plan, first(10, fake{miss: true})))
	c := judge(t, plan, script(plan, first(4, fake{miss: true})), g)
	if len(c.Lost) != 0 || len(c.Won) != 6 || c.Hits != 69 || c.Pairs != 79 {
		t.Errorf("%d lost, %d won, %d golden hits of %d pairs; want 0, 6, 69 of 79", len(c.Lost), len(c.Won), c.Hits, c.Pairs)
	}
	if c.Recall == recall.Regressed {
		t.Errorf("recall improved and is %s", c.Recall)
	}
}

// Positions after a wrong digit have another context and are not compared.
func TestShiftStopsAtTheFirstWrongDigit(t *testing.T) {
	plan := standard(t).Only(func(c recall.Cell) bool { return c.ID == "fidelity/recall/len-128/depth-0.00" })
	now := script(plan, healthy)
	now[0].Positions = now[0].Positions[:1]
	now[0].Positions[0].Margin = -3
	c := judge(t, plan, now, goldenOf(t, plan, script(plan, healthy)))
	if len(c.Shifts) != 1 || c.Shifts[0].Margin != 13 {
		t.Errorf("shifts %+v: want one of 13 nats, from 10 to -3", c.Shifts)
	}
}

func TestNoiseIsBetweenRepeats(t *testing.T) {
	plan := standard(t)
	run := func(s float64) []recall.Observation { return script(plan, first(79, fake{shift: s})) }
	n := recall.NoiseOf([][]recall.Observation{run(0), run(0.01), run(-0.02)}, "test")
	if math.Abs(n.Nats-0.02) > 1e-12 || n.Repeats != 3 {
		t.Errorf("noise %+v, want 0.02 nat over 3 repeats", n)
	}
	if n := recall.NoiseOf([][]recall.Observation{run(0)}, "test"); n.Nats != 0 || n.Repeats != 1 {
		t.Errorf("one run tells nothing of noise, got %+v", n)
	}
}

func TestGoldenRoundTrip(t *testing.T) {
	plan := standard(t)
	obs := script(plan, first(1, fake{miss: true}))
	obs[0].Positions[0].AtMost = true
	obs[1].Positions[0].Token = "\"\\ \u00e9"
	want := map[string]recall.GoldenCell{}
	for _, o := range obs {
		want[o.Cell.ID] = recall.Keep(o)
	}
	if d := cmp.Diff(want, goldenOf(t, plan, obs).Cells); d != "" {
		t.Errorf("cells (-want +got):\n%s", d)
	}
	for _, bad := range []string{`"4 =1 : 2"`, `"\"4\" =x : 2"`, `"\"4\" =1 : two"`, `"\"4\" =1"`, `7`, `"\"4 =1 : 2"`} {
		var p recall.Position
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("position %s was read as %+v", bad, p)
		}
	}
	if _, err := recall.ParseGolden("fidelity/old", map[string]any{}); err == nil ||
		!strings.Contains(err.Error(), "bless again") {
		t.Errorf("a golden of an earlier version must be refused with the fix, got %v", err)
	}
}

// What the run amounts to: codes and the words of the verdict line.
func TestVerdicts(t *testing.T) {
	plan := standard(t)
	lateLost := func(_ int, c recall.Cell) fake { return fake{miss: c.Tokens >= 512 && c.Arm != "repeat"} }
	for name, row := range map[string]struct {
		now    func(int, recall.Cell) fake
		golden bool
		code   suite.Code
		words  string
	}{
		"healthy":            {healthy, true, suite.Pass, "no fault found"},
		"healthy-no-golden":  {healthy, false, suite.Pass, "no fault found, no golden"},
		"one-miss-no-golden": {first(1, fake{miss: true}), false, suite.Pass, "no fault found, no golden"},
		"far-lost":           {lateLost, true, suite.Regression, "REGRESSED  far regressed: "},
		"far-lost-no-golden": {lateLost, false, suite.Regression, "fault  recall lost from 512 tokens"},
		"margins-only": {
			first(79, fake{shift: 0.05}), true, suite.Regression, "margins moved in 79 of 79 cells, median 0.05 nat (allowed " +
				"0.001); no needle lost",
		},
		"warm-differs": {
			func(_ int, c recall.Cell) fake { return fake{warm: map[string]string{"warm": "1"}[c.Arm]} }, true,
			suite.Regression, "fault  warm differs from cold in 12 of 12 pairs",
		},
		"no-hits": {
			func(_ int, c recall.Cell) fake { return fake{cold: c.Arm == "warm"} }, true, suite.Inconclusive,
			"warm arm without hits",
		},
		"request-failed": {
			first(1, fake{class: "error", gap: false}), true, suite.ToolError, "engine error: 1 requests failed",
		},
		"half-unmeasured":           {first(40, fake{gap: true}), true, suite.Inconclusive, "40 cells unmeasured"},
		"half-unmeasured-no-golden": {first(40, fake{gap: true}), false, suite.Inconclusive, "40 of 79 cells unmeasured"},
		"nothing-measured": {
			first(79, fake{gap: true}), false, suite.Inconclusive, "nothing was measured on the grid",
		},
		"tie":           {first(1, fake{shift: 0.3}), true, suite.Inconclusive, "a tie that fell the other way"},
		"other-prompts": {first(79, fake{other: true}), true, suite.Pass, "no fault found, no golden"},
		// transformers serve gives no log-probabilities: a golden with margins then holds, or falls, by recall alone
		"no-logprobs": {
			func(int, recall.Cell) fake { return fake{silent: true} }, true, suite.Pass, "no fault found by recall alone: the " +
				"server gives no log-probabilities",
		},
		"no-logprobs-far-lost": {
			func(i int, c recall.Cell) fake { f := lateLost(i, c); f.silent = true; return f }, true, suite.Regression,
			"REGRESSED  far regressed: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var g *recall.Golden
			if row.golden {
				g = goldenOf(t, plan, script(plan, healthy))
			}
			obs := script(plan, row.now)
			j, err := recall.Judge(plan, obs, recall.Context{
				Budget: recall.Standard, Golden: g, Deterministic: true, Reported: true,
				NoLogprobs: strings.HasPrefix(name, "no-logprobs"),
			})
			require.NoError(t, err)
			if j.Code != row.code || !strings.Contains(j.Verdict, row.words) {
				t.Errorf("code %d, %q; want %d with %q", j.Code, j.Verdict, row.code, row.words)
			}
		})
	}
}

func ExampleKey() {
	for _, model := range []string{
		"deepseek-ai/DeepSeek-V4 Flash", "/data/me/nano-v4/", `C:\models\Qwen3-8B.gguf`, "///",
		"/root/.cache/huggingface/hub/models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f249a16976918f6564b8830bc894c89659",
	} {
		fmt.Println(recall.Key(model))
	}
	fmt.Println(recall.GoldenFamilies("/data/nano-v4", "opticks", recall.Smoke)[2:4])
	// Output:
	// deepseek-ai-deepseek-v4-flash
	// nano-v4
	// qwen3-8b
	// unnamed
	// meta-llama-llama-3.1-8b
	// [fidelity/nano-v4/opticks-full fidelity/data-nano-v4/opticks-smoke]
}
