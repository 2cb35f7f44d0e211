package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Orphans fails t when the family's golden holds cases that ids, the complete list of registered case IDs, does not
// claim. With -update they are removed instead. A missing file has no orphans.
func Orphans(t testing.TB, family string, ids []string) {
	t.Helper()
	roots, err := findRoots()
	if err != nil {
		t.Error(err)
		return
	}
	orphansIn(t, roots, family, ids)
}

func orphansIn(t testing.TB, roots []root, family string, ids []string) {
	t.Helper()
	file, name, err := load(roots, family)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	claimed := map[string]bool{}
	for _, id := range ids {
		claimed[id] = true
	}
	orphan := func(id string) bool { return !claimed[id] }
	var lost []string
	for _, id := range slices.Sorted(maps.Keys(file.Cases)) {
		if orphan(id) {
			lost = append(lost, id)
		}
	}
	switch {
	case len(lost) == 0:
	case Updating():
		if _, err := merge(t, roots, family, file.Provenance, nil, orphan); err != nil {
			t.Error(err)
			return
		}
		t.Logf("golden %s: removed %d orphaned cases", name, len(lost))
	default:
		t.Errorf("golden %s holds %d cases that no registered case claims: %s\n%s", name, len(lost), strings.Join(lost, ", "),
			commands(t))
	}
}

// FamiliesIn lists the families below fsys, sorted: every <pillar>/<family>.json. A JSON file outside of a pillar's
// folder, or with a name that cannot be a family, is an error.
func FamiliesIn(fsys fs.FS) ([]string, error) {
	var out []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".json") {
			return err
		}
		family := strings.TrimSuffix(p, ".json")
		if err := validFamily(family); err != nil {
			return fmt.Errorf("%s is no golden of any family: %w", p, err)
		}
		out = append(out, family)
		return nil
	})
	slices.Sort(out)
	return out, err
}
