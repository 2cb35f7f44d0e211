package golden

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// comparison is what goldie asks: are the values of a run equal to the expected ones by the family's rules, and if not,
// what is to be said.
type comparison struct {
	family, name string // name is that of the golden file
	rules        Rules
	commands     string

	got, want  *File
	violations []violation
	err        error // a golden file that cannot be read is not equal
}

// equal is a goldie.EqualFn on encoded golden files.
func (c *comparison) equal(actual, expected []byte) bool {
	if c.got, c.err = decode(c.name, c.family, actual); c.err == nil {
		c.want, c.err = decode(c.name, c.family, expected)
	}
	if c.err != nil {
		return false
	}
	c.violations = compareCases(c.got.Cases, c.want.Cases, c.rules)
	return len(c.violations) == 0
}

// diff is a goldie.DiffFn: it says what equal has found.
func (c *comparison) diff(string, string) string {
	if c.err != nil {
		return c.err.Error()
	}
	return diffText(c.family, c.violations, len(c.got.Cases)) + c.commands
}

// violation is one value that its rule refuses.
type violation struct {
	caseID, path string
	got, want    string
	rule         string
	excess       float64 // multiple of what is allowed; +Inf where there is no scale
}

// compareCases lists the violations of got against want, sorted by case ID and path. Cases that only want has are not
// violations: a filtered run leaves them out, and Orphans looks for those that nobody claims.
func compareCases(got, want map[string]any, rules Rules) []violation {
	var out []violation
	for _, id := range slices.Sorted(maps.Keys(got)) {
		w, ok := want[id]
		if !ok {
			out = append(out, violation{id, "", shorten(got[id]), "no golden for this case", "every case has one", math.Inf(1)})
			continue
		}
		out = append(out, compareValue(id, nil, got[id], w, rules)...)
	}
	return out
}

func compareValue(id string, segs []string, got, want any, rules Rules) []violation {
	rule := rules.find(segs)
	differ := func(excess float64) []violation {
		return []violation{{id, strings.Join(segs, "/"), shorten(got), shorten(want), rule.String(), excess}}
	}
	if g, ok := number(got); ok {
		if w, ok := number(want); ok {
			if x := rule.measure(g, w); !(x <= 1) {
				return differ(x)
			}
			return nil
		}
	}
	switch g := got.(type) {
	case map[string]any:
		if w, ok := want.(map[string]any); ok {
			return compareObject(id, segs, g, w, rules)
		}
	case []any:
		if w, ok := want.([]any); ok {
			return compareList(id, segs, g, w, rules)
		}
	}
	if rule.info || reflect.DeepEqual(got, want) {
		return nil
	}
	return differ(math.Inf(1))
}

func compareObject(id string, segs []string, got, want map[string]any, rules Rules) []violation {
	keys := slices.Collect(maps.Keys(got))
	for k := range want {
		if _, ok := got[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	var out []violation
	for _, k := range keys {
		at := append(slices.Clip(segs), k)
		g, inGot := got[k]
		w, inWant := want[k]
		rule := rules.find(at)
		switch {
		case inGot && inWant:
			out = append(out, compareValue(id, at, g, w, rules)...)
		case rule.info:
		case inGot:
			out = append(out, violation{id, strings.Join(at, "/"), shorten(g), "absent", rule.String(), math.Inf(1)})
		default:
			out = append(out, violation{id, strings.Join(at, "/"), "absent", shorten(w), rule.String(), math.Inf(1)})
		}
	}
	return out
}

func compareList(id string, segs []string, got, want []any, rules Rules) []violation {
	if len(got) != len(want) {
		if rules.find(segs).info {
			return nil
		}
		return []violation{{
			id, strings.Join(segs, "/"), fmt.Sprintf("%d elements", len(got)), fmt.Sprintf("%d elements", len(want)),
			"same length", math.Inf(1),
		}}
	}
	var out []violation
	for i := range got {
		out = append(out, compareValue(id, append(slices.Clip(segs), strconv.Itoa(i)), got[i], want[i], rules)...)
	}
	return out
}

// shorten prints a value on one line, cut to what a reader can take in.
func shorten(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	const limit = 120
	text := []rune(string(raw))
	if len(text) > limit {
		return string(text[:limit]) + "..."
	}
	return string(text)
}

// diffText renders violations for a failure: worst first within the limit, the rest counted.
func diffText(family string, all []violation, compared int) string {
	cases := map[string]bool{}
	for _, v := range all {
		cases[v.caseID] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "golden   %s: %d of %d cases violated, %d values\n", family, len(cases), compared, len(all))
	shown := slices.Clone(all)
	slices.SortStableFunc(shown, func(x, y violation) int { return cmp.Compare(y.excess, x.excess) })
	const limit = 20
	for i, v := range shown {
		if i == limit {
			fmt.Fprintf(&b, "  and %d more\n", len(shown)-limit)
			break
		}
		fmt.Fprintf(&b, "  %s\n", v.caseID)
		if v.path != "" {
			fmt.Fprintf(&b, "    value  %s\n", v.path)
		}
		fmt.Fprintf(&b, "    got    %s\n    want   %s\n    rule   %s\n", v.got, v.want, v.rule)
		if !math.IsInf(v.excess, 0) {
			fmt.Fprintf(&b, "    margin %.3g times what the rule allows\n", v.excess)
		}
	}
	return b.String()
}
