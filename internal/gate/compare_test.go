package gate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/stat"
)

func slots(n int) []gate.Slot {
	var out []gate.Slot
	for _, f := range gate.Families() {
		for i := range n {
			out = append(out, gate.Slot{ID: id(f, i), Family: f})
		}
	}
	return out
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name  string
		edit  func(a *gate.Arms)
		want  gate.Standing
		noisy bool
		more  int
	}{
		{"unchanged", func(*gate.Arms) {}, gate.Held, false, 0},
		{"ten lost", func(a *gate.Arms) { answer(a.Now, gate.Far, 0, 11, miss()) }, gate.Regressed, false, 0},
		{"two lost", func(a *gate.Arms) { answer(a.Now, gate.Far, 0, 2, miss()) }, gate.Undecided, false, 40},
		{"A differs from A", func(a *gate.Arms) { answer(a.Again, gate.Far, 0, 30, miss()) }, gate.Inconclusive, true, 0},
		{"A differs from A the other way", func(a *gate.Arms) {
			answer(a.Before, gate.Far, 0, 30, miss())
			answer(a.Now, gate.Far, 0, 30, miss())
		}, gate.Inconclusive, true, 0},
		{"margins fell", func(a *gate.Arms) { answer(a.Now, gate.Near, 0, 40, with(2)) }, gate.Regressed, false, 0},
		{"margins fell, and between the A arms by a third", func(a *gate.Arms) {
			answer(a.Now, gate.Near, 0, 40, with(2.4))
			answer(a.Again, gate.Near, 0, 40, with(2.79))
		}, gate.Held, false, 0},
		{
			"a cell that the A/A arm did not try", func(a *gate.Arms) { delete(a.Again, id(gate.Far, 5)) }, gate.Undecided,
			false, 1,
		},
		{
			"three that the first server did not answer", func(a *gate.Arms) {
				answer(a.Before, gate.Far, 0, 3, gate.Outcome{})
			}, gate.Inconclusive, false, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			arms := gate.Arms{Before: tried(40, with(3)), Again: tried(40, with(3)), Now: tried(40, with(3))}
			c.edit(&arms)
			got, err := gate.Compare(slots(120), true, arms, standard(t), gate.DefaultPolicy())
			require.NoError(t, err)
			if got.Overall != c.want || got.Noisy != c.noisy || len(got.More) != c.more {
				t.Errorf("%s, noisy %v, %d more; want %s, %v, %d", got.Sentence, got.Noisy, len(got.More), c.want, c.noisy, c.more)
			}
		})
	}
	bad := gate.Arms{Before: tried(40, with(math.Inf(1)))}
	if _, err := gate.Compare(slots(40), true, bad, standard(t), gate.DefaultPolicy()); err == nil {
		t.Error("accepts an infinite margin")
	}
	if _, err := gate.Compare(append(slots(40), slots(1)...), true, gate.Arms{}, standard(t), gate.DefaultPolicy()); err ==
		nil {
		t.Error("accepts a cell twice")
	}
}

func TestCompareErrorRateBySimulation(t *testing.T) {
	// Nothing chooses cells here, so every rate of missing is admitted: a coin per answer, cells added as asked for.
	policy := gate.DefaultPolicy()
	policy.Draw = stat.Resampling{Draws: 9999}
	for _, missing := range []float64{0.02, 0.20} {
		rng := rand.New(rand.NewPCG(13, uint64(100*missing)))
		const runs = 150
		alarms := 0
		for range runs {
			arms := gate.Arms{
				Before: map[string]gate.Outcome{},
				Again:  map[string]gate.Outcome{},
				Now:    map[string]gate.Outcome{},
			}
			for {
				c, err := gate.Compare(slots(120), false, arms, standard(t), policy)
				require.NoError(t, err)
				if c.Overall == gate.Regressed {
					alarms++
				}
				if c.Overall != gate.Undecided {
					break
				}
				for _, cell := range c.More {
					for _, arm := range []map[string]gate.Outcome{arms.Before, arms.Again, arms.Now} {
						arm[cell] = gate.Outcome{Measured: true, Hit: rng.Float64() >= missing}
					}
				}
			}
		}
		// At a rate of 0.01 five or more of 150 have a chance of 0.019; the exact bound is TestAddingCellsKeepsAlpha's.
		if alarms > 4 {
			t.Errorf("missing %v: %d false alarms in %d comparisons", missing, alarms, runs)
		}
	}
}
