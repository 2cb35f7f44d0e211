package compressor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/compressor"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) {
	proof, err := compressor.Suite().Prove(t.Context(), bench.Options{Every: bench.Every()})
	require.NoError(t, err)
	for _, p := range proof.Problems {
		t.Error(p)
	}
	t.Logf("%d cases, %d runs", proof.Cases, proof.Runs)
}
