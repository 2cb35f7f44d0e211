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

	// goldie registers -update and reads GOLDIE_UPDATE; see doc.go.
	_ "github.com/sebdah/goldie/v2"
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

// merge writes cases into the family's file: cases that this run did not compute keep their values, so their provenance
// must be the same.
func merge(roots []root, family string, prov Provenance, cases map[string]any, drop func(id string) bool) (string,
	error,
) {
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
	return name, writeFile(name, raw)
}
