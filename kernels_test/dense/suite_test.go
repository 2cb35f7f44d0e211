package dense_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/dense"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) {
	proof, err := dense.Suite().Prove(t.Context(), bench.Options{Every: bench.Every()})
	require.NoError(t, err)
	for _, p := range proof.Problems {
		t.Error(p)
	}
	t.Logf("%d cases, %d runs", proof.Cases, proof.Runs)
}

// What a diagnosis names first, and what it names at all, is the class that the catalogue gave each row before any
// verdict was written: on the first case, by ID, that stops the fault.
func TestCauses(t *testing.T) {
	s := dense.Suite()
	cases := s.Cases()
	rows, first, among := 0, 0, 0
	for _, p := range s.Plants {
		if p.Row == "" {
			continue
		}
		rows++
		causes, id := diagnosis(t, cases, p)
		var classes []string
		for _, c := range causes {
			classes = append(classes, c.Class)
		}
		if len(classes) > 0 && classes[0] == p.Class {
			first++
		}
		if slices.Contains(classes, p.Class) {
			among++
		}
		t.Logf("%-4s %-32s want %-14s named %v in %s", p.Row, p.Name, p.Class, classes, id)
	}
	t.Logf("first %d of %d, among %d of %d", first, rows, among, rows)
	if rows != 17 || first*100 < 80*rows || among*100 < 95*rows {
		t.Errorf("of %d rows (want 17) %d are named first and %d among the causes; want 80 %% and 95 %%", rows, first, among)
	}
}

// diagnosis explains the first case that stops a plant.
func diagnosis(t *testing.T, cases []bench.Case, p bench.Plant) ([]bench.Cause, string) {
	t.Helper()
	for _, c := range cases {
		if !p.Concerns(c) {
			continue
		}
		under, err := p.Build(c.Contract.Name)
		require.NoError(t, err)
		b, err := bench.New(c)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), under)
		if err != nil || !r.Accepted() {
			return b.Explain(t.Context(), under, r), c.ID
		}
	}
	return nil, "no case"
}
