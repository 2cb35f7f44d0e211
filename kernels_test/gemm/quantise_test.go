package gemm

import (
	"math"
	"testing"

	"github.com/assay-suite/assay/numerics/format"
)

// The kernels' own rounding MUST be that of package format, on every code, midpoint and neighbour of one.
func TestRounding(t *testing.T) {
	for c := range 0x7e {
		lo, hi := float32(valueE4M3(c)), float32(valueE4M3(c+1))
		mid := (lo + hi) / 2
		for _, v := range []float32{lo, mid, math.Nextafter32(mid, 0), math.Nextafter32(mid, 1000), 1000, 464, 470} {
			for _, v := range []float32{v, -v} {
				want := format.EncodeE4M3(v)
				if got := toE4M3(v); got != want {
					t.Errorf("toE4M3(%v) is %#x, want %#x", v, got, want)
				}
				if got := searchE4M3(v); got != want {
					t.Errorf("searchE4M3(%v) is %#x, want %#x", v, got, want)
				}
			}
		}
	}
	for i := range 70 {
		v := float32(i) / 8
		for _, v := range []float32{v, math.Nextafter32(v, 100), math.Nextafter32(v, -1)} {
			if got, want := toE2M1(v), byte(format.E2M1.Encode(float64(v), format.RN, format.Saturate)); v >= 0 && got != want {
				t.Errorf("toE2M1(%v) is %#x, want %#x", v, got, want)
			}
		}
	}
}

// The exponent of a scale MUST go up next to a power of two, where a logarithm in fp32 keeps the power.
func TestCeilExponents(t *testing.T) {
	lost := 0
	for e := -40; e <= 40; e++ {
		power := float32(math.Ldexp(1, e))
		above, below := math.Nextafter32(power, math.MaxFloat32), math.Nextafter32(power, 0)
		for _, c := range []struct {
			s    float32
			want int
		}{{power, e}, {above, e + 1}, {below, e}} {
			if got := ceilBits(c.s); got != c.want {
				t.Errorf("ceilBits(%v) is %d, want %d", c.s, got, c.want)
			}
			if got := ceilFrexp(c.s); got != c.want {
				t.Errorf("ceilFrexp(%v) is %d, want %d", c.s, got, c.want)
			}
		}
		if ceilLog2(above) == e {
			lost++
		}
	}
	if lost < 60 {
		t.Errorf("the logarithm loses %d of 81 exponents, want most of them", lost)
	}
}

// Scales in tiles MUST lie where the document says: the places of a few are written out.
func TestTilePlaces(t *testing.T) {
	for _, c := range []struct{ row, col, cols, at int }{
		{0, 0, 4, 0},
		{0, 3, 4, 3},
		{1, 0, 4, 16},
		{31, 0, 4, 496},
		{32, 0, 4, 4},
		{64, 1, 4, 9},
		{96, 3, 4, 15},
		{127, 3, 4, 511},
		{128, 0, 4, 512},
		{0, 4, 5, 512},
		{128, 0, 5, 1024},
		{129, 4, 5, 1552},
	} {
		v := make([]float32, 4096)
		v[c.at] = 1
		if untile(v, c.row, c.col, c.cols) != 1 {
			t.Errorf("the kernels do not read scale [%d, %d] of %d columns at %d", c.row, c.col, c.cols, c.at)
		}
		if got := format.SwizzledOffset(c.row, c.col, c.cols); got != c.at {
			t.Errorf("the expectation reads scale [%d, %d] of %d columns at %d, want %d", c.row, c.col, c.cols, got, c.at)
		}
	}
}
