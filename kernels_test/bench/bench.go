package bench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
)

// Bench is a case made ready: inputs laid out, plain and poisoned, and what is expected. It serves any number of
// candidates.
type Bench struct {
	Case     Case
	Expected []Expected

	problem  Problem
	call     Call
	poisoned []Call // the same operands with poison in everything that may not be read
	relation *Relation
}

// New draws a case and derives what is expected of it.
func New(c Case) (*Bench, error) {
	p, err := c.Problem()
	if err != nil {
		return nil, err
	}
	return prepare(c, p)
}

// prepare makes a problem of a case ready.
func prepare(c Case, p Problem) (*Bench, error) {
	expect := c.Family.Expect
	if len(p.planted) > 0 {
		expect = c.Family.expectNaN
	}
	expected, err := expect(c, p)
	if err != nil {
		return nil, fmt.Errorf("the reference of case %q cannot be computed: %w", c.ID, err)
	}
	b := &Bench{Case: c, Expected: expected, problem: p}
	b.call = p.call(c.Family.Op, c.ID, c.Scenario.Phase, harmless(suite.Rand(c.ID+"/filler")), nil)
	if p.poisonable() {
		for kind := range 2 {
			b.poisoned = append(b.poisoned, b.poison(kind, nil))
		}
	}
	if c.Scenario.Relate != nil {
		r, err := c.Scenario.Relate(c.gen(), p.Clone())
		if err != nil {
			return nil, fmt.Errorf("the parts of case %q cannot be made: %w", c.ID, err)
		}
		b.relation = &r
	}
	return b, nil
}

// poison is the call with poison of a kind around and inside of the operands that only tells (all for nil).
func (b *Bench) poison(kind int, only func(name string) bool) Call {
	c, p := b.Case, b.problem
	call := p.call(c.Family.Op, c.ID, c.Scenario.Phase,
		func(dtype string) func() float64 { return poison(dtype, kind) },
		func(_, dtype string) func() float64 { return poison(dtype, kind) })
	if only == nil {
		return call
	}
	for name, v := range b.call.Views {
		if !only(name) {
			call.Storage[v.Storage] = b.call.Storage[v.Storage]
		}
	}
	return call
}

// Call is the plain call of the case.
func (b *Bench) Call() Call { return b.call.Clone() }

// Problem is the case's inputs, a copy.
func (b *Bench) Problem() Problem { return b.problem.Clone() }

// Finding is the verdict on one output.
type Finding struct {
	Output  string
	Verdict numerics.Verdict

	Got, Poisoned []float64
}

// Report is what became of a candidate on a case: one finding for each output, in the order of Bench.Expected, then
// those that concern no single output.
type Report struct {
	Case     Case
	Findings []Finding
	Seconds  float64
	Path     string
	// Nondeterministic says that the same call, run again, gave other bits. It is asked of a call that is rejected or
	// that poison has changed, before anything is blamed.
	Nondeterministic bool
}

// First returns the finding that decides: the earliest gate, then the first output. ok is false for an accepted
// candidate.
func (r Report) First() (f Finding, ok bool) {
	for _, gate := range gates {
		for _, f := range r.Findings {
			if !f.Verdict.Accepted && f.Verdict.Gate == gate {
				return f, true
			}
		}
	}
	return Finding{}, false
}

