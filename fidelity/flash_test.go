package fidelity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/oracle/faults"
)

// nano-flash has V4-Flash's window and top-k, so a fault of selection MUST leave every margin alone up to 512 x 4
// tokens and lose the start beyond, as it does in public reports; a fault of every row moves margins at any length. The
// healthy model on the same cells, against the same golden, is the correct variant.
func TestNanoFlash(t *testing.T) {
	long(t)
	g, err := readGolden(familyOf("nano-flash"))
	require.NoError(t, err)
	require.NotNil(t, g)
	below := func(c recall.Cell) bool {
		return c.Family == recall.Recall && c.Tokens == 1024 && (c.Depth == 0 || c.Depth == 1)
	}
	beyond := func(c recall.Cell) bool {
		return c.Family == recall.Recall && c.Tokens == 4096 && (c.Depth <= 0.25 || c.Depth == 1)
	}
	plan := planOf(t, recall.Standard, func(c recall.Cell) bool { return !c.Further && (below(c) || beyond(c)) })
	require.Len(t, plan.Cells, 5)
	for _, row := range []struct {
		fault       string
		moves, lost int // of two cells below and of three beyond, which are two at the start and one at the end
	}{
		{"", 0, 0},
		{"select-last", 0, 2},
		{"select-random", 0, 2},
		{"v-scale-1.02", 2, 0},
		{"comb-transposed", 2, 0},
		{"window-one-short", 2, 0},
	} {
		if row.fault == "select-random" && budgetOf() != recall.Full {
			continue // what it loses beyond 2,048 tokens is a golden of internal/nano
		}
		t.Run("fault="+row.fault, func(t *testing.T) {
			m := load(t, "nano-flash")
			if row.fault != "" {
				f, err := faults.Lookup(row.fault)
				require.NoError(t, err)
				m = m.With(f.Apply(m.Ops()))
			}
			plan := plan
			if row.moves > 0 {
				plan = plan.Only(below) // seen there at once
			}
			obs := observe(t, m, "nano-flash", plan)
			c, err := recall.Compare(obs, g)
			require.NoError(t, err)
			moved := 0
			for _, s := range c.Moved {
				for _, cell := range plan.Cells {
					if cell.ID == s.ID && below(cell) {
						moved++
					}
				}
			}
			hits, of := recall.Count(obs, func(o recall.Observation) bool { return beyond(o.Cell) })
			t.Logf("%s; moved below the cliff %d of 2, lost beyond it %d of %d", c, moved, of-hits, of)
			if moved != row.moves || of != len(plan.Cells)-2 || of-hits != row.lost {
				t.Errorf("moved below the cliff: %d, want %d; lost beyond it: %d of %d, want %d", moved, row.moves, of-hits, of,
					row.lost)
			}
			if row.fault == "" && (c.Overall != recall.Held || c.Margins != recall.Held) {
				t.Errorf("the healthy model does not hold: %s", c)
			}
		})
	}
}

// TestEmbeddedFlash is the main job with ASSAY_MODEL_EMBEDDED=nano-flash, its smoke slice.
func TestEmbeddedFlash(t *testing.T) {
	long(t)
	j := embeddedJob(t, "nano-flash", recall.Smoke)
	j.Dir = t.TempDir()
	d, err := j.Run(t.Context())
	require.NoError(t, err)
	if d.Judgement.Code != suite.Pass || d.Judgement.Golden == nil || d.Judgement.Golden.Margins != recall.Held {
		t.Errorf("verdict %q (code %d); golden %v", d.Judgement.Verdict, d.Judgement.Code, d.Judgement.Golden)
	}
}
