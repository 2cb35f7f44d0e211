package golden

import (
	"fmt"
	"math"
)

// Rule is a named way of comparing two numbers, with the reason for its size.
//
// Make one with Exact, Count, Rel, Abs, AbsOrRel, Factor or Info. The zero Rule compares exactly.
// Strings, booleans and nulls are always compared exactly, whatever the rule, except under Info.
type Rule struct {
	name, why string
	info      bool
	// excess returns how large the difference is as a multiple of what is allowed: at most 1 is within tolerance.
	excess func(got, want float64) float64
}

// String returns the rule's name and derivation as a failure prints them.
func (r Rule) String() string {
	if r.name == "" {
		return "exact"
	}
	if r.why == "" {
		return r.name
	}
	return r.name + " (" + r.why + ")"
}

// measure returns the excess of got over want: 0 for equal values, +Inf where one of them is NaN or infinite alone.
func (r Rule) measure(got, want float64) float64 {
	switch {
	case r.info:
		return 0
	case math.IsNaN(got) && math.IsNaN(want):
		return 0
	case math.IsNaN(got) || math.IsNaN(want):
		return math.Inf(1)
	case math.IsInf(got, 0) || math.IsInf(want, 0):
		if got == want {
			return 0
		}
		return math.Inf(1)
	case r.excess == nil:
		return differs(math.Float64bits(got) != math.Float64bits(want))
	}
	return r.excess(got, want)
}

// Allows tells whether got is within the rule of want.
func (r Rule) Allows(got, want float64) bool { return r.measure(got, want) <= 1 }

func differs(yes bool) float64 {
	if yes {
		return math.Inf(1)
	}
	return 0
}

// allowance divides a difference by what is allowed; with nothing allowed any difference is too much.
func allowance(diff, allowed float64) float64 {
	if diff == 0 {
		return 0
	}
	return diff / allowed
}

// Exact wants the same float64, sign of zero included.
func Exact(why string) Rule {
	return Rule{name: "exact", why: why}
}

// Count wants two equal integers; a number that is not an integer is itself a violation.
func Count(why string) Rule {
	return Rule{name: "count-exact", why: why, excess: func(got, want float64) float64 {
		return differs(got != want || got != math.Trunc(got))
	}}
}

// Rel allows |got-want| <= r*|want|; a want of 0 allows only 0.
func Rel(r float64, why string) Rule {
	return Rule{name: fmt.Sprintf("rel %g", r), why: why, excess: func(got, want float64) float64 {
		return allowance(math.Abs(got-want), r*math.Abs(want))
	}}
}

// Abs allows |got-want| <= a, in the unit of the value.
func Abs(a float64, why string) Rule {
	return Rule{name: fmt.Sprintf("abs %g", a), why: why, excess: func(got, want float64) float64 {
		return allowance(math.Abs(got-want), a)
	}}
}

// AbsOrRel allows |got-want| <= max(a, r*|want|).
func AbsOrRel(a, r float64, why string) Rule {
	return Rule{name: fmt.Sprintf("abs %g or rel %g", a, r), why: why, excess: func(got, want float64) float64 {
		return allowance(math.Abs(got-want), math.Max(a, r*math.Abs(want)))
	}}
}

// Factor allows want/f <= got <= want*f for positive values; two zeros are equal, and signs must agree.
// It is the rule of rho tables (f = 1.5 on two digits).
func Factor(f float64, why string) Rule {
	return Rule{name: fmt.Sprintf("factor x%g", f), why: why, excess: func(got, want float64) float64 {
		switch {
		case got == want:
			return 0
		case got*want <= 0:
			return math.Inf(1)
		}
		ratio := got / want
		return math.Max(ratio, 1/ratio) / f
	}}
}

// Info compares nothing: the value is recorded for the reader and rewritten only together with a value that counts.
func Info(why string) Rule {
	return Rule{name: "not compared", why: why, info: true}
}
