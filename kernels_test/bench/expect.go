package bench

import (
	"math"

	"github.com/assay-suite/assay/numerics"
)

// Expected is one output as the exact operator gives it, and how far the contract lets a result lie from that.
type Expected struct {
	Name  string
	Shape []int
	Axes  []string

	Want       []float64
	Bound      []float64 // certain; nil asks for equality; see Unbounded
	Martingale []float64 // holds at the risk Alpha for all elements together; nil where none applies
	Derivation string    // where Bound comes from, for a failure's text

	// Free marks elements that a kernel may leave as it likes (logits outside of a range that it does not clean).
	Free []bool
	// Touched says that unwritten elements are part of the answer: a cache of which only some slots are written. The
	// prefill pattern is then no fault by itself, Want has it.
	Touched bool
	// Gemm are the operands of a GEMM-like output, for numerics.Explain.
	Gemm *numerics.GemmInputs
	// Ensemble are emulated reorderings of the contract, what the relative and bias gates are calibrated on.
	Ensemble [][]float64
	// Scales are factors that the operator applies, so that a dropped or doubled one gets its name.
	Scales map[string]float64
	// Select turns the output into top-k choices, judged with admissible ties.
	Select func(got []float64) []numerics.Selection

	// without is the output as it is without the element that is NaN, where that is admitted beside NaN.
	without *Expected

	// From derives the judged values from the candidate's outputs; nil takes the output of this name.
	From func(out map[string][]float64) []float64
}

// values takes from a candidate's outputs what this expectation judges; nil where the output is missing.
func (e Expected) values(out map[string][]float64) []float64 {
	v := out[e.Name]
	if e.From != nil {
		v = e.From(out)
	}
	return e.nanWhereDropped(v)
}

// Exactly is an expectation of equal values.
func Exactly(name string, want []float64, axes []string, shape ...int) Expected {
	return Expected{Name: name, Shape: shape, Axes: axes, Want: want, Derivation: "the result is exact"}
}

// Unbounded is a bound that judges classes alone: no two finite values are that far apart.
func Unbounded(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.MaxFloat64
	}
	return out
}

// Tracked splits values with bounds.
func Tracked(t []numerics.Tracked) (want, bound []float64) {
	for _, v := range t {
		want, bound = append(want, v.X), append(bound, v.E)
	}
	return want, bound
}

// Gates is how many verdicts one run of everything may give: every row of every facet under every contract of its
// format. kernels_test.TestBuiltInCandidatesMeetTheirFacets holds the count against it.
const Gates = 20000

// Alpha is the risk of the martingale bound for one verdict: 1e-6 for a whole run.
const Alpha = 1e-6 / Gates

// trial is what numerics.Judge decides on.
func (e Expected) trial(got []float64, poisoned [][]float64, prefill *float64) numerics.Trial {
	t := numerics.Trial{
		Shape: e.Shape, Axes: e.Axes, Got: got, Want: e.Want, Bound: e.Bound, Martingale: e.Martingale, Alpha: Alpha,
		Ensemble: e.Ensemble, Scales: e.Scales,
	}
	if t.Bound == nil {
		t.Bound = make([]float64, len(e.Want))
	}
	if !e.Touched {
		t.Prefill = prefill
	}
	if e.Free != nil && len(got) == len(e.Want) {
		t.Got, t.Want = blank(got, e.Free), blank(e.Want, e.Free)
		for i := range poisoned {
			if len(poisoned[i]) == len(e.Free) {
				poisoned[i] = blank(poisoned[i], e.Free)
			}
		}
	}
	for _, p := range poisoned {
		if t.Poisoned == nil || numerics.BitEqual(t.Got, p) < len(t.Got) {
			t.Poisoned = p
		}
	}
	if e.Select != nil && len(got) == len(e.Want) {
		t.Selections = e.Select(got)
	}
	return t
}

// blank zeroes the elements that nobody judges.
func blank(v []float64, free []bool) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		if !free[i] {
			out[i] = x
		}
	}
	return out
}

// Rho is |got − want| / bound of every element, by the sharpest bound; 0 where nobody judges.
func (e Expected) Rho(got []float64) []float64 {
	bound := make([]float64, len(e.Want))
	for i := range bound {
		bound[i] = e.sharpest(i)
	}
	out := numerics.Rho(got, e.Want, bound)
	for i := range out {
		if e.Free != nil && e.Free[i] {
			out[i] = 0
		}
	}
	return out
}
