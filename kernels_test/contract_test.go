package kernels_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
	"github.com/assay-suite/assay/kernels_test/mhc"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/oracle/faults"
)

// The contract of a candidate MUST be found by itself: the sharpest that it meets in every case of a facet. One that is
// looser than the format is said to be, unless it is demanded; a faulty candidate meets none.
func TestContractsAreFound(t *testing.T) {
	tf32, err := mhc.Built("tf32-rn")
	require.NoError(t, err)
	turned, err := faults.Lookup("hc-norm-sqrt2")
	require.NoError(t, err)
	heads := only(t, "mhc_head")
	for _, row := range []struct {
		name, contract, demanded string
		under                    bench.Candidate
		state                    job.State
	}{
		{"exact", "fp32", "", mhc.FromOps("exact", oracle.Reference()), job.Equivalent},
		{"tf32", "tf32-rn", "", mhc.FromOps("tf32", tf32.Ops()), job.Looser},
		{"tf32 as meant", "tf32-rn", "tf32-rn", mhc.FromOps("tf32", tf32.Ops()), job.Equivalent},
		{"tf32 sold as fp32", "fp32", "fp32", mhc.FromOps("tf32", tf32.Ops()), job.Fault},
		{"faulty", "bf16", "", mhc.FromOps("faulty", turned.Apply(oracle.Reference())), job.Fault},
	} {
		t.Run(row.name, func(t *testing.T) {
			all, err := job.Run(t.Context(), row.under, job.Options{
				Suites: []bench.Suite{heads}, Contract: row.demanded,
				Keep: func(id string) bool { return strings.Contains(id, "nano-t4") },
			})
			require.NoError(t, err)
			require.NotEmpty(t, all)
			require.Equal(t, "F32 -> F32", all[0].Facet.Slug())
			assert.Equal(t, row.state, all[0].State)
			assert.Equal(t, row.contract, all[0].Contract)
			if row.name == "faulty" {
				assert.NotEmpty(t, all[0].Causes)
				assert.Equal(t, "hc-norm-sqrt2", all[0].Rows[0].Like[0].Name)
			}
		})
	}
}

// only is the suite that has an operator, without its others.
func only(t *testing.T, op string) bench.Suite {
	t.Helper()
	for _, s := range job.Suites() {
		s.Families = slices.DeleteFunc(s.Families, func(f bench.Family) bool { return f.Op != op })
		if len(s.Families) > 0 {
			return s
		}
	}
	t.Fatalf("no operator is called %q", op)
	return bench.Suite{}
}

// Candidates that follow a contract to the letter MUST be accepted by every facet that the contract's format has, under
// it or a sharper one. Every facet with a floating-point output MUST ask for NaN in each.
func TestBuiltInCandidatesMeetTheirFacets(t *testing.T) {
	verdicts := 0
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			facets, err := s.Facets(f)
			require.NoError(t, err)
			for _, fc := range facets {
				verdicts += len(fc.Rows) * len(fc.Contracts)
				asked := asksForNaN{}
				for _, contract := range fc.Contracts {
					built, err := s.Built(contract.Name)
					require.NoError(t, err)
					for i, r := range fc.Rows {
						isNaN := strings.HasSuffix(r.ID, "-nan")
						if i%24 != 0 && !isNaN && budget() != "full" { // a slice: TestCases has the registered ones
							continue
						}
						b, err := bench.New(r.Under(contract))
						require.NoError(t, err)
						if isNaN {
							asked.see(b)
						}
						report, err := b.Judge(t.Context(), built)
						require.NoError(t, err)
						if !report.Accepted() {
							t.Error(fc.Facet, b.Failure(t.Context(), built, report, nil))
						}
					}
				}
				for name, is := range asked {
					assert.True(t, is || slices.Contains(f.NaN.Loose, name), "%s: no NaN is asked for in %s", fc.Facet, name)
				}
			}
		}
	}
	assert.LessOrEqual(t, verdicts, bench.Gates, "the risk of a run is shared among bench.Gates verdicts")
	t.Logf("%d verdicts in a run of everything", verdicts)
}

// A phase that never reaches the kernel which the others run MUST be named.
func TestReach(t *testing.T) {
	line := func(op, phase string, paths ...string) job.Line {
		return job.Line{Op: op, Facet: op + ", " + phase, Phase: phase, Paths: paths}
	}
	assert.Equal(t, []string{
		`sparse_attention, prefill never reached "sm90 sparse": every call took "torch fallback"`,
	}, job.Reach([]job.Line{
		line("sparse_attention", "prefill", "torch fallback"), line("sparse_attention", "decode", "sm90 sparse"),
		line("sparse_attention", "extend", "sm90 sparse"), line("topk", "decode", "radix"), line("mhc_pre", "", "a"),
	}))
}
