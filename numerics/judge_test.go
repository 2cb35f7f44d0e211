package numerics_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// prefill is a NaN that no arithmetic produces: quiet, with a payload.
var prefill = math.Float64frombits(0x7ff8_0000_dead_beef)

// sample is a correct 8x16 result under an fp32 contract: what every planted fault starts from.
func sample() (numerics.Trial, numerics.Contract) {
	t := numerics.Trial{Shape: []int{8, 16}, Axes: []string{"row", "head"}, Prefill: &prefill, Alpha: 1e-6}
	for i := range 128 {
		w := math.Sin(float64(i)) * math.Exp2(float64(i%5))
		t.Want = append(t.Want, w)
		t.Got = append(t.Got, float64(float32(w)))
		t.Bound = append(t.Bound, 8*numerics.UFP32*math.Abs(w))
		t.Martingale = append(t.Martingale, 4*numerics.UFP32*math.Abs(w))
	}
	t.Want[5], t.Got[5] = math.Inf(-1), math.Inf(-1) // an empty row's LSE
	return t, numerics.Contract{Name: "fp32", Acc: numerics.FP32Any(), Out: format.FP32}
}

// Every gate MUST reject its planted faults, name the place, and accept the correct variants beside them.
func TestJudgeGates(t *testing.T) {
	set := func(i int, v float64) func(*numerics.Trial, *numerics.Contract) {
		return func(tr *numerics.Trial, _ *numerics.Contract) { tr.Got[i] = v }
	}
	each := func(is func(row, head int) bool, f func(float64) float64) func(*numerics.Trial, *numerics.Contract) {
		return func(tr *numerics.Trial, _ *numerics.Contract) {
			for i, g := range tr.Got {
				if is(i/16, i%16) && i != 5 {
					tr.Got[i] = f(g)
				}
			}
		}
	}
	double := func(x float64) float64 { return 2 * x }
	for _, row := range []struct {
		name    string
		plant   func(*numerics.Trial, *numerics.Contract)
		gate    numerics.Gate // None: must be accepted
		pattern string
	}{
		{"correct", func(*numerics.Trial, *numerics.Contract) {}, numerics.None, ""},
		{
			"one element missing", func(tr *numerics.Trial, _ *numerics.Contract) { tr.Got = tr.Got[:127] }, numerics.Structure,
			"",
		},
		{"no bound given", func(tr *numerics.Trial, _ *numerics.Contract) { tr.Bound = nil }, numerics.Structure, ""},
		{
			"a bound that admits everything", func(tr *numerics.Trial, _ *numerics.Contract) { tr.Bound[9] = math.Inf(1) },
			numerics.Structure, "",
		},
		{"one NaN", set(37, math.NaN()), numerics.Structure, "one element"},
		{"-Inf became finite", set(5, -1e30), numerics.Structure, "one element"},
		{"-Inf became +Inf", set(5, math.Inf(1)), numerics.Structure, "one element"},
		{"overflow where the format holds the value", set(40, math.Inf(1)), numerics.Structure, "one element"},
		{
			"last row never written", each(func(r, _ int) bool { return r == 7 }, func(float64) float64 { return prefill }),
			numerics.Structure, "all of row 7",
		},
		{
			"last three rows never written",
			each(func(r, _ int) bool { return r > 4 }, func(float64) float64 { return prefill }), numerics.Structure,
			"all of row 5 to 7",
		},
		{"padding rows may stay unwritten", func(tr *numerics.Trial, c *numerics.Contract) {
			tr.Got[127], tr.Want[127], c.Special.PrefillSeen = prefill, prefill, true
		}, numerics.None, ""},
		{"poison reached the output", func(tr *numerics.Trial, _ *numerics.Contract) {
			tr.Poisoned = slices.Clone(tr.Got)
			tr.Poisoned[50] = math.NaN()
		}, numerics.Structure, "one element"},
		{
			"poison did not reach it", func(tr *numerics.Trial, _ *numerics.Contract) { tr.Poisoned = slices.Clone(tr.Got) },
			numerics.None, "",
		},
		{"rerun differs under a bitwise contract", func(tr *numerics.Trial, c *numerics.Contract) {
			r := slices.Clone(tr.Got)
			r[3] = math.Nextafter(r[3], 9)
			tr.Reruns, c.Tier = [][]float64{r}, numerics.Bitwise
		}, numerics.Structure, "one element"},
		{"rerun differs under a bound contract", func(tr *numerics.Trial, _ *numerics.Contract) {
			tr.Reruns = [][]float64{make([]float64, 128)}
		}, numerics.None, ""},
		{"forbidden NaN that the reference has too", func(tr *numerics.Trial, c *numerics.Contract) {
			tr.Got[8], tr.Want[8], c.Special.NaN = math.NaN(), math.NaN(), "forbidden"
		}, numerics.Structure, "one element"},
		{
			"NaN where NaN is right", func(tr *numerics.Trial, _ *numerics.Contract) {
				tr.Got[8], tr.Want[8] = math.NaN(), math.NaN()
			}, numerics.None, "",
		},
		{"sign of zero lost under keep", func(tr *numerics.Trial, c *numerics.Contract) {
			tr.Got[0], tr.Want[0], c.Special.NegZero = 0, math.Copysign(0, -1), "keep"
		}, numerics.Structure, "one element"},
		{"overflow that the output format allows", func(tr *numerics.Trial, c *numerics.Contract) {
			c.Out = format.FP16
			tr.Got[40], tr.Want[40] = math.Inf(1), 70000
		}, numerics.None, ""},
		{"one row doubled", each(func(r, _ int) bool { return r == 3 }, double), numerics.Bound, "all of row 3"},
		{"one head doubled", each(func(_, h int) bool { return h == 2 }, double), numerics.Bound, "all of head 2"},
		{
			"part of a head doubled", each(func(r, h int) bool { return h == 2 && r%3 == 1 }, double), numerics.Bound,
			"part of head 2",
		},
		{
			"every fourth head off", each(func(r, h int) bool { return h%4 == 1 && (r+h)%3 != 0 }, double), numerics.Bound,
			"head with head mod 4 = 1",
		},
		{"between martingale and certain bound", func(tr *numerics.Trial, _ *numerics.Contract) {
			tr.Got[70] = tr.Want[70] + 0.75*tr.Bound[70]
		}, numerics.Bound, "one element"},
		{"the same without a martingale bound", func(tr *numerics.Trial, _ *numerics.Contract) {
			tr.Got[70], tr.Martingale = tr.Want[70]+0.75*tr.Bound[70], nil
		}, numerics.None, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			tr, c := sample()
			row.plant(&tr, &c)
			v := numerics.Judge(tr, c)
			if v.Gate != row.gate || v.Accepted != (row.gate == numerics.None) {
				t.Fatalf("got gate %q, want %q: %v", v.Gate, row.gate, v)
			}
			if v.Where.Pattern != row.pattern {
				t.Errorf("got pattern %q, want %q", v.Where.Pattern, row.pattern)
			}
			if !v.Accepted && (v.Reason == "" || !strings.Contains(v.String(), v.Reason)) {
				t.Errorf("the verdict's text does not give its reason: %q", v)
			}
		})
	}
}

