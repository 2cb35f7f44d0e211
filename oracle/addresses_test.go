package oracle_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/assay-suite/assay/oracle"
)

// The reported cases: a stride of 276,480 is right up to page 7,767, one of 1,039,680 breaks at 2,066.
func TestFirstWrappedPagePublished(t *testing.T) {
	for stride, want := range map[int64]int64{276480: 7768, 1039680: 2066} {
		if got := oracle.FirstWrappedPage(stride, oracle.Int32); got != want {
			t.Errorf("stride %d wraps at page %d, reported %d", stride, got, want)
		}
	}
	if oracle.FirstWrappedPage(1, oracle.Int64) != -1 || oracle.FirstWrappedPage(0, oracle.Int32) != -1 ||
		oracle.FirstWrappedPage(1<<20, oracle.Uint32) != 4096 {
		t.Error("64 bits, no stride, or unsigned 32 bits")
	}
}

func TestAddressTraceByHand(t *testing.T) {
	strides := oracle.CacheStrides{Page: 276480, Token: 576, Head: 64}
	trace := func(width oracle.IndexWidth) []oracle.Address {
		got, err := oracle.AddressTrace([]int{7767, 7768, 15534}, 2, 6, 1, strides, width)
		require.NoError(t, err)
		return got
	}
	const last = 7767*276480 + 576 + 64
	for name, c := range map[string]struct {
		width oracle.IndexWidth
		want  [6]int64
	}{
		"int64": {
			oracle.Int64, [6]int64{last - 576, last, last - 576 + 276480, last + 276480, 15534*276480 + 64, 15534*276480 + 640},
		},
		"int32": {
			oracle.Int32, [6]int64{
				last - 576, last, last - 576 + 276480 - 1<<32, last + 276480 - 1<<32, 15534*276480 + 64 - 1<<32,
				15534*276480 + 640 - 1<<32,
			},
		},
		"int32 page": {
			oracle.Int32Page, [6]int64{
				last - 576, last, last - 576 + 276480 - 1<<32, last + 276480 - 1<<32, 15534*276480 + 64 - 1<<32,
				15534*276480 + 640 - 1<<32,
			},
		},
		"uint32": {
			oracle.Uint32, [6]int64{last - 576, last, last - 576 + 276480, last + 276480, 15534*276480 + 64, 15534*276480 + 640},
		},
	} {
		for j, a := range trace(c.width) {
			if a.Reached != c.want[j] || a.Wrapped() != (c.want[j] != a.Exact) || a.Token != j {
				t.Errorf("%s: %+v, want %d", name, a, c.want[j])
			}
		}
	}
	_, err := oracle.AddressTrace([]int{1}, 2, 3, 0, strides, oracle.Int32)
	require.ErrorContains(t, err, "token 2")
	_, err = oracle.AddressTrace([]int{1 << 40}, 2, 1, 0, oracle.CacheStrides{Page: 1 << 40}, oracle.Int64)
	require.ErrorContains(t, err, "64 bits")
}

// At the edge the widths part: 7767·276,480 is 63,487 below 2^31-1, so the token after it wraps when the
// whole offset is 32 bits wide, and does not when the product alone is.
func TestAddressTraceAtTheEdge(t *testing.T) {
	strides := oracle.CacheStrides{Page: 276480, Token: 63488}
	for width, want := range map[oracle.IndexWidth]int64{
		oracle.Int32: -1 << 31, oracle.Int32Page: 1 << 31, oracle.Uint32: 1 << 31,
	} {
		got, err := oracle.AddressTrace([]int{7767}, 2, 2, 0, strides, width)
		require.NoError(t, err)
		if got[0].Wrapped() || got[1].Reached != want || got[1].Exact != 1<<31 {
			t.Errorf("width %d: %+v, want %d", width, got, want)
		}
	}
}

// The second source is exact integer arithmetic: 32-bit results are congruent modulo 2^32 and in range;
// a product alone in 32 bits differs from the whole only where the sum crosses the edge.
func TestAddressTraceProperty(t *testing.T) {
	modulus := big.NewInt(1 << 32)
	rapid.Check(t, func(t *rapid.T) {
		page, size := rapid.IntRange(0, 1<<20).Draw(t, "page"), rapid.IntRange(1, 64).Draw(t, "size")
		s := oracle.CacheStrides{
			Page:  rapid.Int64Range(1, 1<<24).Draw(t, "stride"),
			Token: rapid.Int64Range(1, 1<<14).Draw(t, "token"),
			Head:  rapid.Int64Range(0, 512).Draw(t, "head"),
		}
		for width, low := range map[oracle.IndexWidth]int64{oracle.Int32: math.MinInt32, oracle.Uint32: 0} {
			got, err := oracle.AddressTrace([]int{page}, size, size, 3, s, width)
			require.NoError(t, err)
			for j, a := range got {
				want := new(big.Int).Mul(big.NewInt(int64(page)), big.NewInt(s.Page))
				want.Add(want, big.NewInt(int64(j)*s.Token+3*s.Head))
				gap := new(big.Int).Sub(want, big.NewInt(a.Reached))
				if want.Cmp(big.NewInt(a.Exact)) != 0 || gap.Mod(gap, modulus).Sign() != 0 || a.Reached < low ||
					a.Reached >= low+1<<32 {
					t.Fatalf("%+v, exact %v", a, want)
				}
			}
		}
		got, err := oracle.AddressTrace([]int{page}, size, size, 3, s, oracle.Int32Page)
		require.NoError(t, err)
		wraps := int64(page)*s.Page > math.MaxInt32
		for _, a := range got {
			if wraps != a.Wrapped() {
				t.Fatalf("a product of %d in 32 bits: %+v", int64(page)*s.Page, a)
			}
		}
	})
}
