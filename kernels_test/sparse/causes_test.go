package sparse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/sparse"
	"github.com/assay-suite/assay/oracle/faults"
)

// The cause that is named first for a catalogue row's fault, at the first case that stops it, MUST be the row's class
// for at least 80 % of the rows, and the class MUST be among the causes for at least 95 %.
func TestCauses(t *testing.T) {
	s := sparse.Suite()
	classes := faults.Classes()
	var all, named, among int
	for _, p := range s.Plants {
		if _, known := classes[p.Class]; !known {
			t.Errorf("plant %s has the class %q, which does not exist", p.Name, p.Class)
		}
		if p.Row == "" {
			continue
		}
		all++
		causes := diagnose(t, s, p)
		for i, c := range causes {
			if c.Class == p.Class {
				if among++; i == 0 {
					named++
				}
				break
			}
		}
		first := "nothing"
		if len(causes) > 0 {
			first = causes[0].Class + " (" + causes[0].Name + ")"
		}
		t.Logf("%-4s %-28s true %-14s named %s of %d", p.Row, p.Name, p.Class, first, len(causes))
	}
	t.Logf("first %d of %d, among %d of %d", named, all, among, all)
	if named*100 < 80*all || among*100 < 95*all {
		t.Errorf("first %d and among %d of %d rows", named, among, all)
	}
}

// diagnose explains a fault at the first case, by ID, that stops it.
func diagnose(t *testing.T, s bench.Suite, p bench.Plant) []bench.Cause {
	t.Helper()
	for _, c := range s.Cases() {
		if !p.Concerns(c) {
			continue
		}
		b, err := bench.New(c)
		require.NoError(t, err)
		under, err := p.Build(c.Contract.Name)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), under)
		if err == nil && !r.Accepted() { // a crash says nothing about its cause
			t.Logf("     %s: %s", c.ID, r.Gate())
			return b.Explain(t.Context(), under, r)
		}
	}
	require.Failf(t, "survives", "%s", p.Name)
	return nil
}
