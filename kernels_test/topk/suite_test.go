package topk_test

import (
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/topk"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) { benchtest.Prove(t, topk.Suite()) }

// The diagnosis MUST name the class of a fault that it knows nothing about.
func TestCauses(t *testing.T) { benchtest.Causes(t, topk.Suite(), benchtest.Except{}) }

// Every operand, output and attribute that a case has MUST be in the operators' documents.
func TestDocuments(t *testing.T) { benchtest.Documents(t, topk.Suite()) }

// Every operand MUST lie padded in some case, and what lengths leave unread MUST be poisoned.
func TestPaddedAndUnread(t *testing.T) {
	benchtest.Memory(t, topk.Suite(), "topk scores", "topk_pages scores", "topk_pages block_table")
}