// gates is the order in which they decide.
var gates = []numerics.Gate{
	numerics.Structure, numerics.Bound, numerics.Relative, numerics.Bias, numerics.Selecting, numerics.Compounding,
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

// Rho is the largest |got − want| / bound over the outputs, by the sharper bound where one applies.
func (r Report) Rho() float64 {
	worst := 0.0
	for _, f := range r.Findings {
		worst = max(worst, f.Verdict.Rho.Max, f.Verdict.RhoMartingale.Max)
	}
	return worst
}

// Judge runs a candidate and judges what it wrote. An error says that the candidate broke, or does not offer the
// call (ErrUnsupported); a wrong result is no error.
func (b *Bench) Judge(ctx context.Context, c Candidate) (Report, error) {
	r := Report{Case: b.Case}
	h, err := c.Hello(ctx)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", b.Case.ID, err)
	}
	if err := offers(h, b.call); err != nil {
		return r, fmt.Errorf("case %q: %w", b.Case.ID, err)
	}
	reply, changed, err := run(ctx, c, b.call)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", b.Case.ID, err)
	}
	r.Seconds, r.Path = reply.Seconds, reply.Path
	got := values(reply)
	var poisoned []map[string][]float64
	for _, call := range b.poisoned {
		again, touched, err := run(ctx, c, call)
		if err != nil {
			// What raises under poison alone and answers wrongly without it is judged by the answers, which say more.
			if r.Findings = b.judgeAll(got, nil); !r.Accepted() && ctx.Err() == nil {
				return r, nil
			}
			r.Findings = nil
			return r, fmt.Errorf("case %q with poison in what is not to be read: %w", b.Case.ID, err)
		}
		poisoned, changed = append(poisoned, values(again)), append(changed, touched...)
	}
	moved := slices.ContainsFunc(poisoned, func(p map[string][]float64) bool { return b.differ(got, p) })
	if moved {
		if r.Nondeterministic, err = b.varies(ctx, c, got, poisoned); err != nil {
			return r, fmt.Errorf("case %q, run again: %w", b.Case.ID, err)
		}
	}
	if r.Nondeterministic { // equal bits cannot be asked for: each run is judged by the oracle
		r.Findings = b.judgeEach(got, poisoned)
	} else {
		r.Findings = b.judgeAll(got, poisoned)
	}
	if !moved && !r.Accepted() {
		if r.Nondeterministic, err = b.reruns(ctx, c, got); err != nil {
			return r, fmt.Errorf("case %q, run again: %w", b.Case.ID, err)
		}
	}
	if b.relation != nil && r.Accepted() {
		f, err := b.relate(ctx, c, got)
		if err != nil {
			return r, fmt.Errorf("case %q, the whole said in parts: %w", b.Case.ID, err)
		}
		r.Findings = append(r.Findings, f...)
	}
	if len(changed) > 0 {
		slices.Sort(changed)
		r.refuse("inputs", fmt.Sprintf("the call changed its inputs %q", slices.Compact(changed)))
	}
	if d := slices.Compact(slices.Clone(reply.Digests)); len(d) > 1 && b.Case.Contract.Tier == numerics.Bitwise {
		r.refuse("repeats", fmt.Sprintf("%d runs of the same call gave outputs with different bits, and the contract is "+
			"bitwise", len(reply.Digests)))
	}
	return r, nil
}

// refuse adds a finding of structure that concerns no element.
func (r *Report) refuse(what, reason string) {
	r.Findings = append(r.Findings, Finding{Output: what, Verdict: numerics.Verdict{
		Gate: numerics.Structure, Reason: reason, Where: numerics.Location{Index: -1},
	}})
}

func (b *Bench) judgeAll(got map[string][]float64, poisoned []map[string][]float64) []Finding {
	var out []Finding
	for _, e := range b.Expected {
		out = append(out, b.judge(e, got, poisoned))
	}
	return out
}

func (b *Bench) judge(e Expected, got map[string][]float64, poisoned []map[string][]float64) Finding {
	var prefill *float64
	if o, ok := b.call.Outputs[e.Name]; ok && e.From == nil {
		v := prefilled(o.DType, o.Prefill)
		prefill = &v
	}
	var again [][]float64
	for _, p := range poisoned {
		again = append(again, e.values(p))
	}
	t := e.trial(e.values(got), again, prefill)
	return Finding{Output: e.Name, Verdict: numerics.Judge(t, b.Case.Contract), Got: t.Got, Poisoned: t.Poisoned}
}

// judgeEach judges a candidate whose bits change from run to run: the plain run, and every poisoned one by itself.
func (b *Bench) judgeEach(got map[string][]float64, poisoned []map[string][]float64) []Finding {
	var out []Finding
	for _, e := range b.Expected {
		f := b.judge(e, got, nil)
		for _, p := range poisoned {
			if !f.Verdict.Accepted {
				break
			}
			if again := b.judge(e, p, nil); !again.Verdict.Accepted {
				f = again
				f.Verdict.Reason = "with poison in inputs that the contract leaves unread: " + f.Verdict.Reason
			}
		}
		out = append(out, f)
	}
	return out
}

// reruns runs the plain call again and tells whether its judged bits differ.
func (b *Bench) reruns(ctx context.Context, c Candidate, got map[string][]float64) (bool, error) {
	reply, _, err := run(ctx, c, b.call)
	if err != nil {
		return false, err
	}
	return b.differ(got, values(reply)), nil
}

