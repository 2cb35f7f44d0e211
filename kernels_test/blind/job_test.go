package blind_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/blind"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Every twentieth mutant of small operators MUST get the same answer from the whole job, which runs all rows again and
// ends no mutant early.
func TestJobAgrees(t *testing.T) {
	t.Setenv("ASSAY_BUDGET", "standard")
	asked := 0
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			if f.Op != "page_table" && f.Op != "sinkhorn" {
				continue
			}
			o, err := blind.Prepare(t.Context(), s, f)
			require.NoError(t, err)
			narrowed := s
			narrowed.Families, narrowed.Plants = []bench.Family{f}, nil
			for i, m := range o.Mutants() {
				if i%20 != 3 {
					continue
				}
				fate, _, err := o.Judge(t.Context(), m)
				require.NoError(t, err)
				all, err := job.Run(t.Context(), o.Candidate(m), job.Options{Suites: []bench.Suite{narrowed}})
				require.NoError(t, err)
				stopped := slices.ContainsFunc(all, func(j job.Judged) bool {
					return j.State == job.Fault || j.State == job.Looser
				})
				assert.Equal(t, fate.Stopped(), stopped, "%s: %s is %s", f.Op, m.Name, fate)
				asked++
			}
		}
	}
	t.Logf("%d mutants, the same answers", asked)
}
