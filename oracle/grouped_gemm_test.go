package oracle_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

func TestGroupLayout(t *testing.T) {
	expert, first, err := oracle.GroupLayout([]int{3, 0, 4, 1}, 4)
	require.NoError(t, err)
	if diff := cmp.Diff([]int{0, 0, 0, -1, 2, 2, 2, 2, 3, -1, -1, -1}, expert); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 4, 4, 8}, first); diff != "" {
		t.Error(diff)
	}
	_, _, err = oracle.GroupLayout([]int{1}, 0)
	require.ErrorContains(t, err, "align is 0")
	_, _, err = oracle.GroupLayout([]int{-1}, 4)
	require.ErrorContains(t, err, "-1 rows")
}

// Contiguous and masked give one result, which is that of a single dense GEMM: each row put into its
// expert's block of a wide row, against the experts' weights side by side. Padding is NaN throughout.
func TestGroupedAndMaskedEqualDense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const k, n = 3, 2
		counts := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 4).Draw(t, "counts")
		w := make([]oracle.Mat, len(counts))
		wide := oracle.NewMat(n, k*len(counts))
		for e := range w {
			w[e] = drawMat(t, n, k, "w")
			for i := range n {
				copy(wide.Row(i)[e*k:], w[e].Row(i))
			}
		}
		expert, first, err := oracle.GroupLayout(counts, rapid.IntRange(1, 4).Draw(t, "align"))
		require.NoError(t, err)
		x := oracle.NewMat(len(expert), k)
		dense := oracle.NewMat(len(expert), k*len(counts))
		buffers := make([]oracle.Mat, len(counts))
		for e := range buffers {
			buffers[e] = oracle.NewMat(6, k)
			for i := range buffers[e].Data {
				buffers[e].Data[i] = math.NaN()
			}
		}
		for m, e := range expert {
			if e < 0 {
				copy(x.Row(m), []float64{math.NaN(), math.Inf(1), math.NaN()})
				continue
			}
			row := drawMat(t, 1, k, "x").Data
			copy(x.Row(m), row)
			copy(dense.Row(m)[e*k:], row)
			copy(buffers[e].Row(m-first[e]), row)
		}
		want := oracle.NewMat(len(expert), n) // by hand: the sums are exact
		for m := range expert {
			for i := range n {
				for j, v := range dense.Row(m) {
					want.Row(m)[i] += v * wide.Row(i)[j]
				}
			}
		}
		got, err := oracle.GroupedLinear(x, w, expert)
		if err != nil || !slices.Equal(got.Data, want.Data) {
			t.Fatalf("contiguous: %v, want %v, %v", got.Data, want.Data, err)
		}
		masked, err := oracle.MaskedLinear(buffers, w, counts)
		require.NoError(t, err)
		for e, c := range counts {
			if !slices.Equal(masked[e].Slice(0, c).Data, want.Slice(first[e], first[e]+c).Data) ||
				masked[e].Slice(c, 6).MaxAbs() != 0 {
				t.Fatalf("masked, expert %d: %v", e, masked[e].Data)
			}
		}
	})
}

func TestGroupedRefuses(t *testing.T) {
	one := []oracle.Mat{oracle.NewMat(2, 3)}
	_, err := oracle.GroupedLinear(oracle.NewMat(1, 3), one, []int{1})
	require.ErrorContains(t, err, "expert 1 of 1")
	_, err = oracle.GroupedLinear(oracle.NewMat(1, 3), nil, []int{-1})
	require.ErrorContains(t, err, "no experts")
	_, err = oracle.MaskedLinear(one, one, []int{3})
	require.ErrorContains(t, err, "3 tokens in a buffer of 2")
}
