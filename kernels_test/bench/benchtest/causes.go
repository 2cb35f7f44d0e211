package benchtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

// Except is where a suite is below the bar of Causes, as measured; what does better than it is listed fails the test
// too.
type Except struct {
	Later, Unnamed []string // catalogue rows whose class is named but not first, and not at all
	Own            int      // of the suite's own plants, how many are named where that is below three in four
}

// tally counts the plants whose class the diagnosis names: first of all causes, or among them.
type tally struct{ of, first, among int }

// Causes diagnoses every plant on the first case, by ID, whose verdict stops it; a crash says nothing about its cause
// and is passed over. The diagnosis knows neither the plant nor its row. The bar: the class of every row of the
// catalogue is named first, and of three in four of the suite's own plants it is named. The own ones all run under
// ASSAY_BUDGET=full, else a slice (bench.Every) that is only logged. It also fails the test for a class that does not
// exist and for a row of this suite that is not planted.
func Causes(t *testing.T, s bench.Suite, but Except) {
	t.Helper()
	classes := faults.Classes()
	benches := map[string]*bench.Bench{}
	var rows, own tally
	for i, p := range s.Plants {
		if classes[p.Class] == "" {
			t.Errorf("plant %q has class %q, which is none of faults.Classes", p.Name, p.Class)
		}
		if p.Row == "" && i%bench.Every() != 0 {
			continue
		}
		named, id, ok := diagnose(t, s, p, benches)
		if !ok {
			if p.Row != "" {
				t.Errorf("row %s: no case stops plant %q by its verdict", p.Row, p.Name)
			}
			continue
		}
		count := &own
		if p.Row != "" {
			count = &rows
			but.check(t, p, named, id)
		}
		at := slices.Index(named, p.Class)
		count.of++
		if at == 0 {
			count.first++
		}
		if at >= 0 {
			count.among++
		}
		t.Logf("%-4s %-32s %-18s %s   %s", p.Row, p.Name, p.Class, strings.Join(named, " "), id)
	}
	for _, r := range faults.Catalogue() {
		planted := slices.ContainsFunc(s.Plants, func(p bench.Plant) bool { return p.Row == r.ID })
		if want := r.Suite == s.Name && r.KilledBy == faults.Output; planted != want {
			t.Errorf("row %s (%s) of suite %q: planted here %t, want %t", r.ID, r.Slug, r.Suite, planted, want)
		}
	}
	t.Logf("rows: first %d, among %d of %d; own: first %d, among %d of %d", rows.first, rows.among, rows.of, own.first,
		own.among, own.of)
	if below := 4*own.among < 3*own.of; bench.Every() == 1 && (below || but.Own > 0) && (!below || own.among != but.Own) {
		t.Errorf("of %d faults of suite %q's own, the diagnosis names %d, want three in four, or %d as excepted", own.of,
			s.Name, own.among, but.Own)
	}
}

// check holds the place of a row's class against what is said of the row.
func (e Except) check(t *testing.T, p bench.Plant, named []string, id string) {
	t.Helper()
	want, at := "first", slices.Index(named, p.Class)
	switch {
	case slices.Contains(e.Unnamed, p.Row):
		want = "nowhere"
	case slices.Contains(e.Later, p.Row):
		want = "later"
	}
	got := "later"
	if at <= 0 {
		got = map[int]string{-1: "nowhere", 0: "first"}[at]
	}
	if got != want {
		t.Errorf("row %s: in %s the diagnosis of %q names %v: its class %q comes %s, want %s", p.Row, id, p.Name, named,
			p.Class, got, want)
	}
}

// diagnose names the classes of the causes, each once, in order; ok is false where no verdict stops the plant.
func diagnose(t *testing.T, s bench.Suite, p bench.Plant, benches map[string]*bench.Bench) (named []string, id string,
	ok bool,
) {
	t.Helper()
	for _, c := range s.Cases() {
		if !p.Concerns(c) {
			continue
		}
		b := benches[c.ID]
		if b == nil {
			var err error
			if b, err = bench.New(c); err != nil {
				t.Fatal(err)
			}
			benches[c.ID] = b
		}
		under, err := p.Build(c.Contract.Name)
		if err != nil {
			t.Fatalf("plant %q under contract %q: %v", p.Name, c.Contract.Name, err)
		}
		r, err := b.Judge(t.Context(), under)
		if err != nil || r.Accepted() {
			continue
		}
		for _, cause := range b.Explain(t.Context(), under, r) {
			if !slices.Contains(named, cause.Class) {
				named = append(named, cause.Class)
			}
		}
		return named, c.ID, true
	}
	return nil, "", false
}
