package numerics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics/format"
)

// Trial is the evidence on one output tensor. Got, Want and Shape are required; a bound is required to be accepted.
type Trial struct {
	Shape []int
	Axes  []string // names of the axes for the pattern's words; axis0, axis1, ... where missing

	Got, Want []float64
	Bound     []float64 // certain, per element
	// Martingale is the sharper bound that holds for all elements together with probability 1 − Alpha; nil if none
	// applies.
	Martingale []float64
	Alpha      float64

	// Prefill is the pattern that the output was filled with before the call; an element that still holds it was not
	// written. nil if nothing was prefilled.
	Prefill *float64
	// Poisoned is the output of the same call with every input that the contract leaves unread replaced by NaN, Inf and
	// extremes; nil if that call was not made. It must equal Got bit for bit.
	Poisoned []float64
	// Reruns are outputs of repeated calls; under Tier bitwise they must equal Got bit for bit.
	Reruns [][]float64

	// Emulations are outputs by emulated contracts, the declared one first.
	Emulations []Emulation

	// Ensemble holds outputs of at least MinEnsemble emulated reorderings of the declared contract (Contract.Ensemble):
	// what the relative and bias gates are calibrated on. Without it they do not judge.
	Ensemble [][]float64
	// Risk is the probability that these two gates, and compounding, together reject a correct result; 0 is DefaultRisk.
	Risk float64
	// Selections are top-k choices, one a row; Compounding is the error over layers. Both are judged where given.
	Selections  []Selection
	Compounding *Growth

	// Scales are factors that the operator applies, by name: a dropped, doubled or inverted one then gets its name in
	// Cause.
	Scales map[string]float64
}

// Emulation is an output computed under a contract.
type Emulation struct {
	Name string
	Out  []float64
}

// Judge decides whether Got can come from the contract. Gates in order: structure, bound, relative, bias, selection,
// compounding; each judges what the trial brings evidence for. It sees tensors and the contract only: not what the
// candidate claims, nor which fault was planted.
func Judge(t Trial, c Contract) Verdict {
	v := Verdict{Where: Location{Index: -1}}
	if reason := t.malformed(); reason != "" {
		v.Gate, v.Reason = Structure, reason
		return v
	}
	v.Rho = QuantilesOf(Rho(t.Got, t.Want, t.Bound))
	if t.Martingale != nil {
		v.RhoMartingale = QuantilesOf(Rho(t.Got, t.Want, t.Martingale))
	}
	v.Judged = len(t.Got)
	v.Explain, v.Ratio = explain(t)
	cal := t.calibrate(c)
	if cal.n > 0 {
		v.Ratio, v.Relative, v.Signed, v.Magnified = cal.ratio, cal.relative, cal.signed, cal.magnified
	}
	for _, gate := range []func(Trial, Contract) (Gate, string, []int){
		unwritten, classes, poison, reruns, beyondBound, beyondMartingale, cal.relativeGate, cal.biasGate, selections,
		compounding,
	} {
		if g, reason, bad := gate(t, c); g != None {
			v.Gate, v.Reason, v.Where = g, reason, locate(bad, t.Shape, t.Axes)
			v.Cause = causes(t, c, v, bad)
			return v
		}
	}
	v.Accepted = true
	return v
}

// malformed reports evidence that cannot be judged: a wrong shape is the candidate's fault, the rest the suite's.
func (t Trial) malformed() string {
	n := 1
	for _, d := range t.Shape {
		if d < 0 {
			return fmt.Sprintf("shape %v has a negative dimension", t.Shape)
		}
		n *= d
	}
	switch {
	case len(t.Got) != n:
		return fmt.Sprintf("the output has %d elements, shape %v has %d", len(t.Got), t.Shape, n)
	case len(t.Want) != n || len(t.Bound) != n:
		return fmt.Sprintf("shape %v has %d elements, the reference %d and its bound %d; the suite must give all three",
			t.Shape, n, len(t.Want), len(t.Bound))
	case t.Martingale != nil && len(t.Martingale) != n:
		return fmt.Sprintf("the martingale bound has %d elements, want %d", len(t.Martingale), n)
	case len(t.Ensemble) > 0 && len(t.Ensemble) < MinEnsemble:
		return fmt.Sprintf("%d reorderings calibrate nothing, want at least %d or none", len(t.Ensemble), MinEnsemble)
	case t.Risk < 0 || t.Risk >= 1:
		return fmt.Sprintf("the risk is %v, want a probability; 0 is %g", t.Risk, DefaultRisk)
	}
	for i, e := range t.Ensemble {
		if len(e) != n {
			return fmt.Sprintf("reordering %d has %d elements, want %d", i, len(e), n)
		}
	}
	for i, b := range t.Bound {
		if math.IsNaN(b) || b < 0 || math.IsInf(b, 1) && class(t.Want[i]) == 0 {
			return fmt.Sprintf("the bound of element %d is %v: it judges nothing, want a finite number that is not negative", i,
				b)
		}
	}
	return ""
}

func unwritten(t Trial, c Contract) (Gate, string, []int) {
	if t.Prefill == nil || c.Special.PrefillSeen {
		return None, "", nil
	}
	bits := math.Float64bits(*t.Prefill)
	return offending(Structure, "elements still hold the prefill pattern: they were never written", len(t.Got),
		func(i int) bool {
			return math.Float64bits(t.Got[i]) == bits && math.Float64bits(t.Want[i]) != bits
		})
}

