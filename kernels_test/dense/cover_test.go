package dense_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/dense"
)

// At least 40 correct variants, three contracts and every phase for each attention operator.
func TestSuiteIsWide(t *testing.T) {
	s := dense.Suite()
	phases, contracts := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, c := range s.Cases() {
		for _, m := range []map[string]map[string]bool{phases, contracts} {
			if m[c.Family.Op] == nil {
				m[c.Family.Op] = map[string]bool{}
			}
		}
		phases[c.Family.Op][c.Scenario.Phase], contracts[c.Family.Op][c.Contract.Name] = true, true
	}
	for _, op := range []string{"gqa_attention", "mla_attention"} {
		if len(phases[op]) != 3 || len(contracts[op]) != 4 {
			t.Errorf("%s runs in phases %v under contracts %v", op, phases[op], contracts[op])
		}
	}
	if n := len(s.Variants); n < 40 {
		t.Errorf("%d correct variants, want at least 40", n)
	}
	require.GreaterOrEqual(t, len(s.Cases()), 80)
	_, err := s.Built("int4")
	require.ErrorContains(t, err, "\"int4\"")
}
