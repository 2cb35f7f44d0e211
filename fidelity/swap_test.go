package fidelity_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// swaps are the variants whose effect on recall is on record: the mixing GEMM under its two reduced contracts, and
// every fault of the catalogue that fits into the model.
func swaps(t testing.TB) []swap {
	t.Helper()
	out := []swap{
		{"bf16-mix", contractMix(t, numerics.MHCBF16())},
		{"tf32-mix", contractMix(t, numerics.MHCTF32())},
	}
	for _, f := range faults.All() {
		out = append(out, swap{f.Name, faulty(t, f.Name)})
	}
	return out
}

// again are the swaps that every run executes on the slice; the others wait for ASSAY_BUDGET=full.
var again = []string{
	"bf16-mix", "tf32-mix", "comb-transposed", "hc-norm-sqrt2", "routed-scaling-twice", "prefix-rows-stale",
}

type swap struct {
	name  string
	model *nano.Model
}

// contractMix is nano-v4 whose mixing GEMM rounds as the contract says, as on an H200; all else is exact.
func contractMix(t testing.TB, c numerics.Contract) *nano.Model {
	t.Helper()
	m := load(t, "nano-v4")
	ops := m.Ops()
	ops.HCMix = oracle.HCMixWith(func(x, w oracle.Mat) oracle.Mat {
		out := oracle.NewMat(x.Rows, w.Rows)
		v, err := c.Gemm(x.Data, w.Data, x.Rows, w.Rows, x.Cols)
		if err != nil {
			t.Errorf("the mix under %s: %v", c.Name, err)
			return out
		}
		copy(out.Data, v)
		return out
	})
	return m.With(ops)
}

// swapCell is what a swapped model does at one cell of the slice.
type swapCell struct {
	Class   string    `json:"class"`
	Margins []float64 `json:"margins"` // nats, up to the first wrong digit
}

// swapLength is recall and margins at one length of the whole plan's grid. Shifts are against the exact model.
type swapLength struct {
	Found  int     `json:"found"`
	Of     int     `json:"of"`
	Failed int     `json:"failed"` // requests that the engine refused, as for NaN
	Margin float64 `json:"median-margin-nats"`
	Shift  float64 `json:"median-shift-nats"`
	Worst  float64 `json:"largest-shift-nats"`
}

// TestSwaps puts every variant into nano-v4 and compares recall and margins with the golden. By
// default a slice is run again, exactly; ASSAY_BUDGET=full runs the grid and renews the table by length.
func TestSwaps(t *testing.T) {
	long(t)
	const family = "fidelity/swap"
	g, err := readGolden(familyOf("nano-v4"))
	require.NoError(t, err)
	require.NotNil(t, g)
	slice := planOf(t, recall.Standard, func(c recall.Cell) bool {
		return c.Family == recall.Recall && (c.Tokens == 128 && c.Depth == 0 || c.Tokens == 256 && c.Depth == 0.5)
	})
	grid := planOf(t, recall.Standard, func(c recall.Cell) bool {
		return c.Family == recall.Recall && c.Tokens <= 2048
	})

	doc := golden.Doc{Provenance: provenance(t, "nano-v4"), Cases: map[string]any{}}
	doc.Provenance.Generator = "fidelity.TestSwaps: oracle.Ops with one operator exchanged inside nano-v4"
	var ids []string
	for _, s := range swaps(t) {
		sliceID := "fidelity/swap/" + s.name + "/slice"
		ids = append(ids, sliceID)
		for _, n := range grid.Lengths {
			ids = append(ids, lengthID(s.name, n))
		}
		if budgetOf() != recall.Full && !slices.Contains(again, s.name) {
			continue
		}
		cells := map[string]swapCell{}
		for _, o := range observe(t, s.model, "nano-v4", slice) {
			c := swapCell{Class: o.Class, Margins: []float64{}}
			for _, p := range o.Positions {
				c.Margins = append(c.Margins, p.Margin)
			}
			cells[o.Cell.ID] = c
		}
		doc.Cases[sliceID] = cells
		if budgetOf() == recall.Full {
			for n, row := range byLength(t, observe(t, s.model, "nano-v4", grid), grid, g) {
				doc.Cases[lengthID(s.name, n)] = row
			}
		}
	}
	golden.Assert(t, family, doc, golden.All(golden.Abs(1e-4,
		"nats; what benign reorderings of the same arithmetic move, a tenth of the smallest shift that is acted on")))
	golden.Orphans(t, family, ids)
}

func lengthID(variant string, n int) string {
	return fmt.Sprintf("fidelity/swap/%s/len-%d", variant, n)
}

func byLength(t testing.TB, obs []recall.Observation, p recall.Plan, g *recall.Golden) map[int]swapLength {
	t.Helper()
	c, err := recall.Compare(obs, g)
	require.NoError(t, err)
	shift := map[string]float64{}
	for _, s := range c.Shifts {
		shift[s.ID] = s.Size()
	}
	out := map[int]swapLength{}
	for _, n := range p.Lengths {
		var row swapLength
		var margins, shifts []float64
		for _, o := range obs {
			if o.Cell.Tokens != n {
				continue
			}
			row.Of++
			switch {
			case o.Class == "error":
				row.Failed++
			case o.Hit:
				row.Found++
			}
			for _, pos := range o.Positions {
				margins = append(margins, pos.Margin)
			}
			if s, ok := shift[o.Cell.ID]; ok {
				shifts = append(shifts, s)
				row.Worst = max(row.Worst, s)
			}
		}
		if len(margins) > 0 {
			row.Margin = stat.Median(margins)
		}
		if len(shifts) > 0 {
			row.Shift = stat.Median(shifts)
		}
		out[n] = row
	}
	return out
}
