package route_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/route"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) {
	suite := route.Suite()
	proof := benchtest.Prove(t, suite)
	assert.GreaterOrEqual(t, proof.Cases, 80)
	assert.GreaterOrEqual(t, len(suite.Variants), 40)
}

// The diagnosis MUST name the class of every planted row first.
func TestCauses(t *testing.T) { benchtest.Causes(t, route.Suite(), benchtest.Except{}) }

// Every operand MUST be documented and lie padded in some case, and what the operators leave unread MUST exist.
func TestInputs(t *testing.T) {
	benchtest.Documents(t, route.Suite())
	benchtest.Memory(t, route.Suite(), "moe_gate logits", "hash_gate tid2eid", "moe_combine expert_out",
		"moe_combine topk_weights")
}
