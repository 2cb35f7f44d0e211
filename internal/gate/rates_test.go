package gate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/stat"
)

const (
	family    = "fidelity/gate-simulation"
	fullRuns  = 2000
	sliceRuns = 20
)

// unchanged are servers to which nothing happened; faulty ones lost 20 points of far recall, or half a nat of margin.
func unchanged() []scenario {
	var out []scenario
	for _, kind := range []string{coin, weak, mixed} {
		for _, missing := range []float64{0.02, 0.05, 0.10, 0.20} {
			for _, forced := range []bool{false, true} {
				out = append(out, scenario{kind: kind, missing: missing, budget: "standard", forced: forced})
			}
		}
	}
	for _, missing := range []float64{0.02, 0.05, 0.10, 0.20} {
		out = append(out,
			scenario{kind: coin, missing: missing, budget: "smoke", forced: true},
			scenario{kind: coin, missing: missing, budget: "full", forced: true},
			scenario{kind: weak, missing: missing, budget: "standard", margins: true})
	}
	return append(out,
		scenario{kind: weak, missing: 0.02, budget: "standard", margins: true, shift: 0.05})
}

func faulty() []scenario {
	var out []scenario
	for _, missing := range []float64{0, 0.02, 0.05, 0.10, 0.20} {
		out = append(out,
			scenario{kind: weak, missing: missing, budget: "standard", drop: 0.20},
			scenario{kind: weak, missing: missing, budget: "standard", drop: 0.20, margins: true},
			scenario{kind: mixed, missing: max(missing, 0.01), budget: "standard", drop: 0.20})
	}
	return append(out,
		scenario{kind: weak, missing: 0.02, budget: "standard", margins: true, shift: 0.5},
		scenario{kind: weak, missing: 0.02, budget: "smoke", drop: 0.50})
}

// informative are rates that no bar is about: what a reserve is worth, smaller drops, and servers whose answers are
// coins, which bless refuses from 5 % on.
func informative() []scenario {
	out := []scenario{
		{kind: weak, missing: 0, budget: "standard", drop: 0.20, scant: true},
		{kind: weak, missing: 0.02, budget: "standard", drop: 0.10},
		{kind: weak, missing: 0.02, budget: "standard", drop: 0.05},
		{kind: weak, missing: 0.02, budget: "smoke", drop: 0.20},
		{kind: weak, missing: 0.02, budget: "full", drop: 0.20},
	}
	for _, missing := range []float64{0.02, 0.05, 0.10, 0.20} {
		out = append(out, scenario{kind: coin, missing: missing, budget: "standard", forced: true, drop: 0.20})
	}
	return out
}

func caseID(s scenario, runs int) string { return fmt.Sprintf("%s/runs-%d", s.id(), runs) }

// TestGateRates holds the bars to the committed rates of 2,000 simulations each, and runs a fixed slice of the
// simulations again (all of them under ASSAY_BUDGET=full), compared exactly: counts have no tolerance.
func TestGateRates(t *testing.T) {
	sizes := []int{sliceRuns}
	if budget, _ := os.LookupEnv("ASSAY_BUDGET"); budget == "full" {
		sizes = append(sizes, fullRuns)
	}
	doc := golden.Doc{Provenance: golden.Provenance{
		Generator: "gate_test.TestGateRates",
		Seed:      "math/rand/v2 PCG(FNV-1a-64 of the scenario, run)",
		Source:    "simulated servers: chances to miss by a coin, a fixed share of lost cells, or a beta law",
		Model:     "none: simulated answers",
	}, Cases: map[string]any{}}
	var ids []string
	for _, s := range slices.Concat(unchanged(), faulty(), informative()) {
		ids = append(ids, caseID(s, sliceRuns), caseID(s, fullRuns))
		for _, runs := range sizes {
			doc.Cases[caseID(s, runs)] = s.run(t, runs)
		}
	}
	golden.Assert(t, family, doc, golden.Rules{})
	golden.Orphans(t, family, ids)

	file, err := golden.Read(family)
	require.NoError(t, err)
	recorded := func(s scenario) tally {
		raw, err := json.Marshal(file.Cases[caseID(s, fullRuns)])
		require.NoError(t, err)
		var out tally
		require.NoError(t, json.Unmarshal(raw, &out))
		require.Equal(t, fullRuns, out.Runs, "%s: run it with ASSAY_BUDGET=full and -update", caseID(s, fullRuns))
		return out
	}
	for _, s := range unchanged() {
		if c := recorded(s); float64(c.Regressed) > gate.DefaultPolicy().Alpha*float64(c.Runs) {
			t.Errorf("%s: an unchanged server is called regressed in %d of %d runs, at most 1 %% may", s.id(), c.Regressed,
				c.Runs)
		}
	}
	for _, s := range faulty() {
		c := recorded(s)
		if blessed := c.Runs - c.Refused; blessed == 0 || float64(c.Regressed) < 0.8*float64(blessed) {
			t.Errorf("%s: caught in %d of %d runs that had a golden, want 80 %%", s.id(), c.Regressed, blessed)
		}
	}
}

// The planted fault: pairing with a repeat that chose the stable cells selects for its luck.
func TestPairingWithAChoosingRepeatAlarms(t *testing.T) {
	for _, missing := range []float64{0.10, 0.20} {
		s := scenario{kind: coin, missing: missing, budget: "full", forced: true}
		sound := s.run(t, 100)
		s.lucky = true
		if c := s.run(t, 100); c.Regressed < 60 || sound.Regressed > 4 {
			t.Errorf("missing %v: %d of 100 alarms with the lucky baseline, %d with the sound one", missing, c.Regressed,
				sound.Regressed)
		}
	}
}

// A permutation test alone flags a shift that means nothing; the practical margin does not let it through. The share is
// that of a one-sided test of 132 normal differences of sd 0.05 shifted by 0.01: Phi(0.01/0.05 sqrt(132) - 1.645).
func TestHarmlessShiftNeedsAPracticalMargin(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const runs, pairs = 300, 132
	flagged := 0
	for range runs {
		d := make([]float64, pairs)
		for i := range d {
			d[i] = 0.01 + 0.05*rng.NormFloat64()
		}
		p, err := stat.PairedPermutation(d, stat.Greater, stat.Resampling{Draws: 999, Seed: rng.Uint64()})
		require.NoError(t, err)
		if p.P < 0.05 {
			flagged++
		}
	}
	want := 0.5 * math.Erfc(-(0.01/0.05*math.Sqrt(pairs)-1.6449)/math.Sqrt2)
	// Four standard errors of 300 runs: 4 sqrt(0.74 x 0.26 / 300) = 0.101.
	if got := float64(flagged) / runs; !stat.WithinAbs(got, want, 0.101) {
		t.Errorf("the test alone flags %.2f of harmless shifts, want %.2f", got, want)
	}
	s := scenario{kind: weak, missing: 0.02, budget: "full", margins: true, shift: 0.1}
	if c := s.run(t, 40); c.Regressed != 0 {
		t.Errorf("the gate calls a shift of 0.1 nat a regression in %d of %d runs", c.Regressed, c.Runs)
	}
}
