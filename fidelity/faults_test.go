package fidelity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/suite"
)

// TestFaults serves nano-v4 with each of the seven faults and wants each reported against the golden, by
// margins, and the first four by lost recall without one. The healthy model on the same cells is the
// correct variant. ASSAY_BUDGET=full asks the whole plan instead of the slice.
func TestFaults(t *testing.T) {
	long(t)
	g, err := readGolden(familyOf("nano-v4"))
	require.NoError(t, err)
	require.NotNil(t, g)

	// The smallest cells that decide: nine short ones against six far ones give Fisher's p = 1/5005 when
	// all of the far are lost, and eight far against five near ones 1/1287.
	recallSlice := func(c recall.Cell) bool {
		far := c.Tokens == 512 && c.Depth <= 0.25
		short := c.Tokens == 128 && c.Repeat == 0
		return c.Arm == recall.Short || c.Family == recall.Recall && (far || short)
	}
	marginSlice := func(c recall.Cell) bool {
		return c.Family == recall.Recall && c.Repeat == 0 && (c.Tokens == 128 || c.Tokens == 512 && c.Depth == 0)
	}
	for _, row := range []struct {
		fault  string
		loses  bool   // recall, so that it shows without a golden
		where  string // of the controls; several where the cells asked decide which is the clearer
		lowest float64
	}{
		{"", false, "", 0},
		{"select-random", true, "length", 0.1},
		{"select-last", true, "length distance", 0.01},
		{"compressor-overlap-dropped", true, "everywhere", 1},
		{"first-half-lost", true, "distance", 0.1},
		{"comb-transposed", false, "", 0.5},
		{"window-one-short", false, "", 0.004},
		{"v-scale-1.02", false, "", 0.02},
	} {
		name := row.fault
		if name == "" {
			name = "none"
		}
		t.Run(name, func(t *testing.T) {
			m, keep, budget := load(t, "nano-v4"), marginSlice, recall.Full
			if row.fault != "" {
				m = faulty(t, row.fault)
			}
			if row.loses || row.fault == "" {
				keep = recallSlice
			}
			if budgetOf() == recall.Full {
				keep, budget = wholePlan, recall.Standard
			}
			plan := planOf(t, budget, keep)
			obs := observe(t, m, "nano-v4", plan)

			with, err := recall.Judge(plan, obs, recall.Context{
				Budget:        recall.Standard,
				Golden:        g,
				Deterministic: true,
				Reported:      true,
			})
			require.NoError(t, err)
			t.Log(with.Golden)
			without, err := recall.Judge(plan, obs, recall.Context{
				Budget:        recall.Standard,
				Deterministic: true,
				Reported:      true,
			})
			require.NoError(t, err)
			t.Log(without.Verdict)

			if row.fault == "" {
				if with.Code != suite.Pass || without.Code != suite.Pass {
					t.Errorf("the healthy model is judged %q with and %q without a golden", with.Verdict, without.Verdict)
				}
				return
			}
			if with.Code != suite.Regression || with.Golden.Margins != recall.Regressed {
				t.Errorf("against the golden: code %d, margins %s, %q", with.Code, with.Golden.Margins, with.Verdict)
			}
			// The medians of docs/sources.md over other prompts, halved: the fault must show in its known size, not by accident.
			if moved := with.Golden.Moved; len(moved) == 0 || moved[len(moved)/2].Size() < row.lowest {
				t.Errorf("the median of the moved cells is under %g nat: %v", row.lowest, moved)
			}
			if row.loses && (without.Code != suite.Regression || !strings.Contains(row.where, without.Controls.Where)) {
				t.Errorf("without a golden: code %d by %q, want a fault by %q: %q", without.Code, without.Controls.Where, row.where,
					without.Verdict)
			}
			if !row.loses && without.Code == suite.Regression {
				t.Errorf("no needle is lost to %s, yet the controls say %q", row.fault, without.Verdict)
			}
		})
	}
}

// TestRepeats holds what the golden's noise of zero rests on: the engine repeats itself to the bit, whatever
// runs beside it.
func TestRepeats(t *testing.T) {
	long(t)
	plan := planOf(t, recall.Standard, func(c recall.Cell) bool {
		return c.Family == recall.Recall && c.Tokens <= 256 && c.Depth == 0.5 || c.Arm == recall.Short
	})
	m := load(t, "nano-v4")
	n := recall.NoiseOf([][]recall.Observation{observe(t, m, "nano-v4", plan), observe(t, m, "nano-v4", plan)}, "test")
	if n.Nats != 0 {
		t.Errorf("two runs differ by %g nat", n.Nats)
	}
}
