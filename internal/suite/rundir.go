package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NewRunDir makes the folder of a run under parent: its UTC time, with a counter where two runs share a second.
func NewRunDir(parent string, now time.Time) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("the artifacts folder cannot be made (ASSAY_ARTIFACTS names another): %w", err)
	}
	stamp := now.UTC().Format("2006-01-02T15-04-05Z")
	for n := 1; ; n++ {
		dir := filepath.Join(parent, stamp)
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", dir, n)
		}
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("the run folder cannot be made (ASSAY_ARTIFACTS names another place): %w", err)
		}
	}
}

// artifacts returns the folder that ASSAY_ARTIFACTS names. A relative one is taken from the root of this module where
// the working directory is inside of it, so that `go test` in a package folder and a binary at the root agree.
func artifacts() (string, error) {
	dir, _ := Value("ASSAY_ARTIFACTS")
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the artifacts folder cannot be placed: %w", err)
	}
	return filepath.Join(ModuleRoot(wd), dir), nil
}

// ModuleRoot returns the root of assay's source tree that dir lies in, or dir where it lies in none.
func ModuleRoot(dir string) string {
	root, _ := FindModule(dir)
	return root
}

// FindModule is ModuleRoot that says whether dir lies inside of the source tree.
func FindModule(dir string) (root string, inside bool) {
	for at := dir; ; {
		raw, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(raw), "module github.com/assay-suite/assay\n") {
			return at, true
		}
		parent := filepath.Dir(at)
		if parent == at {
			return dir, false
		}
		at = parent
	}
}
