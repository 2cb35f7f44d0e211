package topk

import (
	"math"
	"testing"

	"github.com/assay-suite/assay/numerics/format"
)

// The cast that the first radix pass is modelled by MUST be IEEE half precision: every half, its neighbours in fp32,
// and the midpoints between halves, against the format's own codec.
func TestHalfIsIEEE(t *testing.T) {
	for code := range 1 << 16 {
		v := float32(format.FP16.Decode(uint32(code)))
		if v != v {
			continue
		}
		next := float32(format.FP16.Decode(uint32(code + 1)))
		for _, x := range []float32{v, math.Nextafter32(v, -9e9), math.Nextafter32(v, 9e9), v/2 + next/2} {
			if x != x {
				continue
			}
			if got, want := uint32(half(x)), format.FP16.Encode(float64(x), format.RN, format.Overflow); got != want {
				t.Fatalf("%v is %#04x, want %#04x", x, got, want)
			}
		}
	}
}

// Keys MUST order scores as numbers do, and coarse bins MUST never contradict them.
func TestKeysAreMonotone(t *testing.T) {
	inf := float32(math.Inf(1))
	values := []float32{
		-inf, -3e38, -65520, -65519, -1.5, -1, -1e-7, -1e-40, 0, 1e-45, 1e-40, 1e-7, 1, 1.0000001, 1.5, 65519, 65520, 1e5,
		3e38, inf,
	}
	for i := range values[1:] {
		if key(values[i]) >= key(values[i+1]) {
			t.Errorf("key of %v is not below that of %v", values[i], values[i+1])
		}
		if coarse(values[i]) > coarse(values[i+1]) {
			t.Errorf("bin of %v is above that of %v", values[i], values[i+1])
		}
	}
	if minus := float32(math.Copysign(0, -1)); key(minus) != key(0) || coarse(minus) != coarse(0) {
		t.Error("-0 and +0 have different keys or bins")
	}
}
