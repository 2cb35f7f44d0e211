package golden

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sebdah/goldie/v2"
)

// inCI lets -update through although CI is set.
var inCI = flag.Bool("update-in-ci", false, "let -update rewrite goldens although CI is set")

// writing keeps two parallel tests of one binary from merging into the same file at once.
var writing sync.Mutex

// Updating reports whether goldens are to be rewritten: -update, or GOLDIE_UPDATE=1.
func Updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// mayUpdate returns an error when an update was asked for where it is refused.
func mayUpdate(family string) error {
	if ci, ok := os.LookupEnv("CI"); ok && ci != "" && ci != "false" && ci != "0" && !*inCI {
		return fmt.Errorf("golden %q is not updated because CI=%q is set: update where you can read the diff, or add "+
			"-update-in-ci", family, ci)
	}
	return nil
}

// update replaces the violated cases, and only those, so that noise within tolerance never churns a file. There may be
// nothing expected yet.
func (c *comparison) update(t testing.TB, roots []root, actual, expected []byte) {
	t.Helper()
	if expected == nil {
		expected = fmt.Appendf(nil, `{"assay-golden": %d, "family": %q, "cases": {}}`, version, c.family)
	}
	if c.equal(actual, expected) {
		return
	}
	if c.err != nil {
		t.Error(c.err)
		return
	}
	// What this run computed and found within tolerance may take this run's provenance: its old value stands for both.
	cases := c.got.Cases
	renewed := map[string]bool{}
	for _, v := range c.violations {
		renewed[v.caseID] = true
	}
	for id := range cases {
		if !renewed[id] {
			cases[id] = c.want.Cases[id]
		}
	}
	name, err := merge(t, roots, c.family, c.got.Provenance, cases, nil)
	if err != nil {
		t.Error(err)
		return
	}
	t.Logf("golden %s updated: %d values", name, len(c.violations))
}

// merge writes cases into the family's file: cases that this run did not compute keep their values, so their provenance
// must be the same.
func merge(t testing.TB, roots []root, family string, prov Provenance, cases map[string]any,
	drop func(id string) bool,
) (string, error) {
	t.Helper()
	if err := errors.Join(validFamily(family), mayUpdate(family), prov.validate(family)); err != nil {
		return "", err
	}
	to, err := writable(roots, family)
	if err != nil {
		return "", err
	}
	writing.Lock()
	defer writing.Unlock()
	out := &File{version, family, prov.stamped(), map[string]any{}}
	old, _, err := load([]root{to}, family)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if old != nil {
		for id, v := range old.Cases {
			if _, renewed := cases[id]; renewed || drop != nil && drop(id) {
				continue
			}
			if old.Provenance.identity() != prov.identity() {
				return "", fmt.Errorf("golden %q holds the case %q of another provenance (%+v) which this run did not compute: "+
					"update the whole family at once", family, id, old.Provenance.identity())
			}
			out.Cases[id] = v
		}
	}
	maps.Copy(out.Cases, cases)
	raw, err := encode(out)
	if err != nil {
		return "", err
	}
	name := filepath.Join(to.dir, filepath.FromSlash(family)+".json")
	return name, write(t, name, raw)
}

// write has goldie write raw to a temporary folder beside name, and renames the file: nobody reads half of it, and
// goldie's -clean finds no older file to remove.
func write(t testing.TB, name string, raw []byte) (err error) {
	t.Helper()
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("golden folder %s cannot be made: %w", dir, err)
	}
	temporary, err := os.MkdirTemp(dir, ".golden-*") //nolint:usetesting // beside the file, for the rename
	if err != nil {
		return fmt.Errorf("golden file %s cannot be written: %w", name, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	g := goldie.New(t, goldie.WithFixtureDir(temporary), goldie.WithNameSuffix(""))
	base := filepath.Base(name)
	if err := g.Update(t, base, raw); err != nil {
		return fmt.Errorf("golden file %s cannot be written: %w", name, err)
	}
	return os.Rename(g.GoldenFileName(t, base), name)
}
