package numerics_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// The relative and bias gates MUST see faults that lie inside the certain bound, name themselves, and accept the
// correct variants beside them.
func TestCalibratedGates(t *testing.T) {
	rng := suite.Rand("numerics/calibrated-gates")
	c := kernel(format.BF16, format.RN, format.FP32, numerics.FP32Any())
	c.Name = "bf16 in, fp32 accumulate, fp32 out"
	s, x, w := gemmSpecimen(t, rng, c, 64, 64, 512, false)
	noisy := func(amount float64) []float64 {
		return mapped(s.trial.Got, func(v float64) float64 { return v + amount*rng.NormFloat64() })
	}
	tensorCore := c
	tensorCore.Acc = numerics.HopperBF16()
	pairwise := c
	pairwise.Acc = numerics.Accumulator{Result: 23, Order: numerics.Pairwise}
	bf16 := bf16Out(format.BF16)
	out, _, _ := gemmSpecimen(t, suite.Rand("numerics/calibrated-gates/out"), bf16, 64, 64, 512, false)
	for _, row := range []struct {
		name string
		base numerics.Trial
		c    numerics.Contract
		got  []float64
		gate numerics.Gate
	}{
		{"another order", s.trial, c, s.trial.Got, numerics.None},
		{"pairwise, better than the ensemble", s.trial, c, under(t, pairwise, x, w, 64, 64, 512), numerics.None},
		{
			"exact, better than everything", s.trial, c, mapped(s.trial.Want, func(v float64) float64 {
				return float64(float32(v))
			}), numerics.None,
		},
		{
			"a truncating tensor core, inside the fp32 bound", s.trial, c, under(t, tensorCore, x, w, 64, 64, 512),
			numerics.Relative,
		},
		{"noise a few times the sum's", s.trial, c, noisy(1e-5), numerics.Relative},
		{"bf16 output", out.trial, bf16, out.trial.Got, numerics.None},
		{"bf16 output, all up by 0.05 ulp before rounding", out.trial, bf16, mapped(out.trial.Want, func(v float64) float64 {
			return format.BF16.RoundTo(v+0.05*format.BF16.Ulp(v), format.RN, format.Overflow)
		}), numerics.Bias},
		{
			"bf16 output, all smaller by 0.05 ulp before rounding", out.trial, bf16,
			mapped(out.trial.Want, func(v float64) float64 {
				return format.BF16.RoundTo(v-math.Copysign(0.05*format.BF16.Ulp(v), v), format.RN, format.Overflow)
			}), numerics.Bias,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			tr := row.base
			tr.Got = row.got
			tr.Martingale = nil
			// the certain bound must not decide, nor the martingale's
			tr.Bound = mapped(tr.Bound, func(v float64) float64 { return 2 * v })
			v := numerics.Judge(tr, row.c)
			if v.Gate != row.gate || v.Accepted != (row.gate == numerics.None) {
				t.Errorf("got %v; relative %+v, bias %+v", v, v.Relative, v.Magnified)
			}
			if strings.Contains(row.name, "smaller") &&
				(len(v.Cause) == 0 || !slices.ContainsFunc(v.Cause, func(c numerics.Cause) bool {
					return c.Name == "truncation"
				})) {
				t.Errorf("causes %v do not name truncation", v.Cause)
			}
		})
	}
	bad := s.trial
	bad.Ensemble = bad.Ensemble[:8]
	if v := numerics.Judge(bad, c); v.Accepted || v.Gate != numerics.Structure {
		t.Errorf("8 reorderings calibrate: %v", v)
	}
	bad = s.trial
	bad.Risk = 2
	if v := numerics.Judge(bad, c); v.Accepted {
		t.Errorf("a risk of 2 is accepted: %v", v)
	}
}

