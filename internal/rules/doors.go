package rules

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// doors are the packages that other repositories begin with.
var doors = []string{
	"fidelity", "golden", "kernels_test", "kernels_test/bench", "numerics", "numerics/format", "oracle", "safetensors",
	"weights",
}

// called is a package comment whose second paragraph, or one right after it, says what to call first.
var called = regexp.MustCompile(`(?m)^// Package \w+ (?:.*\n//.+)*.*\n//\n// Call `)

var example = regexp.MustCompile(`(?m)^func Example\w*\(\)`)

// Doors returns the packages at the door whose documentation does not say what to call first, or has no example.
func Doors(files Files) []string {
	var out []string
	for _, dir := range doors {
		says, shows := false, false
		for _, p := range files.sorted(".go") {
			if path.Dir(p) != dir {
				continue
			}
			if strings.HasSuffix(p, "_test.go") {
				shows = shows || example.MatchString(files[p]) && strings.Contains(files[p], "// Output:")
			} else {
				says = says || called.MatchString(files[p])
			}
		}
		if !says {
			out = append(out, fmt.Sprintf(`the second paragraph of %s's package comment must say what to call first: "Call ..."`,
				dir))
		}
		if !shows {
			out = append(out, fmt.Sprintf(`%s has no example that is run: a function Example... with "// Output:"`, dir))
		}
	}
	return out
}