// class is 0 for a finite value, 1 for +Inf, -1 for -Inf, 2 for NaN.
func class(x float64) int {
	switch {
	case math.IsNaN(x):
		return 2
	case math.IsInf(x, 1):
		return 1
	case math.IsInf(x, -1):
		return -1
	}
	return 0
}

func classes(t Trial, c Contract) (Gate, string, []int) {
	g, reason, bad := offending(Structure, "the map of NaN and infinities differs from the exact result's", len(t.Got),
		func(i int) bool {
			got, want := class(t.Got[i]), class(t.overflowed(i, c))
			return got != want && got != class(t.Want[i])
		})
	if g == None && c.Special.NaN == "forbidden" {
		return offending(Structure, "the contract forbids NaN in the output", len(t.Got), func(i int) bool {
			return math.IsNaN(t.Got[i])
		})
	}
	if g == None && c.Special.NegZero == "keep" {
		return offending(Structure, "the sign of a zero differs, and the contract keeps it", len(t.Got), func(i int) bool {
			return t.Got[i] == 0 && t.Want[i] == 0 && math.Signbit(t.Got[i]) != math.Signbit(t.Want[i])
		})
	}
	return g, reason, bad
}

// overflowed is the exact value as the output format shows it, so that a result which the format cannot hold may be
// infinite.
func (t Trial) overflowed(i int, c Contract) float64 {
	w := t.Want[i]
	far := w + math.Copysign(t.Bound[i], w)
	if class(w) == 0 && class(t.Got[i]) != 0 {
		return c.Output().RoundTo(far, format.RN, c.Saturation)
	}
	return w
}

func poison(t Trial, _ Contract) (Gate, string, []int) {
	if t.Poisoned == nil {
		return None, "", nil
	}
	return sameBits(t.Got, t.Poisoned, "poison in inputs that the contract leaves unread changed the output")
}

func reruns(t Trial, c Contract) (Gate, string, []int) {
	if c.Tier != Bitwise {
		return None, "", nil
	}
	for n, r := range t.Reruns {
		if g, reason, bad := sameBits(t.Got, r, fmt.Sprintf("rerun %d gave other bits under a bitwise contract", n+1)); g !=
			None {
			return g, reason, bad
		}
	}
	return None, "", nil
}

func sameBits(a, b []float64, reason string) (Gate, string, []int) {
	if len(a) != len(b) {
		return Structure, fmt.Sprintf("%s: %d elements against %d", reason, len(b), len(a)), nil
	}
	return offending(Structure, reason, len(a), func(i int) bool {
		return math.Float64bits(a[i]) != math.Float64bits(b[i])
	})
}

func beyondBound(t Trial, c Contract) (Gate, string, []int) {
	rho := Rho(t.Got, t.Want, t.Bound)
	return offending(Bound, fmt.Sprintf("beyond the certain bound of contract %q (rho max %.3g)", c.Name,
		slices.Max(append(rho, 0))), len(rho), func(i int) bool {
		return rho[i] > 1 && class(t.Got[i]) == 0 // infinities were settled by their class
	})
}

func beyondMartingale(t Trial, c Contract) (Gate, string, []int) {
	if t.Martingale == nil {
		return None, "", nil
	}
	rho := Rho(t.Got, t.Want, t.Martingale)
	reason := fmt.Sprintf("beyond the martingale bound of contract %q (rho max %.3g), which a correct result leaves "+
		"with probability %.1g", c.Name, slices.Max(append(rho, 0)), t.Alpha)
	return offending(Bound, reason, len(rho), func(i int) bool { return rho[i] > 1 && class(t.Got[i]) == 0 })
}

func selections(t Trial, c Contract) (Gate, string, []int) {
	for row, s := range t.Selections {
		if reason, _ := s.Check(c.Special.TieBreak); reason != "" {
			return Selecting, fmt.Sprintf("row %d: %s", row, reason), nil
		}
	}
	return None, "", nil
}

func compounding(t Trial, _ Contract) (Gate, string, []int) {
	if t.Compounding == nil {
		return None, "", nil
	}
	g, reason, _ := t.Compounding.check(cmp.Or(t.Risk, DefaultRisk))
	return g, reason, nil
}

func offending(g Gate, reason string, n int, is func(int) bool) (Gate, string, []int) {
	var bad []int
	for i := range n {
		if is(i) {
			bad = append(bad, i)
		}
	}
	if bad == nil {
		return None, "", nil
	}
	return g, reason, bad
}

// explain measures every emulation against the result, best first, and the ratio of rms errors for the first given.
func explain(t Trial) ([]Fit, float64) {
	var fits []Fit
	var ratioOf float64
	for i, e := range t.Emulations {
		if len(e.Out) != len(t.Got) {
			continue
		}
		fits = append(fits, Fit{
			Name:     e.Name,
			BitEqual: float64(BitEqual(t.Got, e.Out)) / float64(max(len(t.Got), 1)),
			RelL2:    RelL2(t.Got, e.Out),
		})
		if i == 0 {
			ratioOf = ratio(RelL2(t.Got, t.Want), RelL2(e.Out, t.Want))
		}
	}
	slices.SortStableFunc(fits, func(a, b Fit) int { return cmp.Compare(b.BitEqual, a.BitEqual) })
	return fits, ratioOf
}