// A choice MUST be accepted exactly if some rounding of the scores within their bounds could have made it.
func TestSelectionGate(t *testing.T) {
	scores := []float64{5, 4, 4, 3, 2, 1}
	eps := []float64{0, 0, 0, 0.6, 0.6, 0}
	no5 := []bool{true, true, true, true, true, false}
	for _, row := range []struct {
		name     string
		s        numerics.Selection
		tieBreak string
		reason   string // part of it; empty: accepted
	}{
		{"exact", numerics.Selection{Scores: scores, K: 3, Chosen: []int{2, 0, 1}}, "", ""},
		{"a tie either way", numerics.Selection{Scores: scores, K: 2, Chosen: []int{0, 2}}, "", ""},
		{"a tie by lowest index", numerics.Selection{Scores: scores, K: 2, Chosen: []int{0, 1}}, "lowest-index", ""},
		{
			"a tie against the contract",
			numerics.Selection{Scores: scores, K: 2, Chosen: []int{0, 2}},
			"lowest-index",
			"breaks ties",
		},
		{"a tie by highest index", numerics.Selection{Scores: scores, K: 2, Chosen: []int{0, 2}}, "highest-index", ""},
		{"wrong by far", numerics.Selection{Scores: scores, K: 2, Chosen: []int{0, 4}}, "", "bounds do not meet"},
		{"wrong, within the bounds", numerics.Selection{Scores: scores, Eps: eps, K: 4, Chosen: []int{0, 1, 2, 4}}, "", ""},
		{
			"wrong, beyond the bounds",
			numerics.Selection{Scores: scores, Eps: eps, K: 4, Chosen: []int{0, 1, 2, 5}},
			"",
			"bounds do not meet",
		},
		{"the best missing", numerics.Selection{Scores: scores, K: 3, Chosen: []int{1, 2, 3}}, "", "bounds do not meet"},
		{"twice", numerics.Selection{Scores: scores, K: 2, Chosen: []int{0, 0}}, "", "twice"},
		{"out of range", numerics.Selection{Scores: scores, K: 2, Chosen: []int{0, 6}}, "", "outside"},
		{"not valid", numerics.Selection{Scores: scores, Valid: no5, K: 6, Chosen: []int{0, 1, 2, 3, 5}}, "", "not a valid"},
		{"fewer valid than k", numerics.Selection{Scores: scores, Valid: no5, K: 6, Chosen: []int{0, 1, 2, 3, 4}}, "", ""},
		{"one short", numerics.Selection{Scores: scores, K: 3, Chosen: []int{0, 1}}, "", "2 indices"},
		{
			"a NaN score chosen",
			numerics.Selection{Scores: []float64{1, math.NaN()}, K: 1, Chosen: []int{1}},
			"",
			"bounds do not meet",
		},
		{"bounds missing", numerics.Selection{Scores: scores, Eps: eps[:2], K: 1, Chosen: []int{0}}, "", "2 bounds"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := numerics.Contract{Name: "top-k"}
			c.Special.TieBreak = row.tieBreak
			v := numerics.Judge(numerics.Trial{Shape: []int{0}, Selections: []numerics.Selection{row.s}}, c)
			if v.Accepted != (row.reason == "") ||
				!v.Accepted && (v.Gate != numerics.Selecting || !strings.Contains(v.Reason, row.reason)) {
				t.Errorf("got %v, want %q", v, row.reason)
			}
		})
	}
	l := numerics.Selection{Scores: scores, Eps: eps, K: 3, Chosen: []int{0, 1, 3}}.Measure(2)
	if l.Jaccard != 0.5 || l.Regret != 1 || l.Rank != 3 || !(l.LostMass > 0.17 && l.LostMass < 0.2) {
		t.Errorf("loss %+v, want Jaccard 1/2, regret 1, rank 3 and the mass e^4/Σe^s = 0.19", l)
	}
}

