package needle_test

import (
	"math"
	"testing"

	"github.com/assay-suite/assay/internal/needle"
)

func TestTextMargins(t *testing.T) {
	ln := math.Log
	path := "/srv/amber.cfg"
	for _, c := range []struct {
		name  string
		value string
		steps []needle.Step
		want  []float64
		bound needle.Bound // of the last
		at    int          // step of the first
	}{
		{"piece by piece", path, []needle.Step{
			step(" /", ln(0.7), " `", ln(0.2), "The", ln(0.1)),
			// "srv" and "srv/" and "sr" all go on as the path does; "opt" does not.
			step("srv", ln(0.5), "srv/", ln(0.1), "sr", ln(0.1), "opt", ln(0.25), "mnt", ln(0.05)),
			step("/amber", ln(0.9), "/apple", ln(0.06), ".", ln(0.04)),
			step(".cfg.", ln(0.6), ".cfg", ln(0.2), ".cfgs", ln(0.1), ".json", ln(0.1)),
		}, []float64{ln(0.7 / 0.1), ln(0.7 / 0.25), ln(0.9 / 0.06), ln(0.8 / 0.1)}, needle.Measured, 0},
		{"after words and a quote", "amber kettle", []needle.Step{
			step("It", ln(0.6), "amber", ln(0.4)),
			step(" is", ln(0.9), " was", ln(0.1)),
			step(" \"", ln(0.5), " amber", ln(0.3), " copper", ln(0.2)),
			step("Ġamber", ln(0.8), "Ġapple", ln(0.2)),
			step("▁kettle", ln(0.75), " kettles", ln(0.25)),
		}, []float64{ln(0.8 / 0.2), ln(0.75 / 0.25)}, needle.Measured, 3},
		{"leaves the value", "3f2c-11aa", []needle.Step{
			step("3f", ln(0.9), "9f", ln(0.1)),
			step("3c", ln(0.6), "2c", ln(0.3), "2", ln(0.1)),
			step("-11", ln(0.9), "aa", ln(0.1)),
		}, []float64{ln(0.9 / 0.1), ln(0.4 / 0.6)}, needle.Measured, 0},
		{"none of it", "3f2c-11aa", []needle.Step{
			step("There", ln(0.8), "3", ln(0.2)),
			step(" is", ln(1)),
		}, []float64{ln(0.2 / 0.8)}, needle.Measured, 0},
		{
			"no rival listed", "ab",
			[]needle.Step{step("ab", ln(0.9), "a", ln(0.05))},
			// Unlisted is 0.05 in all and each no likelier than the least listed one.
			[]float64{ln(0.95 / 0.05)},
			needle.AtLeast, 0,
		},
		{
			"right side not listed", "ab",
			[]needle.Step{step("xy", ln(0.9), "x", ln(0.06))},
			[]float64{ln(0.04+1.2e-6) - ln(0.9)},
			needle.AtMost, 0,
		},
	} {
		got := needle.TextMargins(c.steps, c.value)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d margins, want %d: %+v", c.name, len(got), len(c.want), got)
			continue
		}
		for i := range got {
			// listed probabilities sum to one but for roundings of 1e-16
			if !near(got[i].Nats, c.want[i]) {
				t.Errorf("%s, token %d: %v, want %v", c.name, i, got[i].Nats, c.want[i])
			}
			if got[i].Step != c.at+i {
				t.Errorf("%s, token %d: step %d, want %d", c.name, i, got[i].Step, c.at+i)
			}
		}
		if b := got[len(got)-1].Bound; b != c.bound {
			t.Errorf("%s: bound %q, want %q", c.name, b, c.bound)
		}
	}
	if needle.TextMargins(nil, "ab") != nil || needle.TextMargins([]needle.Step{step("a", 0.0)}, "") != nil {
		t.Error("margins of nothing")
	}
}
