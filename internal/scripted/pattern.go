package scripted

import (
	"regexp"
	"slices"
	"strings"
)

// pattern is an expression that matches nothing without one of some pieces: looking for these first is much cheaper,
// and nearly every question has none.
type pattern struct {
	re    *regexp.Regexp
	needs []string // in lower case
}

func needing(pieces []string, expr string) pattern {
	return pattern{regexp.MustCompile(expr), pieces}
}

// in gives the first match in s and its groups, nil without one. l is s in lower case.
func (p pattern) in(s, l string) []string {
	if !anyOf(l, p.needs...) {
		return nil
	}
	return p.re.FindStringSubmatch(s)
}

var digits = strings.Split("0123456789", "")

func anyOf(l string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(l, w) })
}
