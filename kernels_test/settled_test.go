package kernels_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// A facet that a resumed run takes over MUST keep its name and its state: one that met only a looser contract than its
// format stands for is no pass the second time.
func TestSettledFacetsKeepTheirState(t *testing.T) {
	s, coarse := rounded(t)
	o := job.Options{Suites: []bench.Suite{s}}
	first, err := job.Run(t.Context(), coarse, o)
	require.NoError(t, err)
	o.Settled = map[string]job.Judged{}
	for _, j := range first { // what a ledger keeps
		require.Equal(t, job.Looser, j.State)
		o.Settled[j.Facet.String()] = job.Judged{Contract: j.Contract, Rows: j.Rows}
	}
	again, err := job.Run(t.Context(), coarse, o)
	require.NoError(t, err)
	require.Len(t, again, len(first))
	for i, j := range again {
		assert.Equal(t, first[i].Facet.String(), j.Facet.String())
		assert.Equal(t, job.Looser, j.State)
	}
	o.Contract = "bf16-steps"
	meant, err := job.Run(t.Context(), coarse, o)
	require.NoError(t, err)
	assert.Equal(t, job.Equivalent, meant[0].State)
}
