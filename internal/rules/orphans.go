package rules

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var quoted = regexp.MustCompile("[\"`]([a-z0-9.-]+(?:/[a-z0-9.%-]*)+)[\"`]")

// ownerRow is a row of the table in goldens/README.md, for families whose names are computed.
var ownerRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `\\./([^`]+)` \\| `(Test\\w+)` \\|")

// OrphanGoldens returns the golden families that no test owns, and the rows of the table in goldens/README.md that say
// something untrue.
//
// A test owns a family that a Go file names in a string literal: the whole of it, or, where the rest is computed, its
// beginning, at least the pillar and one segment, up to a "/" or a "%". Where no literal can say it, a row of the table
// in goldens/README.md does, a path.Match pattern with the package and the test, and all three must exist.
func OrphanGoldens(files Files, families []string) []string {
	named, prefixes := literals(files)
	var out []string
	for _, row := range ownerRow.FindAllStringSubmatch(files["goldens/README.md"], -1) {
		pattern, pkg, test := row[1], row[2], row[3]
		matching := slices.DeleteFunc(slices.Clone(families), func(f string) bool {
			ok, err := path.Match(pattern, f)
			return err != nil || !ok
		})
		switch {
		case len(matching) == 0:
			out = append(out, fmt.Sprintf("goldens/README.md lists %q, and there is no such golden", pattern))
		case !hasTest(files, pkg, test):
			out = append(out, fmt.Sprintf("goldens/README.md says that %s of ./%s owns %q, and there is no such test", test, pkg,
				pattern))
		default:
			for _, f := range matching {
				named[f] = true
			}
		}
	}
	for _, family := range families {
		owned := named[family] || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(family, p) })
		if !owned {
			out = append(out, fmt.Sprintf("goldens/%s.json belongs to no test: no Go file names it and no row of "+
				"goldens/README.md does; remove the file, or add a row", family))
		}
	}
	return out
}

// literals returns the families that Go files name in full, and the beginnings of computed ones.
func literals(files Files) (named map[string]bool, prefixes []string) {
	named = map[string]bool{}
	for _, p := range files.sorted(".go") {
		if strings.HasPrefix(p, "internal/golden/") || strings.HasPrefix(p, "internal/rules/") {
			continue // examples of names, not uses
		}
		for _, m := range quoted.FindAllStringSubmatch(files[p], -1) {
			named[m[1]] = true
			stem, _, computed := strings.Cut(m[1], "%")
			if (computed || strings.HasSuffix(m[1], "/")) && strings.Count(strings.TrimSuffix(stem, "/"), "/") >= 1 {
				prefixes = append(prefixes, stem)
			}
		}
	}
	return named, prefixes
}

// hasTest reports whether a test file directly in the folder pkg declares the test.
func hasTest(files Files, pkg, test string) bool {
	for _, p := range files.sorted("_test.go") {
		if path.Dir(p) == pkg && strings.Contains(files[p], "\nfunc "+test+"(t *testing.T)") {
			return true
		}
	}
	return false
}
