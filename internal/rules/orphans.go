package rules

import (
	"fmt"
	"regexp"
	"strings"
)

var quoted = regexp.MustCompile("[\"`]([a-z0-9.-]+(?:/[a-z0-9.%-]*)+)[\"`]")

// OrphanGoldens returns the golden families that no Go file names. A file names a family with a string literal that is
// the family, or, where the rest is computed, its beginning: at least the pillar and one segment, up to a "/" or a "%".
func OrphanGoldens(files Files, families []string) []string {
	claimed := map[string]bool{}
	var prefixes []string
	for _, p := range files.sorted(".go") {
		if strings.HasPrefix(p, "internal/golden/") || strings.HasPrefix(p, "internal/rules/") {
			continue // examples of names, not uses
		}
		for _, m := range quoted.FindAllStringSubmatch(files[p], -1) {
			literal := m[1]
			claimed[literal] = true
			stem, _, computed := strings.Cut(literal, "%")
			if (computed || strings.HasSuffix(literal, "/")) && strings.Count(strings.TrimSuffix(stem, "/"), "/") >= 1 {
				prefixes = append(prefixes, stem)
			}
		}
	}
	var out []string
	for _, family := range families {
		known := claimed[family]
		for _, p := range prefixes {
			known = known || strings.HasPrefix(family, p)
		}
		if !known {
			out = append(out, fmt.Sprintf("goldens/%s.json belongs to no test: no Go file names %q; remove the file, or name it", family, family))
		}
	}
	return out
}