// Every admissible choice of noisy scores MUST be accepted, as strict set equality does not: 83 of 200 such rows fail
// there at a relative noise of 1e-3 (kernel-test practice).
func TestSelectionAcceptsEveryNoisyChoice(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	strict := 0
	for range 200 {
		s := numerics.Selection{K: 64}
		noisy := make([]float64, 1024)
		order := make([]int, 1024)
		for i := range noisy {
			v := rng.NormFloat64()
			e := 1e-3 * math.Abs(v)
			s.Scores, s.Eps = append(s.Scores, v), append(s.Eps, e)
			noisy[i], order[i] = v+e*(2*rng.Float64()-1), i
		}
		best := func(by []float64) []int {
			o := slices.Clone(order)
			slices.SortFunc(o, func(a, b int) int { return int(math.Copysign(1, by[b]-by[a])) })
			return slices.Sorted(slices.Values(o[:64]))
		}
		s.Chosen = best(noisy)
		if reason, _ := s.Check(""); reason != "" {
			t.Fatalf("an admissible choice is refused: %s", reason)
		}
		if !slices.Equal(s.Chosen, best(s.Scores)) {
			strict++
		}
	}
	if strict == 0 {
		t.Error("no choice differs from the exact one: the noise shows nothing")
	}
	t.Logf("strict equality refuses %d of 200 correct rows", strict)
}

// Compounding MUST tell a bias, which grows with depth, and a bad layer from unbiased errors that add up.
func TestCompoundingGate(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	curve := func(bias float64, bad int, factor float64) []float64 {
		var s []float64
		walk := make([]float64, 256)
		for l := range 43 {
			var sq float64
			for i := range walk {
				e := rng.NormFloat64() + bias
				if l == bad {
					e += factor * rng.NormFloat64()
				}
				walk[i] += e
				sq += walk[i] * walk[i]
			}
			s = append(s, 1e-3*math.Sqrt(sq/256))
		}
		return s
	}
	var emulated [][]float64
	for range numerics.MinEnsemble {
		emulated = append(emulated, curve(0, -1, 0))
	}
	for _, row := range []struct {
		name   string
		errors []float64
		gate   numerics.Gate
	}{
		{"unbiased", curve(0, -1, 0), numerics.None},
		{"a bias of a third of the noise", curve(0.3, -1, 0), numerics.Compounding},
		{"layer 20 ten times as bad", curve(0, 20, 10), numerics.Compounding},
		{"no curve", nil, numerics.Structure},
		{"an infinite error", []float64{1, math.Inf(1)}, numerics.Structure},
	} {
		v := numerics.Judge(numerics.Trial{
			Shape:       []int{0},
			Compounding: &numerics.Growth{Errors: row.errors, Emulated: emulated},
		}, numerics.Contract{})
		if v.Gate != row.gate {
			t.Errorf("%s: got %v, want gate %q", row.name, v, row.gate)
		}
	}
	if g := numerics.Slope([]float64{1, math.Sqrt2, math.Sqrt(3), 2}); math.Abs(g-0.5) > 1e-12 {
		t.Errorf("errors that grow as the root of depth have slope %v, want 1/2", g)
	}
	if g := numerics.Slope([]float64{3, 6, 9, 12}); math.Abs(g-1) > 1e-12 {
		t.Errorf("errors that grow with depth have slope %v, want 1", g)
	}
}

// A result cut towards zero and one scaled by 0.999 are both a little small; the first cause MUST tell them apart by
// how the error moves within a binade.
func TestTruncationIsNotAScale(t *testing.T) {
	c := bf16Out(format.BF16)
	s, _, _ := gemmSpecimen(t, suite.Rand("numerics/truncation-or-scale"), c, 64, 64, 512, false)
	for want, got := range map[string][]float64{
		"truncation": mapped(s.trial.Want, func(v float64) float64 {
			return format.BF16.RoundTo(v, format.RZ, format.Overflow)
		}),
		"scale": mapped(s.trial.Want, func(v float64) float64 {
			return format.BF16.RoundTo(0.999*v, format.RN, format.Overflow)
		}),
	} {
		tr := s.trial
		tr.Got = got
		if v := numerics.Judge(tr, c); v.Accepted || len(v.Cause) == 0 || v.Cause[0].Name != want {
			t.Errorf("%s: got %v with causes %q", want, v, v.Cause)
		}
	}
}
