package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var variable = regexp.MustCompile(`\bASSAY_[A-Z][A-Z_]*[A-Z]\b`)

// Variables returns the ASSAY_* names in files that table lacks. Tests of the table itself, which need wrong names, are
// left out.
func Variables(files Files, table []string) []string {
	var out []string
	for _, p := range files.sorted("") {
		if strings.HasSuffix(p, "_test.go") &&
			(strings.HasPrefix(p, "internal/suite/") || strings.HasPrefix(p, "internal/rules/")) {
			continue
		}
		for n, line := range strings.Split(files[p], "\n") {
			for _, name := range variable.FindAllString(line, -1) {
				if !slices.Contains(table, name) {
					out = append(out, fmt.Sprintf("%s:%d mentions %s, which is not in the table of internal/suite/env.go", p, n+1,
						name))
				}
			}
		}
	}
	return out
}

// Documented returns the names of table without a row of their own in the README's table: a line that begins with
// "| `NAME`".
func Documented(readme string, table []string) []string {
	var out []string
	for _, name := range table {
		row := "| `" + name + "`"
		if !slices.ContainsFunc(strings.Split(readme, "\n"), func(l string) bool { return strings.HasPrefix(l, row) }) {
			out = append(out, fmt.Sprintf("README.md has no table row for %s (a line that begins with %q)", name, row))
		}
	}
	return out
}