// A rejection MUST name the factor that explains it, and the emulation that reproduces it.
func TestJudgeCauses(t *testing.T) {
	tr, c := sample()
	for i := range tr.Got {
		tr.Got[i] *= 1.02
	}
	tr.Emulations = []numerics.Emulation{{Name: "fp32", Out: tr.Want}, {Name: "scaled", Out: slices.Clone(tr.Got)}}
	v := numerics.Judge(tr, c)
	if v.Accepted || len(v.Cause) < 2 || v.Cause[0].Name != "scaled" || v.Cause[1].Name != "scale" {
		t.Errorf("a result scaled by 1.02 got %v with causes %v, want the emulation first and the scale second", v, v.Cause)
	}
	if len(v.Explain) != 2 || v.Explain[0].BitEqual != 1 {
		t.Errorf("fits %v: want the reproducing emulation first", v.Explain)
	}
	half := slices.Clone(tr.Want)
	for i := range half {
		if i%2 == 1 {
			half[i] = 0
		}
	}
	tr.Got, tr.Emulations = half, nil
	tr.Got[5] = tr.Want[5]
	if v = numerics.Judge(tr, c); len(v.Cause) == 0 || v.Cause[0].Name != "zeros" {
		t.Errorf("a result with half its elements 0 got causes %v, want zeros first", v.Cause)
	}
}
