package kernels_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	kernels "github.com/assay-suite/assay/kernels_test"
)

// BenchmarkJudge is one candidate on one case of 67 tokens, reference and bounds apart.
func BenchmarkJudge(b *testing.B) {
	for _, c := range kernels.Cases() {
		if c.ID != "kernels/mhc-pre/lengths/nano-t67/tf32-rn" {
			continue
		}
		r, err := kernels.Built(c.Contract.Name)
		require.NoError(b, err)
		b.Run("prepare", func(b *testing.B) {
			for b.Loop() {
				_, err := kernels.NewBench(c)
				require.NoError(b, err)
			}
		})
		b.Run("judge", func(b *testing.B) {
			bench, err := kernels.NewBench(c)
			require.NoError(b, err)
			for b.Loop() {
				_, err := bench.Judge(b.Context(), kernels.FromOps(r.Name, r.Ops()))
				require.NoError(b, err)
			}
		})
	}
}
