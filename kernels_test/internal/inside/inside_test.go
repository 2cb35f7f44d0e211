package inside_test

import (
	"io/fs"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/inside"
	"github.com/assay-suite/assay/kernels_test/mhc"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

func model(t *testing.T) *nano.Model {
	t.Helper()
	folder, err := fs.Sub(fixtures.FS, "nano-v4")
	require.NoError(t, err)
	m, err := nano.Load(folder, oracle.Reference())
	require.NoError(t, err)
	return m
}

// A correct kernel inside the model, at nano-v4's sizes and embedded into V4-Flash's, MUST keep every needle with the
// margins of the exact model; a transposed comb moves them.
func TestKernelsInside(t *testing.T) {
	m := model(t)
	want, err := inside.Needles(t.Context(), m, 2, 96, 64, nil)
	require.NoError(t, err)
	assert.Equal(t, 2, want.Found)
	require.Len(t, want.Margins, 2)
	sound := mhc.FromOps("sound", oracle.Reference())
	turned, err := faults.Lookup("comb-transposed")
	require.NoError(t, err)
	for _, row := range []struct {
		name  string
		under bench.Candidate
		sizes inside.Sizes
		moves bool
	}{
		{"own sizes", sound, inside.Sizes{}, false},
		{"embedded", sound, inside.Sizes{Width: 4096}, false},
		{"comb transposed", mhc.FromOps("faulty", turned.Apply(oracle.Reference())), inside.Sizes{}, true},
	} {
		k := inside.NewKernels(t.Context(), row.under, row.sizes, bench.F32)
		ops, err := k.Ops(m.Ops(), "mhc_pre", "mhc_post")
		require.NoError(t, err)
		got, err := inside.Needles(t.Context(), m.With(ops), 2, 96, 64, nil)
		require.NoError(t, err)
		require.NoError(t, k.Err())
		calls, _ := k.Calls("mhc_pre")
		assert.Positive(t, calls)
		shift := 0.0
		for i, v := range got.Margins {
			shift = max(shift, math.Abs(v-want.Margins[i]))
		}
		// fp32 rounding between operators moves margins by some 1e-5 nats (the served model's golden says so), a fault by 0.1
		if moved := shift > 1e-3; moved != row.moves {
			t.Errorf("%s: margins move by %.2g nats", row.name, shift)
		}
		t.Logf("%s: %d of %d, margins move by %.2g nats", row.name, got.Found, got.Of, shift)
	}
}

// A candidate that breaks inside the model MUST be an error, and an operator without a place there one before anything
// runs.
func TestKernelsThatBreak(t *testing.T) {
	m := model(t)
	k := inside.NewKernels(t.Context(), bench.FromKernels("none", nil), inside.Sizes{}, bench.F32)
	_, err := k.Ops(m.Ops(), "conv2d")
	require.ErrorContains(t, err, `"conv2d"`)
	ops, err := k.Ops(m.Ops(), "mhc_post")
	require.NoError(t, err)
	_, err = inside.Needles(t.Context(), m.With(ops), 1, 96, 96, nil)
	require.NoError(t, err)
	require.ErrorContains(t, k.Err(), "unsupported")
}
