package norm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/norm"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) {
	suite := norm.Suite()
	proof := benchtest.Prove(t, suite)
	assert.GreaterOrEqual(t, proof.Cases, 80)
	assert.GreaterOrEqual(t, len(suite.Variants), 40)
}

// The diagnosis MUST name the class of a planted row first.
func TestCauses(t *testing.T) { benchtest.Causes(t, norm.Suite(), benchtest.Except{}) }

// Every operand MUST be documented and lie padded in some case, and tables MUST have rows that nobody reads.
func TestInputs(t *testing.T) {
	benchtest.Documents(t, norm.Suite())
	benchtest.Memory(t, norm.Suite(), "rope cos_sin_cache")
}
