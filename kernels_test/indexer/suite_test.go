package indexer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/indexer"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) { benchtest.Prove(t, indexer.Suite()) }

// The diagnosis MUST name the class of a fault that it knows nothing about.
func TestCauses(t *testing.T) { benchtest.Causes(t, indexer.Suite(), benchtest.Except{}) }

// Every operand, output and attribute that a case has MUST be in the operators' documents.
func TestDocuments(t *testing.T) { benchtest.Documents(t, indexer.Suite()) }

// Every operand MUST be padded somewhere, and elements that no kernel reads MUST be poisoned.
func TestEveryOperandIsPaddedSomewhere(t *testing.T) {
	benchtest.Memory(t, indexer.Suite(), "indexer_logits k", "indexer_logits ks", "indexer_logits_paged pages",
		"indexer_logits_paged block_table", "index_key_store x")
}

// A contract that the suite does not have MUST be refused by its name.
func TestUnknownContract(t *testing.T) {
	_, err := indexer.Suite().Built("fp64")
	require.ErrorContains(t, err, "fp64")
}
