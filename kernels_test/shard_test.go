package kernels_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Shards split a worker's rows, and a row lies in the same shard under every contract: shards that settle on different
// contracts leave no row unjudged between them.
func TestShardsSplitRows(t *testing.T) {
	const n = 3
	all := job.Suites()
	s := all[slices.IndexFunc(all, func(s bench.Suite) bool { return s.Name == "norm" })]
	facets, err := s.Facets(s.Families[0])
	require.NoError(t, err)
	fc := facets[slices.IndexFunc(facets, func(fc bench.FacetCases) bool { return len(fc.Contracts) > 1 })]
	under, err := s.Built(fc.Contracts[0].Name)
	require.NoError(t, err)
	rows := map[string]int{}
	for i := range n {
		var rowsUnder [][]string
		for _, c := range fc.Contracts[:2] {
			o := job.Options{Suites: []bench.Suite{s}, Shard: suite.Shard{Index: i, Count: n}, Contract: c.Name, Brief: true}
			j, err := o.Facet(t.Context(), s, fc, under, bench.Capability{})
			require.NoError(t, err)
			var ids []string
			for _, r := range j.Rows {
				ids = append(ids, strings.TrimSuffix(r.Case.ID, "/"+c.Name))
			}
			rowsUnder = append(rowsUnder, ids)
		}
		if diff := cmp.Diff(rowsUnder[0], rowsUnder[1]); diff != "" {
			t.Errorf("shard %d/%d has other rows under %s than under %s:\n%s", i, n, fc.Contracts[0].Name,
				fc.Contracts[1].Name, diff)
		}
		for _, id := range rowsUnder[0] {
			rows[id]++
		}
	}
	if len(rows) != len(fc.Rows) {
		t.Errorf("%d of %d rows lie in a shard", len(rows), len(fc.Rows))
	}
	for id, count := range rows {
		if count != 1 {
			t.Errorf("%s lies in %d shards", id, count)
		}
	}
}
