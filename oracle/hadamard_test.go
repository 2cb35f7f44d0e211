package oracle_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

// The definition, entry by entry, at 128: one-hot input i gives column i.
func TestHadamardEntries(t *testing.T) {
	const n = 128
	unit := oracle.NewMat(n, n)
	for i := range n {
		unit.Row(i)[i] = 1
	}
	got, err := oracle.Hadamard(unit, n)
	require.NoError(t, err)
	for i := range n {
		for j := range n {
			want := 1 / math.Sqrt(n)
			if bits.OnesCount(uint(i&j))%2 == 1 {
				want = -want
			}
			if got.Row(i)[j] != want {
				t.Fatalf("entry (%d, %d) is %v, want %v", i, j, got.Row(i)[j], want)
			}
		}
	}
}

// At a width of 4^m the norm is a power of two and integers stay exact: twice is the identity, inner
// products stay, and groups do not mix.
func TestHadamardIsAnInvolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]int{1, 4, 16}).Draw(t, "width")
		x := drawMat(t, 2, 2*width, "x")
		y, err := oracle.Hadamard(x, width)
		if err != nil {
			t.Fatalf("%v", err)
		}
		z, err := oracle.Hadamard(y, width)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for g := range 2 {
			var before, after float64
			for d := g * width; d < (g+1)*width; d++ {
				before += x.Row(0)[d] * x.Row(1)[d]
				after += y.Row(0)[d] * y.Row(1)[d]
				if z.Row(0)[d] != x.Row(0)[d] {
					t.Fatalf("twice gives %v, want %v", z.Row(0), x.Row(0))
				}
			}
			if before != after {
				t.Fatalf("inner product %v became %v", before, after)
			}
		}
	})
}

func TestHadamardRefuses(t *testing.T) {
	for _, width := range []int{0, -4, 3, 8} {
		_, err := oracle.Hadamard(oracle.NewMat(1, 12), width)
		require.ErrorContains(t, err, "power of two", "width %d", width)
	}
}
