package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Module is the module path; imports below it are written relative to it in this package.
const Module = "github.com/assay-suite/assay"

// room says what the packages of one folder may import: below the module by prefix, and from other modules by prefix.
// The standard library and fixtures are open to everybody.
type room struct {
	module, others []string
}

// anything stands for every other module: goldens of dependencies are kept by review, not by this rule.
const anything = ""

var below = []string{"numerics", "oracle", "safetensors"}

// rooms is the table of the architecture page, by folder. The longest prefix decides.
var rooms = map[string]room{
	"fixtures":      {},
	"goldens":       {},
	"safetensors":   {},
	"numerics":      {[]string{"numerics"}, []string{"gonum.org/"}},
	"oracle":        {[]string{"numerics"}, []string{"gonum.org/"}},
	"oracle/faults": {[]string{"numerics", "oracle"}, []string{"gonum.org/"}},
	// the words of the worker protocol, shared by both sides of it
	"kernels_test/protocol": {},
	"kernels_test":          {append([]string{"internal", "kernels_test", "goldens"}, below...), []string{anything}},
	"fidelity":              {[]string{"internal", "fidelity", "numerics"}, []string{anything}},
	"golden":                {[]string{"internal"}, []string{anything}},
	"weights":               {append([]string{"internal"}, below...), []string{anything}},
	"cmd":                   {[]string{"internal"}, []string{anything}},
	"internal": {
		append([]string{"internal", "goldens", "kernels_test/protocol"}, below...), []string{anything},
	},
}

// levels orders internal packages: one may import only those of a lower level, so that "downwards" has one meaning.
var levels = map[string]int{
	"quant": 0, "schema": 0, "spelling": 0, "stat": 0, "suite": 0, "trace": 0, "wire": 0,
	"candidate": 1, "endpoint": 1, "gate": 1, "golden": 1, "nano": 1, "needle": 1, "scripted": 1,
	"engine": 1,
	"cuda":   2, "report": 2, "server": 2,
	"checkpoint": 3, "rules": 3,
	"inflate": 4, "precision": 4,
	"gguf": 5,
}

// Arrows returns the imports that break the table, sorted. The key is a package, the values what its non-test files
// import, both as full import paths.
func Arrows(imports map[string][]string) []string {
	var out []string
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		rel, ok := inModule(pkg)
		if !ok {
			continue
		}
		if strings.HasPrefix(rel, "internal/") {
			if _, known := levels[internalName(rel)]; !known {
				out = append(out, fmt.Sprintf("%s has no level in the table of internal packages (internal/rules/arrows.go): "+
					"give it one", rel))
				continue
			}
		}
		name, r, known := roomOf(rel)
		if !known {
			out = append(out, fmt.Sprintf("%s lies in no room of the architecture: put it into one, or add a room to the table",
				rel))
			continue
		}
		for _, imp := range slices.Sorted(slices.Values(imports[pkg])) {
			if why := refused(rel, imp, r); why != "" {
				out = append(out, fmt.Sprintf("%s (room %s) imports %s: %s", rel, name, imp, why))
			}
		}
	}
	return out
}

// refused returns why rel may not import imp, or an empty string.
func refused(rel, imp string, r room) string {
	to, inside := inModule(imp)
	switch {
	case !inside && !strings.Contains(strings.Split(imp, "/")[0], "."):
		return "" // standard library
	case !inside:
		if slices.ContainsFunc(r.others, func(p string) bool { return strings.HasPrefix(imp, p) }) {
			return ""
		}
		return "the room stays free of other modules"
	case to == "fixtures" || strings.HasPrefix(to, rel+"/"):
		return ""
	case to == "golden", to == "internal/golden" && rel != "golden":
		return "goldie registers flags, so only _test.go files may"
	case !slices.ContainsFunc(r.module, func(p string) bool { return to == p || strings.HasPrefix(to, p+"/") }):
		return "the arrow points the wrong way"
	case strings.HasPrefix(rel, "internal/") && strings.HasPrefix(to, "internal/"):
		if from, into := levels[internalName(rel)],
			levels[internalName(to)]; into >= from && internalName(rel) != internalName(to) {
			return fmt.Sprintf("internal packages import downwards only, and level %d is not below level %d", into, from)
		}
	}
	return ""
}

func inModule(path string) (rel string, ok bool) {
	if path == Module {
		return ".", true
	}
	return strings.CutPrefix(path, Module+"/")
}

func internalName(rel string) string {
	return strings.Split(strings.TrimPrefix(rel, "internal/"), "/")[0]
}

func roomOf(rel string) (name string, r room, ok bool) {
	for n, candidate := range rooms {
		if (rel == n || strings.HasPrefix(rel, n+"/")) && (!ok || len(n) > len(name)) {
			name, r, ok = n, candidate, true
		}
	}
	return name, r, ok
}

// TestBinaries returns the test binaries that do not depend on internal/golden and so would not understand -update. The
// key is the test binary's import path, ending in ".test", the values everything that it depends on.
func TestBinaries(deps map[string][]string) []string {
	var out []string
	for _, bin := range slices.Sorted(maps.Keys(deps)) {
		depends := slices.ContainsFunc(deps[bin], func(d string) bool {
			return d == Module+"/internal/golden" || strings.HasPrefix(d, Module+"/internal/golden [")
		})
		if strings.HasSuffix(bin, ".test") && !depends {
			rel, _ := inModule(strings.TrimSuffix(bin, ".test"))
			out = append(out, fmt.Sprintf(`the tests of %s do not import internal/golden: add a golden_test.go with a blank `+
				`import, so that "go test ./... -update" works`, rel))
		}
	}
	return out
}
