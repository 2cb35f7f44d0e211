package gate_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/gate"
)

func TestBlessRefuses(t *testing.T) {
	flip := func(c []gate.Cell, repeat, n int) []gate.Cell {
		for i := range n {
			c[i].Repeats[repeat].Hit = !c[i].Repeats[repeat].Hit
		}
		return c
	}
	edit := func(f func(o *gate.Outcome)) []gate.Cell {
		c := cells(gate.Far, 40, hit())
		f(&c[7].Repeats[2])
		return c
	}
	for _, c := range []struct {
		name string
		r    gate.Request
		rule string // empty: blessed
	}{
		{"healthy", gate.Request{Reason: "x", Cells: cells(gate.Far, 40, hit())}, ""},
		{"no reason", gate.Request{Reason: " ", Cells: cells(gate.Far, 40, hit())}, "reason"},
		{"in CI", gate.Request{Reason: "x", CI: true, Cells: cells(gate.Far, 40, hit())}, "ci"},
		{"nothing", gate.Request{Reason: "x"}, "empty"},
		{
			"a cell twice",
			gate.Request{Reason: "x", Cells: append(cells(gate.Far, 40, hit()), cells(gate.Far, 1, hit())...)},
			"duplicate",
		},
		{"a hole", gate.Request{Reason: "x", Cells: edit(func(o *gate.Outcome) { o.Measured = false })}, "unmeasured"},
		{"another prompt", gate.Request{Reason: "x", Cells: edit(func(o *gate.Outcome) { o.Prompt = "q" })}, "prompt"},
		{
			"a margin of NaN", gate.Request{
				Reason: "x",
				Cells:  edit(func(o *gate.Outcome) { o.HasMargin, o.Margin = true, math.NaN() }),
			}, "margin",
		},
		{"four of 40 unstable", gate.Request{Reason: "x", Cells: flip(cells(gate.Far, 40, hit()), 1, 4)}, ""},
		{"five of 40 unstable", gate.Request{Reason: "x", Cells: flip(cells(gate.Far, 40, hit()), 1, 5)}, "unstable"},
		{
			"unstable in one family of two", gate.Request{
				Reason: "x",
				Cells:  append(flip(cells(gate.Far, 40, hit()), 1, 5), cells(gate.Near, 40, hit())...),
			}, "unstable",
		},
		{
			"recall of a half", gate.Request{
				Reason: "x",
				Cells:  append(cells(gate.Far, 20, miss()), relabel(cells(gate.Near, 20, hit()), gate.Far)...),
			}, "",
		},
		{
			"recall below a half", gate.Request{
				Reason: "x",
				Cells:  append(cells(gate.Far, 21, miss()), relabel(cells(gate.Near, 20, hit()), gate.Far)...),
			}, "floor",
		},
		// Nothing may depend on the baseline: with all of repeat 4 lost the golden is as good as with none.
		{"repeat 4 all lost", gate.Request{Reason: "x", Cells: flip(cells(gate.Far, 40, hit()), 3, 40)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := gate.Bless(c.r, gate.DefaultPolicy())
			var refusal *gate.RefusalError
			switch {
			case c.rule == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.rule != "" && !errors.As(err, &refusal):
				t.Errorf("error %v, want a refusal by %q", err, c.rule)
			case c.rule != "" && refusal.Rule != c.rule:
				t.Errorf("refused by %q (%v), want %q", refusal.Rule, refusal, c.rule)
			}
		})
	}
}

func relabel(c []gate.Cell, f gate.Family) []gate.Cell {
	for i := range c {
		c[i].Family = f
	}
	return c
}

func TestBlessKeeps(t *testing.T) {
	c := cells(gate.Far, 20, with(3))
	c[0].Repeats[0].Hit = false // unstable: repeats 1 to 3 disagree
	c[1].Repeats[3].Hit = false // stable: only the baseline says otherwise, and is kept
	c[2].Repeats = [gate.Repeats]gate.Outcome{miss(), miss(), miss(), miss()}
	for i := range c {
		c[i].Repeats[1].Margin += 0.25 // repeats 2 and 4 differ by 0.75 in the mean
		c[i].Repeats[3].Margin -= 0.5
	}
	g, err := gate.Bless(gate.Request{Reason: " new kernel ", Cells: c}, gate.DefaultPolicy())
	require.NoError(t, err)
	b := g.Families[0]
	if diff := cmp.Diff([]string{id(gate.Far, 0)}, b.Unstable); diff != "" {
		t.Errorf("unstable cells (-want +got):\n%s", diff)
	}
	if len(b.Stable) != 19 || b.Stable[0] != id(gate.Far, 1) || b.Cells[id(gate.Far, 1)].Hit || g.Reason != "new kernel" {
		t.Errorf("kept %d stable cells from %q, baseline %+v, reason %q", len(b.Stable), b.Stable[0],
			b.Cells[id(gate.Far, 1)], g.Reason)
	}
	// 18 of 19 cells with a margin are 94.7 %: one short of being gated. (60-1-3)/60 hits.
	if b.Margins || b.Recall != 56.0/60 {
		t.Errorf("margins gated %v, recall %v", b.Margins, b.Recall)
	}
	c[2].Repeats = c[3].Repeats
	g, err = gate.Bless(gate.Request{Reason: "x", Cells: c}, gate.DefaultPolicy())
	require.NoError(t, err)
	if b := g.Families[0]; !b.Margins || b.AA != 0.75 {
		t.Errorf("margins gated %v with %v nat between repeats, want true and 0.75", b.Margins, b.AA)
	}
}