// differ tells whether two runs differ in a bit that somebody judges.
func (b *Bench) differ(x, y map[string][]float64) bool {
	return slices.ContainsFunc(b.Expected, func(e Expected) bool {
		v, w := e.values(x), e.values(y)
		if e.Free != nil && len(v) == len(e.Free) && len(w) == len(e.Free) {
			v, w = blank(v, e.Free), blank(w, e.Free)
		}
		return len(v) != len(w) || numerics.BitEqual(v, w) < len(v)
	})
}

// relate compares the joined parts with the whole.
func (b *Bench) relate(ctx context.Context, c Candidate, whole map[string][]float64) ([]Finding, error) {
	var parts []Results
	for i, p := range b.relation.Parts {
		id := fmt.Sprintf("%s/part-%d", b.Case.ID, i)
		call := p.call(b.Case.Family.Op, id, b.Case.Scenario.Phase, harmless(suite.Rand(id)), nil)
		for j, with := range b.relation.With {
			if other := fmt.Sprintf("%s/with-%d", b.Case.ID, j); i == 0 {
				call.BatchWith = append(call.BatchWith,
					with.call(b.Case.Family.Op, other, b.Case.Scenario.Phase, harmless(suite.Rand(other)), nil))
			}
		}
		reply, _, err := run(ctx, c, call)
		if len(call.BatchWith) > 0 && Unsupported(err) {
			return nil, nil // no launches of several requests: there is nothing to compare
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, values(reply))
	}
	joined, err := b.relation.Join(parts)
	if err != nil {
		return nil, fmt.Errorf("the outputs of the parts do not fit together: %w", err)
	}
	var out []Finding
	for _, e := range b.Expected {
		got, want := e.values(joined), e.values(whole)
		if got == nil || len(want) != len(e.Want) {
			continue
		}
		related := Expected{Shape: e.Shape, Axes: e.Axes, Want: want, Free: e.Free, Bound: make([]float64, len(want))}
		if !b.relation.Exact && e.Bound != nil {
			for i, v := range e.Bound {
				related.Bound[i] = 2 * v
			}
		}
		if e.Select != nil {
			continue // judged by itself in the whole; other ties are admissible in the parts
		}
		t := related.trial(got, nil, nil)
		out = append(out, Finding{Output: e.Name + "-in-parts", Verdict: numerics.Judge(t, b.Case.Contract), Got: t.Got})
	}
	return out, nil
}

// run calls a candidate on a copy of the call's memory and tells which inputs it changed.
func run(ctx context.Context, c Candidate, call Call) (_ Reply, changed []string, err error) {
	mine := call.Clone()
	reply, err := c.Run(ctx, mine)
	if err != nil {
		return reply, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(call.Views)) {
		s := call.Views[name].Storage
		if differ(call.Storage[s].Data, mine.Storage[s].Data) >= 0 {
			changed = append(changed, name)
		}
	}
	return reply, changed, nil
}

// values takes the values out of a reply; an output that it does not have stays missing, which judging reports as a
// shape.
func values(r Reply) map[string][]float64 {
	out := make(map[string][]float64, len(r.Outputs))
	for name, s := range r.Outputs {
		out[name] = s.Data
	}
	return out
}

// unwritten counts the elements that hold the prefill pattern although the exact result is another.
func unwritten(v, want []float64, prefill float64) int {
	n := 0
	for i, x := range v {
		if math.Float64bits(x) == math.Float64bits(prefill) && i < len(want) && want[i] != prefill {
			n++
		}
	}
	return n
}

// Calls counts the calls that judging a candidate by this case makes, those of a relation aside.
func (b *Bench) Calls() int { return 1 + len(b.poisoned) }

// Bytes counts what one call reads and writes, views and outputs, by their dtypes.
func (b *Bench) Bytes() int {
	n := 0
	for _, v := range b.call.Views {
		n += v.Len() * width(b.call.Storage[v.Storage].DType)
	}
	for _, o := range b.call.Outputs {
		n += product(o.Shape) * width(o.DType)
	}
	return n
}

// width is the size of an element in bytes.
func width(dtype string) int {
	switch dtype {
	case F32, I32:
		return 4
	case BF16, F16:
		return 2
	case I64:
		return 8
	}
	return 1
}
