package golden

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-suite/assay/goldens"
	"github.com/assay-suite/assay/internal/suite"
)

// root is a place that goldens are read from; dir is empty where nothing can be written.
type root struct {
	name, dir string
	fsys      fs.FS
}

// findRoots returns where goldens are looked for, in order: the folder named by ASSAY_GOLDENS, the goldens folder of
// the module that the working directory is in, and, in assay's own binaries, the copy built in. A relative
// ASSAY_GOLDENS is taken from the module's root, or from the working directory outside of a module.
func findRoots() ([]root, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("the goldens folder cannot be looked for: %w", err)
	}
	module, inside := suite.OwnModule(wd)
	var roots []root
	if set, ok := suite.Value("ASSAY_GOLDENS"); ok {
		dir := set
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(module, dir)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("ASSAY_GOLDENS=%q is not a folder: make it, or unset the variable to use the shipped goldens",
				set)
		}
		roots = append(roots, root{dir, dir, os.DirFS(dir)})
	}
	if dir := filepath.Join(module, "goldens"); inside {
		roots = append(roots, root{dir, dir, os.DirFS(dir)})
	}
	if suite.Foreign() {
		return roots, nil // what is built in is assay's
	}
	return append(roots, root{"the goldens built into this binary", "", goldens.FS}), nil
}

// writable returns the first root that can be written to.
func writable(roots []root, family string) (root, error) {
	for _, r := range roots {
		if r.dir != "" {
			return r, nil
		}
	}
	return root{}, fmt.Errorf("golden %q cannot be updated: this binary runs outside of the source tree, where its "+
		"goldens are read-only; set ASSAY_GOLDENS to a folder of yours", family)
}

// onDisk returns a folder in which goldie finds the family, whose bytes are raw: what is built in is unpacked.
func (r root) onDisk(t testing.TB, family string, raw []byte) (string, error) {
	t.Helper()
	if r.dir != "" {
		return r.dir, nil
	}
	dir := t.TempDir()
	return dir, write(t, filepath.Join(dir, filepath.FromSlash(family)+".json"), raw)
}

func rootNames(roots []root) string {
	names := make([]string, len(roots))
	for i, r := range roots {
		names[i] = r.name
	}
	return strings.Join(names, ", ")
}
