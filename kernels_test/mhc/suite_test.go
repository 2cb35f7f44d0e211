package mhc_test

import (
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench/benchtest"
	"github.com/assay-suite/assay/kernels_test/mhc"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
func TestSuite(t *testing.T) { benchtest.Prove(t, mhc.Suite()) }

// The diagnosis MUST name the class of H1 first. Sinkhorn's variants are cured by an eps of 0 as well; the first case
// of A6 passes with gates that are scaled.
func TestCauses(t *testing.T) {
	benchtest.Causes(t, mhc.Suite(), benchtest.Except{Later: []string{"H3", "H4"}, Unnamed: []string{"A6"}, Own: 26})
}

// Every operand, output and attribute MUST be documented.
func TestDocuments(t *testing.T) { benchtest.Documents(t, mhc.Suite()) }
