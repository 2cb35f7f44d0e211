package golden

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/assay-suite/assay/internal/suite"
)

// again returns the command that runs the current test alone, anchored and quoted; extra is appended. A binary that was
// started outside of its package folder, as mage does at the root, is named itself.
func again(t testing.TB, extra ...string) string {
	t.Helper()
	segs := strings.Split(t.Name(), "/")
	for i, s := range segs {
		segs[i] = "^" + regexp.QuoteMeta(s) + "$"
	}
	run := "'" + strings.ReplaceAll(strings.Join(segs, "/"), "'", `'\''`) + "'"
	var args []string
	wd, err := os.Getwd()
	module, inside := suite.OwnModule(wd)
	if pkg, relErr := filepath.Rel(module, wd); err == nil && relErr == nil && inside && pkg != "." {
		args = append(args, "go test ./"+filepath.ToSlash(pkg), "-count=1")
		if tags := buildTags(); tags != "" {
			args = append(args, "-tags "+tags)
		}
		args = append(args, "-run "+run)
	} else {
		args = append(args, os.Args[0], "-test.run "+run)
	}
	return strings.Join(append(args, extra...), " ")
}

// buildTags returns the tags this binary was built with.
func buildTags() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return s.Value
		}
	}
	return ""
}
