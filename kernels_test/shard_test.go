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

// A shard in which nothing fails MUST NOT say that anything is equivalent: facets are judged by all of their rows.
func TestShardIsNotJudged(t *testing.T) {
	row := func(o suite.Outcome) job.Judged {
		return job.Judged{Rows: []job.Row{{Outcome: o}}, State: job.Equivalent}
	}
	whole := job.Outcome{Hello: bench.Hello{Name: "mine"}, Judged: []job.Judged{row(suite.Passed)}}
	require.Equal(t, int(suite.Pass), whole.Verdict().Code)
	for _, hello := range []bench.Hello{{Name: "mine"}, {}} { // a worker, and the built-in candidates
		part := whole
		part.Hello, part.Shard = hello, suite.Shard{Index: 1, Count: 3}
		require.Equal(t, int(suite.Inconclusive), part.Verdict().Code)
		require.Contains(t, part.Verdict().Text, "shard 1/3: nothing failed in 1 cases")
		require.NotContains(t, part.Verdict().Text, "equivalent")
		part.Judged = []job.Judged{row(suite.Failed)}
		part.Judged[0].State = job.Fault
		require.Equal(t, int(suite.Regression), part.Verdict().Code)
	}
}
