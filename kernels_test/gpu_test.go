//go:build gpu

package kernels_test

import "testing"

// TestGpu keeps the promise of the tag: what it needs and does not find is a failure.
func TestGpu(t *testing.T) {
	t.Fatal("the tag gpu judges candidates on a device, and this version has none: its candidates run in the test's own process (go test ./kernels_test)")
}
