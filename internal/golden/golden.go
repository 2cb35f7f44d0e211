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
	if len(doc.Cases) == 0 {
		t.Errorf("golden %q: the test computed no case, so nothing was compared", family)
		return
	}
	roots, err := findRoots()
	if err != nil {
		t.Error(err)
		return
	}
	assertIn(t, roots, family, doc, rules)
}

// assertIn is Assert on given roots.
func assertIn(t testing.TB, roots []root, family string, doc Doc, rules Rules) {
	t.Helper()
	actual, err := encode(&File{version, family, doc.Provenance, doc.Cases})
	if err != nil {
		t.Error(err)
		return
	}
	r, expected, err := read(roots, family)
	missing := errors.Is(err, fs.ErrNotExist)
	c := &comparison{family: family, name: r.name + "/" + family + ".json", rules: rules, commands: commands(t)}
	switch {
	case err != nil && !missing:
		t.Error(err)
	case Updating():
		c.update(t, roots, actual, expected)
	case missing:
		t.Errorf("%v\n%s", err, c.commands)
	default:
		dir, err := r.onDisk(t, family, expected)
		if err != nil {
			t.Error(err)
			return
		}
		goldie.New(t, goldie.WithFixtureDir(dir), goldie.WithNameSuffix(".json"),
			goldie.WithEqualFn(c.equal), goldie.WithDiffFn(c.diff)).Assert(t, family, actual)
	}
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
func Record(t testing.TB, family string, doc Doc) (string, error) {
	t.Helper()
	roots, err := findRoots()
	if err != nil {
		return "", err
	}
	cases, err := canonical(doc.Cases)
	if err != nil {
		return "", fmt.Errorf("golden %q: %w", family, err)
	}
	return merge(t, roots, family, doc.Provenance, cases, nil)
}
