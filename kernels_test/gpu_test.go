//go:build gpu

package kernels_test

import (
	"testing"

	"github.com/assay-suite/assay/internal/suite"
)

// TestGpu keeps the promise of the tag: what it needs and does not find is a failure. A device is reached through a
// worker.
func TestGpu(t *testing.T) {
	if line, set := suite.Value("ASSAY_CANDIDATE"); !set || line == "" {
		t.Fatal("the tag gpu judges kernels on a device through a worker process: set ASSAY_CANDIDATE to its command line " +
			"(adapters/README.md)")
	}
	TestCases(t)
}
