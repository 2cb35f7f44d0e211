// Package golden compares what a test computed with a committed expectation and, when asked, rewrites the expectation.
//
// It is github.com/sebdah/goldie/v2 (naming, flags, assertion, writing) with an equality, a diff and a merge for
// numerical suites: one file per family keyed by case ID, a provenance block without which nothing is written, every
// number compared by a named rule with a derivation, and a failure text of what was violated and the commands to act on
// it.
//
// What it does not claim: that an expectation is right. A golden says what was once measured, by what, from what; the
// oracle tests say whether that was correct.
//
// Only _test.go files may import this package, because goldie registers command line flags. Every test package imports
// it, with a blank import if it has no goldens, so that `go test ./... -update` is understood by every test binary.
//
// A golden file is
//
//	{"assay-golden": 1, "family": "...", "provenance": {...}, "cases": {"<case ID>": <value>, ...}}
//
// with sorted keys, two blanks of indentation and a final newline.
package golden
