package gemm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/gemm"
	"github.com/assay-suite/assay/numerics"
)

// What Triton's default fp32 dot gave on an H200 for 1 + k·2^-14 times 1 is 1 for every k below 16: truncation;
// rounding to nearest gives 1 + 2^-10 from k = 9 on. The contracts MUST read operands so, and tf32-rz MUST accept that
// and fp32.
func TestTruncatedTF32IsWhatTritonDoes(t *testing.T) {
	rounded, cut := numerics.MHCTF32(), numerics.MHCTF32Truncated()
	for k := range 20 {
		v := []float64{1 + float64(k)*0x1p-14}
		want := 1 + float64(k/16)*0x1p-10
		assert.Equal(t, want, cut.Operand("x").Read(v)[0], k)
		nearest := 1.0
		if k > 8 {
			nearest = 1 + 0x1p-10
		}
		assert.Equal(t, nearest, rounded.Operand("x").Read(v)[0], k)
	}
	c := caseOf(t, "kernels/dense-gemm/bias/m32-n24-k256/tf32-rz")
	b, err := bench.New(c)
	require.NoError(t, err)
	for _, contract := range []string{"tf32-rz", "fp32"} { // what is more exact than declared is no fault
		k, err := gemm.Suite().Built(contract)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), k)
		require.NoError(t, err)
		assert.True(t, r.Accepted(), contract)
	}
}
