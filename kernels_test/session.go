package kernels

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
)

// Bench is a case made ready: inputs laid out, plain and poisoned, and what is expected. It serves any number of candidates.
type Bench struct {
	Case     Case
	Expected []Expected

	call     Call
	poisoned []Call // the same operands with poison in everything that no view reaches
}

// NewBench draws a case and derives what is expected of it.
func NewBench(c Case) (*Bench, error) {
	p, err := c.Problem()
	if err != nil {
		return nil, err
	}
	expected, err := expect(c, p)
	if err != nil {
		return nil, fmt.Errorf("the reference of case %q cannot be computed: %w", c.ID, err)
	}
	b := &Bench{Case: c, Expected: expected, call: p.call(c.Family.Op, c.ID, harmless(suite.Rand(c.ID+"/filler")))}
	if p.padded() {
		b.poisoned = []Call{p.call(c.Family.Op, c.ID, nans), p.call(c.Family.Op, c.ID, extremes())}
	}
	return b, nil
}

// Finding is the verdict on one output.
type Finding struct {
	Output  string
	Verdict numerics.Verdict

	got, poisoned []float64
}

// Report is what became of a candidate on a case: one finding for each output, in the order of Bench.Expected, then
// those that concern no output.
type Report struct {
	Case     Case
	Findings []Finding
	Seconds  float64
	Path     string
}

// First returns the finding that decides: the earliest gate, then the first output. ok is false for an accepted candidate.
func (r Report) First() (f Finding, ok bool) {
	for _, gate := range []numerics.Gate{numerics.Structure, numerics.Bound} {
		for _, f := range r.Findings {
			if !f.Verdict.Accepted && f.Verdict.Gate == gate {
				return f, true
			}
		}
	}
	return Finding{}, false
}

// Accepted tells whether every output passed every gate.
func (r Report) Accepted() bool { _, bad := r.First(); return !bad }

// Gate names what decided, as "bound(comb)"; empty for an accepted candidate.
func (r Report) Gate() string {
	f, bad := r.First()
	if !bad {
		return ""
	}
	return fmt.Sprintf("%s(%s)", f.Verdict.Gate, f.Output)
}

// Judge runs a candidate and judges what it wrote. An error says that the candidate broke, or does not offer the
// operator (ErrUnsupported); a wrong result is no error.
func (b *Bench) Judge(ctx context.Context, c Candidate) (Report, error) {
	r := Report{Case: b.Case}
	reply, changed, err := run(ctx, c, b.call)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", b.Case.ID, err)
	}
	r.Seconds, r.Path = reply.Seconds, reply.Path
	got := outputs(reply)
	var poisoned []map[string][]float64
	for _, call := range b.poisoned {
		again, touched, err := run(ctx, c, call)
		if err != nil {
			return r, fmt.Errorf("case %q with poison in what is not to be read: %w", b.Case.ID, err)
		}
		poisoned, changed = append(poisoned, outputs(again)), append(changed, touched...)
	}
	for _, e := range b.Expected {
		r.Findings = append(r.Findings, b.judge(e, got, poisoned))
	}
	if len(changed) > 0 {
		slices.Sort(changed)
		r.Findings = append(r.Findings, Finding{Output: "inputs", Verdict: numerics.Verdict{
			Gate: numerics.Structure, Reason: fmt.Sprintf("the call changed its inputs %q", slices.Compact(changed)), Where: numerics.Location{Index: -1},
		}})
	}
	return r, nil
}

func (b *Bench) judge(e Expected, got map[string][]float64, poisoned []map[string][]float64) Finding {
	t := numerics.Trial{
		Shape: e.Shape, Axes: e.Axes, Got: e.values(got), Want: e.Want, Bound: e.Bound, Martingale: e.Martingale, Alpha: Alpha,
	}
	if e.from == nil {
		prefill := Prefill()
		t.Prefill = &prefill
	}
	for _, p := range poisoned {
		if v := e.values(p); t.Poisoned == nil || numerics.BitEqual(t.Got, v) < len(t.Got) {
			t.Poisoned = v
		}
	}
	return Finding{Output: e.Name, Verdict: numerics.Judge(t, b.Case.Contract), got: t.Got, poisoned: t.Poisoned}
}

// run calls a candidate on a copy of the call's memory and tells which inputs it changed.
func run(ctx context.Context, c Candidate, call Call) (_ Reply, changed []string, err error) {
	mine := call.clone()
	reply, err := c.Run(ctx, mine)
	if err != nil {
		return reply, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(call.Views)) {
		s := call.Views[name].Storage
		if sameBits32(call.Storage[s].F32, mine.Storage[s].F32) >= 0 {
			changed = append(changed, name)
		}
	}
	return reply, changed, nil
}

// outputs widens what a candidate wrote; an output that it does not have stays missing, which judging reports as a shape.
func outputs(r Reply) map[string][]float64 {
	out := make(map[string][]float64, len(r.Outputs))
	for name, s := range r.Outputs {
		out[name] = wide(s.F32)
	}
	return out
}

// Unsupported tells whether an error of Judge means that the candidate does not offer the call.
func Unsupported(err error) bool { return errors.Is(err, ErrUnsupported) }
