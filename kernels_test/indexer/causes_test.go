package indexer_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/indexer"
	"github.com/assay-suite/assay/oracle/faults"
)

// The diagnosis of every fault, on the first case that stops it, names its class: for rows of the catalogue first in
// four of five and somewhere in nineteen of twenty; for the suite's own faults somewhere in three of four.
func TestCauses(t *testing.T) {
	s := indexer.Suite()
	benches := map[string]*bench.Bench{}
	type tally struct{ of, first, among int }
	var rows, own tally
	classes := faults.Classes()
	for i, p := range s.Plants {
		if p.Row == "" && i%bench.Every() != 0 {
			continue
		}
		if classes[p.Class] == "" {
			t.Errorf("fault %q has class %q, which is none", p.Name, p.Class)
		}
		under, err := p.Build(contractOf(p))
		require.NoError(t, err)
		for _, c := range s.Cases() {
			if !p.Concerns(c) || c.Contract.Name != contractOf(p) {
				continue
			}
			if benches[c.ID] == nil {
				if benches[c.ID], err = bench.New(c); err != nil {
					t.Fatal(err)
				}
			}
			b := benches[c.ID]
			r, err := b.Judge(t.Context(), under)
			if err != nil || r.Accepted() {
				continue
			}
			var names []string
			for _, cause := range b.Explain(t.Context(), under, r) {
				names = append(names, cause.Class)
			}
			names = compact(names)
			count := &own
			if p.Row != "" {
				count = &rows
			}
			count.of++
			if len(names) > 0 && names[0] == p.Class {
				count.first++
			}
			if slices.Contains(names, p.Class) {
				count.among++
			}
			t.Logf("%-32s %-16s %-40v %s", p.Name, p.Class, names, c.ID)
			break
		}
	}
	t.Logf("catalogue: first %d, among %d of %d; own: first %d, among %d of %d", rows.first, rows.among, rows.of,
		own.first, own.among, own.of)
	if rows.of < 2 || 5*rows.first < 4*rows.of || 20*rows.among < 19*rows.of {
		t.Errorf("of %d rows of the catalogue, %d are named first and %d at all", rows.of, rows.first, rows.among)
	}
	if bench.Every() == 1 && 4*own.among < 3*own.of {
		t.Errorf("of %d own faults, %d are named", own.of, own.among)
	}
}

// contractOf is a contract that a plant runs under: the sharpest.
func contractOf(p bench.Plant) string {
	if slices.Contains(p.Declared, "fp32") {
		return "fp32"
	}
	return p.Declared[0]
}

func compact(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
