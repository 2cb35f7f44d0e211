package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/sebdah/goldie/v2"
)

// Doc is what a test computed for a family.
type Doc struct {
	Provenance Provenance
	// Cases maps a case ID to its value: anything that marshals to JSON (Float for numbers that may be NaN or infinite).
	Cases map[string]any
}

// Assert compares doc with goldens/<family>.json, every number by its rule.
//
// A case without a golden, and a family without a file, is a failure; a golden without a case is not (see Orphans).
// With -update or GOLDIE_UPDATE=1 the violated and new cases are rewritten instead, the others keep their bytes, and a
// file with nothing violated is not touched. Incomplete provenance is a failure in either mode.
func Assert(t testing.TB, family string, doc Doc, rules Rules) {
	t.Helper()
	if err := errors.Join(validFamily(family), doc.Provenance.validate(family)); err != nil {
		t.Error(err)
		return
	}
	got, err := canonical(doc.Cases)
	if err != nil {
		t.Errorf("golden %q: %v", family, err)
		return
	}
	if len(got) == 0 {
		t.Errorf("golden %q: the test computed no case, so nothing was compared", family)
		return
	}
	roots, err := findRoots()
	if err != nil {
		t.Error(err)
		return
	}
	assertIn(t, roots, Updating(), family, Doc{doc.Provenance, got}, rules)
}

// assertIn is Assert on given roots with canonical cases.
func assertIn(t testing.TB, roots []root, updating bool, family string, doc Doc, rules Rules) {
	t.Helper()
	file, name, err := load(roots, family)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		t.Error(err)
		return
	case missing && !updating:
		t.Errorf("%v\n%s", err, commands(t))
		return
	case missing:
		file = &File{Cases: map[string]any{}}
	}
	violations := compareCases(doc.Cases, file.Cases, rules)
	if len(violations) == 0 {
		return
	}
	if updating {
		rewrite(t, roots, family, doc, violations)
		return
	}
	report(t, roots, family, name, doc, diffText(family, violations, len(doc.Cases))+commands(t))
}

// rewrite replaces the violated cases, and only those, so that noise within tolerance never churns a file.
func rewrite(t testing.TB, roots []root, family string, doc Doc, violations []violation) {
	t.Helper()
	renewed := map[string]any{}
	for _, v := range violations {
		renewed[v.caseID] = doc.Cases[v.caseID]
	}
	// What this run computed and found within tolerance may take this run's provenance: its old value stands for both.
	held, _, err := load(roots, family)
	if err == nil {
		for id := range doc.Cases {
			if _, ok := renewed[id]; !ok {
				renewed[id] = held.Cases[id]
			}
		}
	}
	name, err := merge(roots, family, doc.Provenance, renewed, nil)
	if err != nil {
		t.Error(err)
		return
	}
	t.Logf("golden %s updated: %d values", name, len(violations))
}

// report fails t. A family in a folder goes through goldie's own assertion; the built-in copy has no path to give it.
func report(t testing.TB, roots []root, family, name string, doc Doc, text string) {
	t.Helper()
	for _, r := range roots {
		if r.dir == "" || r.name+"/"+family+".json" != name || Updating() {
			continue
		}
		raw, err := encode(&File{version, family, doc.Provenance, doc.Cases})
		if err != nil {
			t.Error(err)
			return
		}
		goldie.New(t,
			goldie.WithFixtureDir(r.dir),
			goldie.WithNameSuffix(".json"),
			goldie.WithEqualFn(func(_, _ []byte) bool { return false }),
			goldie.WithDiffFn(func(_, _ string) string { return text }),
		).Assert(t, family, raw)
		return
	}
	t.Error(text)
}

// commands returns the two lines that a failure ends with.
func commands(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("  again  %s\n  accept %s\n", again(t), again(t, "-update"))
}

// Read returns a family's file for a test that judges by more than a rule per number, such as a paired test. The error
// wraps fs.ErrNotExist where there is none.
func Read(family string) (*File, error) {
	roots, err := findRoots()
	if err != nil {
		return nil, err
	}
	f, _, err := load(roots, family)
	return f, err
}

// Record writes cases into a family whatever stood there, and returns the file's name: for recording a live server,
// where -update has already been asked for. Cases that doc does not name keep their values.
func Record(family string, doc Doc) (string, error) {
	roots, err := findRoots()
	if err != nil {
		return "", err
	}
	cases, err := canonical(doc.Cases)
	if err != nil {
		return "", fmt.Errorf("golden %q: %w", family, err)
	}
	return merge(roots, family, doc.Provenance, cases, nil)
}
