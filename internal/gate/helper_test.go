package gate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/gate"
)

func hit() gate.Outcome  { return gate.Outcome{Measured: true, Hit: true, Prompt: "p"} }
func miss() gate.Outcome { return gate.Outcome{Measured: true, Prompt: "p"} }

func with(nats float64) gate.Outcome {
	o := hit()
	o.Margin, o.HasMargin = nats, true
	return o
}

func id(f gate.Family, i int) string { return fmt.Sprintf("%s/%03d", f, i) }

// cells are n cells of a family that gave the same outcome four times.
func cells(f gate.Family, n int, o gate.Outcome) []gate.Cell {
	out := make([]gate.Cell, n)
	for i := range out {
		out[i] = gate.Cell{ID: id(f, i), Family: f, Repeats: [gate.Repeats]gate.Outcome{o, o, o, o}}
	}
	return out
}

// blessed is a golden of n cells in each of all families.
func blessed(t *testing.T, n int, o gate.Outcome) gate.Golden {
	t.Helper()
	var all []gate.Cell
	for _, f := range gate.Families() {
		all = append(all, cells(f, n, o)...)
	}
	g, err := gate.Bless(gate.Request{Reason: "test", Cells: all}, gate.DefaultPolicy())
	require.NoError(t, err)
	return g
}

// tried answers the first n cells of every family with o.
func tried(n int, o gate.Outcome) map[string]gate.Outcome {
	now := map[string]gate.Outcome{}
	for _, f := range gate.Families() {
		answer(now, f, 0, n, o)
	}
	return now
}

// answer answers the cells from..to-1 of a family with o.
func answer(now map[string]gate.Outcome, f gate.Family, from, to int, o gate.Outcome) {
	for i := from; i < to; i++ {
		now[id(f, i)] = o
	}
}

func standard(t *testing.T) gate.Plan {
	t.Helper()
	p, err := gate.PlanFor("standard")
	require.NoError(t, err)
	return p
}
