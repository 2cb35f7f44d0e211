// Package benchtest holds the tests that every suite owes: that its correct candidates pass and its faults are stopped
// (Prove), that the diagnosis names what was planted (Causes), that inputs are documented, reproducible and surrounded
// by memory that nobody may read (Inputs).
package benchtest

import (
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Prove fails the test for every correct candidate that is flagged and every plant that fewer than two cases stop, or
// only such as list its row: on all cases under ASSAY_BUDGET=full, else on a slice (bench.Every).
func Prove(t *testing.T, s bench.Suite) bench.Proof {
	t.Helper()
	proof, err := s.Prove(t.Context(), bench.Options{Every: bench.Every()})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proof.Problems {
		t.Error(p)
	}
	t.Logf("%d cases, %d runs, %d variants, %d plants", proof.Cases, proof.Runs, len(s.Variants), len(s.Plants))
	return proof
}
