package topk

import (
	"math"
	"testing"
)

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
