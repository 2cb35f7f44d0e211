package blind_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/blind"
	"github.com/assay-suite/assay/kernels_test/internal/job"
)

// Every operand of indices MUST have a domain, and every domain an operand.
func TestDomains(t *testing.T) {
	used := map[string]bool{}
	for _, s := range job.Suites() {
		for _, f := range s.Families {
			for _, o := range f.Doc.Operands {
				if !strings.Contains(o.DType, bench.I32) && !strings.Contains(o.DType, bench.I64) {
					continue
				}
				_, _, ok := blind.Domain(f.Op, o.Name)
				assert.True(t, ok, "%s: operand %s of indices has no domain (domains.go)", f.Op, o.Name)
				used[o.Name] = true
			}
		}
	}
	assert.Equal(t, slices.Sorted(maps.Keys(used)), blind.Domains(), "operands and domains")
}

// Every extent MUST be larger than the one before it, and a key of a configuration MUST be of models whose source is
// named.
func TestExtentsHaveSources(t *testing.T) {
	for kind, all := range blind.Extents {
		for i, e := range all {
			assert.True(t, i == 0 || e.N > all[i-1].N, "%s: %d after %d", kind, e.N, all[max(i-1, 0)].N)
			if !strings.Contains(e.Source, "_") || strings.Contains(e.Source, "(unsourced)") {
				continue // a tile, what follows from another extent, or listed in Unsourced
			}
			found := slices.ContainsFunc(slices.Collect(maps.Keys(blind.Configs)), func(model string) bool {
				return strings.Contains(e.Source, model)
			})
			assert.True(t, found || strings.Contains(e.Source, "SGLang") || strings.Contains(e.Source, "hc_mult"),
				"%s: %d is of %q, none of whose models has a source", kind, e.N, e.Source)
		}
	}
}
