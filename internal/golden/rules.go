package golden

import (
	"path"
	"strings"
)

// Rules says which rule compares which number of a case.
//
// Fields are tried in order and the first match decides. A pattern is matched against the path of the value inside its
// case, keys and list indices joined by "/" ("rho/p99", "layers/3/margin"): each segment is a path.Match pattern, and a
// segment "**" matches any number of segments. What no field matches is compared by Default, exactly if that is zero.
type Rules struct {
	Default Rule
	Fields  []Field
}

// Field binds a rule to a path pattern.
type Field struct {
	Pattern string
	Rule    Rule
}

// All compares every number of a family by one rule.
func All(r Rule) Rules {
	return Rules{Default: r}
}

// With returns r with one more field pattern, tried after those already there.
func (r Rules) With(pattern string, rule Rule) Rules {
	fields := make([]Field, 0, len(r.Fields)+1)
	fields = append(fields, r.Fields...)
	r.Fields = append(fields, Field{pattern, rule})
	return r
}

// find returns the rule for a value at segs.
func (r Rules) find(segs []string) Rule {
	for _, f := range r.Fields {
		if matchPath(strings.Split(f.Pattern, "/"), segs) {
			return f.Rule
		}
	}
	return r.Default
}

// matchPath reports whether pattern, segment by segment, matches segs.
func matchPath(pattern, segs []string) bool {
	if len(pattern) == 0 {
		return len(segs) == 0
	}
	if pattern[0] == "**" {
		for skip := 0; skip <= len(segs); skip++ {
			if matchPath(pattern[1:], segs[skip:]) {
				return true
			}
		}
		return false
	}
	if len(segs) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], segs[0])
	return err == nil && ok && matchPath(pattern[1:], segs[1:])
}
