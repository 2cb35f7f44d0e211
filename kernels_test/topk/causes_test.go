package topk_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/topk"
)

// The diagnosis MUST name the class of a catalogued fault first for 4 of 5 rows, and among its causes for 19 of 20, on
// the first case in order of ID that stops it. It knows neither the plant nor the row. Under ASSAY_BUDGET=full the
// suite's own plants are logged beside.
func TestCauses(t *testing.T) {
	s := topk.Suite()
	benches := map[string]*bench.Bench{}
	rows, firsts, among := 0, 0, 0
	for _, p := range s.Plants {
		if p.Row == "" && bench.Every() > 1 {
			continue
		}
		b, found := firstKiller(t, s, p, benches)
		if !found {
			continue // TestSuite says so
		}
		under, err := p.Build(b.Case.Contract.Name)
		require.NoError(t, err)
		r, err := b.Judge(t.Context(), under)
		var causes []bench.Cause
		if err == nil {
			causes = b.Explain(t.Context(), under, r)
		}
		at := slices.IndexFunc(causes, func(c bench.Cause) bool { return c.Class == p.Class })
		named := ""
		if len(causes) > 0 {
			named = causes[0].Class
		}
		t.Logf("%-3s %-24s %-18s first %-18s place %d of %d, %s", cmp.Or(p.Row, "-"), p.Name, p.Class, named, at+1,
			len(causes), b.Case.ID)
		if p.Row == "" {
			continue
		}
		rows++
		if at == 0 {
			firsts++
		}
		if at >= 0 {
			among++
		}
	}
	t.Logf("catalogue: %d rows, %d named first, %d among", rows, firsts, among)
	if rows != 3 || 5*firsts < 4*rows || 20*among < 19*rows {
		t.Errorf("of %d rows the diagnosis names %d first and %d at all; want 3 rows, 80 %% and 95 %%", rows, firsts, among)
	}
}

// firstKiller is the first case by ID that stops a plant.
func firstKiller(t *testing.T, s bench.Suite, p bench.Plant, benches map[string]*bench.Bench) (*bench.Bench, bool) {
	t.Helper()
	for _, c := range s.Cases() {
		if !p.Concerns(c) {
			continue
		}
		b := benches[c.ID]
		if b == nil {
			var err error
			b, err = bench.New(c)
			require.NoError(t, err)
			benches[c.ID] = b
		}
		gate, err := b.Kill(t.Context(), p)
		require.NoError(t, err)
		if gate != "" {
			return b, true
		}
	}
	return nil, false
}
