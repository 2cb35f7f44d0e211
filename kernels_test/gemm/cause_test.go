package gemm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/gemm"
	"github.com/assay-suite/assay/oracle/faults"
)

// The diagnosis MUST name the class of a catalogue row, first in at least 80 % of the rows and among its guesses in 95
// %, on the first case by ID that stops the row's plant.
func TestCauses(t *testing.T) {
	s := gemm.Suite()
	cases := s.Cases()
	rows, first, among := 0, 0, 0
	for _, p := range s.Plants {
		if p.Row == "" {
			continue
		}
		row, err := faults.ByRow(p.Row)
		require.NoError(t, err)
		require.Equal(t, row.Suite, s.Name, "row %s belongs to another suite", p.Row)
		rows++
		id, causes := firstKill(t, cases, p)
		require.NotEmpty(t, id, "row %s is stopped nowhere", p.Row)
		var classes []string
		for _, c := range causes {
			classes = append(classes, c.Class)
		}
		if len(classes) > 0 && classes[0] == row.Class {
			first++
		}
		if slices.Contains(classes, row.Class) {
			among++
		}
		t.Logf("%-4s %-13s %v  (%s)", p.Row, row.Class, classes, id)
	}
	t.Logf("%d rows: %d first, %d among", rows, first, among)
	if 100*first < 80*rows {
		t.Errorf("the first cause is right for %d of %d rows, want 80 %%", first, rows)
	}
	if 100*among < 95*rows {
		t.Errorf("the causes hold the right one for %d of %d rows, want 95 %%", among, rows)
	}
}

// firstKill is the first case by ID that stops a plant, with the diagnosis there.
func firstKill(t *testing.T, cases []bench.Case, p bench.Plant) (string, []bench.Cause) {
	t.Helper()
	for _, c := range cases {
		if !p.Concerns(c) {
			continue
		}
		b, err := bench.New(c)
		require.NoError(t, err)
		under, err := p.Build(c.Contract.Name)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), under)
		if err != nil || r.Accepted() {
			continue
		}
		return c.ID, b.Explain(t.Context(), under, r)
	}
	return "", nil
}

// Every row of the catalogue that is this suite's MUST be planted.
func TestRowsPlanted(t *testing.T) {
	s := gemm.Suite()
	for _, r := range faults.Catalogue() {
		planted := slices.ContainsFunc(s.Plants, func(p bench.Plant) bool { return p.Row == r.ID })
		if want := r.Suite == s.Name && r.KilledBy == faults.Output; planted != want {
			t.Errorf("row %s (%s of suite %s): planted %t", r.ID, r.Slug, r.Suite, planted)
		}
	}
}
