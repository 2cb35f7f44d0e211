package kernels_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/internal/job"
	"github.com/assay-suite/assay/kernels_test/internal/tape"
)

// mustReject are the workers (planted is adapters/engines/planted.py) and operators of which at least one replayed row
// is rejected: every planted fault, and the findings of docs/findings.md that were run here.
var mustReject = []string{
	"planted merge_state", "planted rms_norm", "planted block_fp8_gemm", "planted rope", "planted mhc_post",
	"planted moe_gate", "planted moe_combine", "planted gqa_attention",
	"sglang-triton hash_gate", "sglang-triton merge_state", "vllm-triton merge_state",
}

// What kernels answered on a device MUST get the verdict that it got there: real kernels accepted, faults that were
// planted on the device and the findings of docs/findings.md rejected. A row whose case draws other inputs by now is
// stale: it is counted, and the tapes have to be taken again before a fifth of them are. All rows are replayed under
// the full budget; otherwise every one that was rejected and a quarter of the others.
func TestTapes(t *testing.T) {
	names, err := fs.Glob(fixtures.FS, "tapes/*/*.json.gz")
	require.NoError(t, err)
	require.NotEmpty(t, names, "there is no tape")
	find := caseFinder(t)
	rows, stale := 0, 0
	rejected := map[string]int{} // by worker and operator
	for _, name := range names {
		read, err := tape.Read(fixtures.FS, name)
		require.NoError(t, err)
		accepted := 0
		for i, r := range read.Rows {
			if r.Accepted && i%4 != 2 && budget() != "full" {
				continue
			}
			rows++
			require.NotEmpty(t, r.Vouched.By, "%s: %s is vouched for by nobody", name, r.Case)
			c, err := find(r)
			if err != nil {
				stale++
				t.Log(err)
				continue
			}
			b, err := bench.New(c)
			require.NoError(t, err)
			report, err := b.Judge(t.Context(), read.Replay(r))
			if errors.Is(err, tape.ErrStale) {
				stale++
				t.Log(err)
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, r.Accepted, report.Accepted(), "%s: %s, %s on the device", name, r.Case, r.Gate)
			if report.Accepted() {
				accepted++
			} else {
				rejected[read.Worker+" "+r.Op]++
			}
		}
		t.Logf("%s: %s %s on %s: %d rows, %d accepted", name, read.Worker, read.Release, read.Device, len(read.Rows),
			accepted)
	}
	t.Logf("%d rows, %d stale", rows, stale)
	assert.Less(t, stale, rows/5, "take the tapes again: ASSAY_TAPES=<folder> go tool mage gpu")
	for _, name := range mustReject {
		assert.NotZero(t, rejected[name], "no replayed row rejects %s", name)
	}
}

// caseFinder finds the case of a row, moved to the sizes that its kernel is made for.
func caseFinder(t *testing.T) func(r tape.Row) (bench.Case, error) {
	t.Helper()
	facets := map[string][]bench.FacetCases{}
	return func(r tape.Row) (bench.Case, error) {
		for _, s := range job.Suites() {
			at := slices.IndexFunc(s.Families, func(f bench.Family) bool { return f.Op == r.Op })
			if at < 0 {
				continue
			}
			if facets[r.Op] == nil {
				var err error
				facets[r.Op], err = s.Facets(s.Families[at])
				require.NoError(t, err)
			}
			for _, fc := range facets[r.Op] {
				for _, row := range fc.Rows {
					if !strings.HasPrefix(r.Case, row.ID) {
						continue
					}
					for _, contract := range fc.Contracts {
						if contract.Name != r.Contract {
							continue
						}
						if c, err := bench.Retarget(row.Under(contract), r.MadeFor); err == nil && c.ID == r.Case {
							return c, nil
						}
					}
				}
			}
		}
		return bench.Case{}, fmt.Errorf("no case is called %q any more", r.Case)
	}
}
