package rules

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Files are the text files of the repository by slash-separated path below its root.
type Files map[string]string

// sorted returns the paths that end in suffix.
func (f Files) sorted(suffix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f)), func(p string) bool { return !strings.HasSuffix(p, suffix) })
}

// maxLines is the hard stop for one Go file: one behaviour per file.
const maxLines = 400

// Lengths returns the Go files that are too long.
func Lengths(files Files) []string {
	var out []string
	for _, p := range files.sorted(".go") {
		if n := strings.Count(files[p], "\n"); n > maxLines {
			out = append(out, fmt.Sprintf("%s has %d lines, more than %d: one behaviour per file", p, n, maxLines))
		}
	}
	return out
}

// maxTracked is the most that all files of the repository may take: the tree travels to a device machine in 64 MiB,
// together with test binaries and wheels.
const maxTracked = 40 << 20

// Tracked says whether the files with these sizes take too much room, and which are the largest.
func Tracked(sizes map[string]int64) []string {
	var total int64
	for _, n := range sizes {
		total += n
	}
	if total <= maxTracked {
		return nil
	}
	largest := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	return []string{fmt.Sprintf("the files of the repository take %.1f MiB, more than %d: pack fixtures (gzip is read), "+
		"largest are %s", float64(total)/(1<<20), maxTracked>>20, strings.Join(largest[:min(5, len(largest))], ", "))}
}

// foreign are fragments of paths and hosts that mean something only where this was written. They are split here, so
// that this file does not break its own rule.
var foreign = []string{
	".." + "/shared", "/work" + "/main", "/work" + "/shared", "/work" + "/.library", "/tmp" + "/plan", "/root" + "/go",
	"proxy.golang" + ".org", "pypi" + ".org", "files.pythonhosted" + ".org", "registry.npmjs" + ".org",
	"static.crates" + ".io", "deb.debian" + ".org", "repo1.maven" + ".org",
}

// Foreign returns the lines that name a path of the machine this was written on, or a package registry's host.
func Foreign(files Files) []string {
	var out []string
	for _, p := range files.sorted("") {
		for n, line := range strings.Split(files[p], "\n") {
			for _, f := range foreign {
				if strings.Contains(line, f) {
					out = append(out, fmt.Sprintf("%s:%d mentions %q, which exists only where it was written", p, n+1, f))
				}
			}
		}
	}
	return out
}

// banned are calls with the reason against them; inTests says whether test files may not use them either.
var banned = []struct {
	call    *regexp.Regexp
	inTests bool
	why     string
}{
	{
		regexp.MustCompile(`\.In(Delta|Epsilon)(f|Slice|MapValues|SliceWithError)?\(`), true,
		"compare numbers by a named rule with a derivation",
	},
	{regexp.MustCompile(`\btime\.Sleep\(`), false, "wait for an event or a context instead"},
	{regexp.MustCompile(`^\s*panic\(`), false, "library code returns errors"},
}

// Banned returns the calls that the house style rules out.
func Banned(files Files) []string {
	var out []string
	for _, p := range files.sorted(".go") {
		for n, line := range strings.Split(files[p], "\n") {
			for _, b := range banned {
				if b.call.MatchString(line) && (b.inTests || !strings.HasSuffix(p, "_test.go")) {
					out = append(out, fmt.Sprintf("%s:%d %s: %s", p, n+1, strings.TrimSpace(line), b.why))
				}
			}
		}
	}
	return out
}

var packageClause = regexp.MustCompile(`(?m)^package (\w+)`)

// KernelsPackage returns the files of kernels_test with the wrong package clause. An ordinary file there that said
// "package kernels_test" would build or not depending on the order of file names.
func KernelsPackage(files Files) []string {
	var out []string
	for _, p := range files.sorted(".go") {
		name, ok := strings.CutPrefix(p, "kernels_test/")
		if !ok || strings.Contains(name, "/") {
			continue
		}
		want := "kernels"
		if strings.HasSuffix(name, "_test.go") {
			want = "kernels_test"
		}
		if m := packageClause.FindStringSubmatch(files[p]); m == nil || m[1] != want {
			out = append(out, fmt.Sprintf("%s must say package %s", p, want))
		}
	}
	return out
}

// Mains returns the pillars whose test binary does not end in suite.Main, on which the mage targets rely.
func Mains(files Files) []string {
	var out []string
	for _, pillar := range []string{"fidelity", "kernels_test", "numerics"} {
		found := false
		for _, p := range files.sorted("_test.go") {
			name, ok := strings.CutPrefix(p, pillar+"/")
			found = found || ok && !strings.Contains(name, "/") && strings.Contains(files[p], "suite.Main(m)")
		}
		if !found {
			out = append(out, fmt.Sprintf("no test file of %s calls suite.Main(m) from TestMain", pillar))
		}
	}
	return out
}
