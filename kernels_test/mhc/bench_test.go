package mhc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/mhc"
)

// BenchmarkJudge is one candidate on one case of 67 tokens, reference and bounds apart.
func BenchmarkJudge(b *testing.B) {
	for _, c := range mhc.Suite().Cases() {
		if c.ID != "kernels/mhc-pre/lengths/nano-t67/tf32-rn" {
			continue
		}
		r, err := mhc.Built(c.Contract.Name)
		require.NoError(b, err)
		b.Run("prepare", func(b *testing.B) {
			for b.Loop() {
				_, err := bench.New(c)
				require.NoError(b, err)
			}
		})
		b.Run("judge", func(b *testing.B) {
			ready, err := bench.New(c)
			require.NoError(b, err)
			for b.Loop() {
				_, err := ready.Judge(b.Context(), mhc.FromOps(r.Name, r.Ops()))
				require.NoError(b, err)
			}
		})
	}
}
