package gemm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/gemm"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) {
	proof, err := gemm.Suite().Prove(t.Context(), bench.Options{Every: bench.Every()})
	require.NoError(t, err)
	for _, p := range proof.Problems {
		t.Error(p)
	}
	t.Logf("%d cases, %d runs, %d variants, %d plants", proof.Cases, proof.Runs, len(gemm.Suite().Variants),
		len(gemm.Suite().Plants))
	cases := gemm.Suite().Cases()
	for name, k := range proof.Kills {
		ids, unlisted := k.Killers(cases)
		t.Logf("%-4s %s: stopped by %d of %d cases, %d of them not for its row", k.Plant.Row, name, len(ids), len(k.Gates),
			unlisted)
	}
}
