package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
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

// modulePath is assay's own.
const modulePath = "github.com/assay-suite/assay"

// Foreign tells whether this binary was built in another module, which has assay as a dependency.
func Foreign() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && info.Main.Path != "" && info.Main.Path != modulePath
}

// Version is the version of assay that this binary was built from, also where it is a dependency; empty where that is
// not known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return versionIn(info)
}

func versionIn(info *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == modulePath {
			if m.Replace != nil {
				return "(devel)"
			}
			return m.Version
		}
	}
	return ""
}

// OwnModule returns the root of the module that a test in dir belongs to: assay's source tree, or in a foreign binary
// the nearest folder with a go.mod. inside tells whether there is one; else root is dir.
func OwnModule(dir string) (root string, inside bool) {
	if !Foreign() {
		return FindModule(dir)
	}
	return nearestModule(dir, func(string) bool { return true })
}

// FindModule is ModuleRoot that says whether dir lies inside of the source tree.
func FindModule(dir string) (root string, inside bool) {
	return nearestModule(dir, func(mod string) bool { return strings.HasPrefix(mod, "module "+modulePath+"\n") })
}

// nearestModule is the first folder from dir upwards whose go.mod is meant.
func nearestModule(dir string, meant func(mod string) bool) (root string, inside bool) {
	for at := dir; ; {
		raw, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && meant(string(raw)) {
			return at, true
		}
		parent := filepath.Dir(at)
		if parent == at {
			return dir, false
		}
		at = parent
	}
}
