package totals

import (
	"cmp"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

// tables are the strata of two lists.
func tables(first, second []Answer) []stat.Table {
	at := map[stratum]*stat.Table{}
	table := func(a Answer) *stat.Table {
		t := at[a.stratum()]
		if t == nil {
			t = &stat.Table{}
			at[a.stratum()] = t
		}
		return t
	}
	for _, a := range first {
		if t := table(a); a.Wrong {
			t.A++
		} else {
			t.B++
		}
	}
	for _, a := range second {
		if t := table(a); a.Wrong {
			t.C++
		} else {
			t.D++
		}
	}
	var out []stat.Table
	for _, t := range at {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b stat.Table) int { // sums in one order
		return cmp.Or(a.A-b.A, a.B-b.B, a.C-b.C, a.D-b.D)
	})
	return out
}
