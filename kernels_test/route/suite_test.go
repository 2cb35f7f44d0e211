package route_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/route"
)

// Every correct candidate MUST be accepted, every plant stopped by at least two cases, one of which does not list it.
// The diagnosis MUST name the class of a row of the catalogue: on the first case that stops it, first of all causes.
func TestSuite(t *testing.T) {
	suite := route.Suite()
	proof, err := suite.Prove(t.Context(), bench.Options{Every: bench.Every()})
	require.NoError(t, err)
	for _, p := range proof.Problems {
		t.Error(p)
	}
	t.Logf("%d cases, %d runs, %d variants, %d plants", proof.Cases, proof.Runs, len(suite.Variants), len(suite.Plants))
	assert.GreaterOrEqual(t, proof.Cases, 80)
	assert.GreaterOrEqual(t, len(suite.Variants), 40)
	causes(t, suite, proof)
}

// causes compares what the diagnosis names with the class of every plant.
func causes(t *testing.T, suite bench.Suite, proof bench.Proof) {
	t.Helper()
	cases := suite.Cases()
	var first, among int
	for _, p := range suite.Plants {
		ids, _ := proof.Kills[p.Name].Killers(cases)
		if len(ids) == 0 {
			continue // a problem already
		}
		at := slices.IndexFunc(cases, func(c bench.Case) bool { return c.ID == ids[0] })
		b, err := bench.New(cases[at])
		require.NoError(t, err)
		under, err := p.Build(cases[at].Contract.Name)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), under)
		if err != nil {
			continue // it crashes
		}
		var named []string
		for _, c := range b.Explain(t.Context(), under, r) {
			named = append(named, c.Class)
		}
		if len(named) > 0 && named[0] == p.Class {
			first++
		}
		if slices.Contains(named, p.Class) {
			among++
		}
		t.Logf("%-28s %-18s %s   %s", p.Name, p.Class, strings.Join(named, " "), ids[0])
		if p.Row != "" {
			require.NotEmpty(t, named, "row %s in %s", p.Row, ids[0])
			assert.Equal(t, p.Class, named[0], "row %s in %s", p.Row, ids[0])
		}
	}
	t.Logf("of %d plants the class is named first for %d, at all for %d", len(suite.Plants), first, among)
}
