package golden

import "github.com/assay-suite/assay/internal/golden"

// Rule is a named way of comparing two numbers, with the reason for its size. The zero Rule compares exactly. Strings,
// booleans and nulls are always compared exactly, whatever the rule, except under Info.
type Rule struct{ rule golden.Rule }

// String is the rule's name and derivation as a failure prints them.
func (r Rule) String() string { return r.rule.String() }

// Allows tells whether got is within the rule of want.
func (r Rule) Allows(got, want float64) bool { return r.rule.Allows(got, want) }

// Exact wants the same float64, sign of zero included.
func Exact(why string) Rule { return Rule{golden.Exact(why)} }

// Count wants two equal integers.
func Count(why string) Rule { return Rule{golden.Count(why)} }

// Rel allows |got-want| <= r*|want|; a want of 0 allows only 0.
func Rel(r float64, why string) Rule { return Rule{golden.Rel(r, why)} }

// Abs allows |got-want| <= a, in the unit of the value.
func Abs(a float64, why string) Rule { return Rule{golden.Abs(a, why)} }

// AbsOrRel allows |got-want| <= max(a, r*|want|).
func AbsOrRel(a, r float64, why string) Rule { return Rule{golden.AbsOrRel(a, r, why)} }

// Factor allows want/f <= got <= want*f for values of one sign; two zeros are equal.
func Factor(f float64, why string) Rule { return Rule{golden.Factor(f, why)} }

// Info compares nothing: the value is recorded for the reader and rewritten only together with a value that counts.
func Info(why string) Rule { return Rule{golden.Info(why)} }

// Rules says which rule compares which number of a case. Make it with All, and With for what differs.
type Rules struct {
	otherwise Rule
	fields    []field
}

type field struct {
	pattern string
	rule    Rule
}

// All compares every number of a family by one rule.
func All(r Rule) Rules { return Rules{otherwise: r} }

// With is r with a rule for the values whose path inside the case fits a pattern: keys and list indices joined by "/",
// each segment a path.Match pattern, "**" any number of segments. The first pattern that fits decides.
func (r Rules) With(pattern string, rule Rule) Rules {
	fields := make([]field, 0, len(r.fields)+1)
	r.fields = append(append(fields, r.fields...), field{pattern, rule})
	return r
}

func (r Rules) inner() golden.Rules {
	out := golden.All(r.otherwise.rule)
	for _, f := range r.fields {
		out = out.With(f.pattern, f.rule.rule)
	}
	return out
}
