package oracle_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// By hand: amax 6 gives the scale 1; 2.5 and 5 are midpoints of e2m1 and go to the even code, 2 and 4;
// the second block, half as large, has half the scale.
func TestRoundTripByHand(t *testing.T) {
	x := oracle.NewMat(1, 65)
	copy(x.Data, []float64{6, 2.5, 5, -0.3, 0.2})
	copy(x.Data[32:], []float64{3, 1.25, 2.5, -0.15, 0.1})
	x.Data[64] = 0.123
	got, err := oracle.RoundTrip(x, 64, recipe(t, "v4-fp4"))
	require.NoError(t, err)
	for d, want := range map[int]float64{0: 6, 1: 2, 2: 4, 3: -.5, 4: 0, 32: 3, 33: 1, 34: 2, 35: -.25, 36: 0, 64: 0.123} {
		if got.Data[d] != want {
			t.Errorf("channel %d: %v became %v, want %v", d, x.Data[d], got.Data[d], want)
		}
	}
	same, err := oracle.RoundTrip(x, 0, recipe(t, "v4-fp4"))
	require.NoError(t, err)
	if !slices.Equal(same.Data, x.Data) {
		t.Error("no channels, but a change")
	}
	_, err = oracle.RoundTrip(x, 66, recipe(t, "v4-fp4"))
	require.ErrorContains(t, err, "66 of 65 channels")
	_, err = oracle.RoundTrip(x, 64, recipe(t, "deepgemm-block"))
	require.ErrorContains(t, err, "128 rows high")
}

// The simulated round trip is what the cache gives back: V4's page with its RoPE channels in bf16.
func TestRoundTripIsTheCache(t *testing.T) {
	layout, err := format.PageV4(2)
	require.NoError(t, err)
	x := ramp(3, 512, 9)
	format.BF16.RoundSlice(x.Data)
	cache := oracle.NewBytePages(layout, 3, 0)
	require.NoError(t, cache.Write([]int{2, 1}, 0, x, recipe(t, "flashmla-kv")))
	want, err := cache.Read([]int{2, 1}, 0, 3)
	require.NoError(t, err)
	got, err := oracle.RoundTrip(x, 448, recipe(t, "flashmla-kv"))
	require.NoError(t, err)
	if !slices.Equal(got.Data, want.Data) {
		t.Error("the round trip differs from the cache")
	}
}
