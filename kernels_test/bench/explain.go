package bench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics"
)

// Cause is a guess at what a rejected candidate gets wrong: a class (oracle/faults.Classes), and what points to it.
type Cause struct {
	Class, Name, Why string
}

// Explain guesses why a candidate was rejected, likely first. It knows the outputs and runs the candidate again on the
// case's own inputs and on twins of them; it does not know what was planted, and takes no hint from the case's table.
//
//   - memory: poison around or inside of one operand at a time tells which one is read where it must not be;
//   - unwritten elements, and NaN or infinities where none belong;
//   - twins: the case with one feature made neutral (identity page table, scale 1, one split, ...); a feature
//     without which the candidate passes is what it gets wrong;
//   - residuals: what numerics.Judge saw in them.
func (b *Bench) Explain(ctx context.Context, c Candidate, r Report) []Cause {
	f, bad := r.First()
	if !bad {
		return nil
	}
	var out []Cause
	if r.Nondeterministic {
		out = append(out, Cause{"race", "differs from run to run", "the same call, run again, gives other bits"})
	} else {
		out = b.memory(ctx, c, r)
	}
	out = append(out, b.twins(ctx, c)...)
	if e, ok := b.expected(f.Output); ok {
		pre := math.NaN()
		if o, has := b.call.Outputs[f.Output]; has && !e.Touched {
			pre = prefilled(o.DType, o.Prefill)
			if n := unwritten(f.Got, e.Want, pre); n > 0 {
				out = append(out, Cause{
					"unwritten", "launch too small", fmt.Sprintf("%d elements of %s were never written", n, f.Output),
				})
			}
		}
		if n := strangers(f.Got, e.Want, pre); n > 0 && len(b.problem.planted) == 0 {
			out = append(out, Cause{
				"empty-row", "NaN or infinity", fmt.Sprintf("%d elements of %s are NaN or infinite where the exact result is "+
					"not, or the other way round, from inputs that are finite", n, f.Output),
			})
		}
	}
	for _, v := range f.Verdict.Cause {
		out = append(out, Cause{residualClass(v.Name), v.Name, v.Why})
	}
	if f.Verdict.Gate == numerics.Selecting {
		out = append(out, Cause{"selection", "selection", f.Verdict.Reason})
	}
	if f.Verdict.Gate == numerics.Structure && f.Output == "inputs" {
		out = append(out, Cause{"input-overwritten", "writes into its inputs", f.Verdict.Reason})
	}
	if f.Output == "repeats" {
		out = append(out, Cause{"race", "differs from run to run", f.Verdict.Reason})
	}
	return distinct(out)
}

// residualClass is the class of a cause that numerics names.
func residualClass(name string) string {
	switch name {
	case "period":
		return "tile"
	case "truncation", "growth":
		return "accumulation"
	case "zeros":
		return "unwritten"
	case "offset":
		return "offset"
	case "log2 e", "ln 2":
		return "log-base"
	}
	return "scale"
}

// distinct keeps the first of causes with one class and name.
func distinct(causes []Cause) []Cause {
	var out []Cause
	for _, c := range causes {
		if !slices.ContainsFunc(out, func(o Cause) bool { return o.Class == c.Class && o.Name == c.Name }) {
			out = append(out, c)
		}
	}
	return out
}

// strangers counts elements whose class (finite, NaN, ±Inf) is not the exact result's, unwritten ones left out.
func strangers(got, want []float64, prefill float64) int {
	n := 0
	for i, v := range got {
		if i >= len(want) || math.Float64bits(v) == math.Float64bits(prefill) {
			continue
		}
		if special(v) != special(want[i]) {
			n++
		}
	}
	return n
}

func special(v float64) int {
	switch {
	case math.IsNaN(v):
		return 1
	case math.IsInf(v, 1):
		return 2
	case math.IsInf(v, -1):
		return 3
	}
	return 0
}

// memory poisons one operand at a time.
func (b *Bench) memory(ctx context.Context, c Candidate, r Report) []Cause {
	var out []Cause
	names := map[string]bool{}
	for name, l := range b.problem.Layout {
		names[name] = l.Lead+l.Gap+l.Inner+l.Tail > 0
	}
	for name := range b.problem.Unread {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] {
			continue
		}
		for kind := range 2 {
			reply, _, err := run(ctx, c, b.poison(kind, func(n string) bool { return n == name }))
			if err == nil && !b.changed(values(reply), r) {
				continue
			}
			why := fmt.Sprintf("poison in the memory around %s, and in those of its elements that the operator leaves unread, "+
				"changes the output", name)
			if err != nil {
				why = fmt.Sprintf("poison in what the operator leaves unread of %s breaks the candidate: %v", name, err)
			}
			out = append(out, Cause{"unread-memory", "reads past " + name, why})
			break
		}
	}
	return out
}

func (b *Bench) changed(out map[string][]float64, r Report) bool {
	for i, e := range b.Expected {
		if i >= len(r.Findings) {
			break
		}
		v, got := e.values(out), r.Findings[i].Got
		if e.Free != nil && len(v) == len(e.Free) {
			v = blank(v, e.Free)
		}
		if len(v) != len(got) || numerics.BitEqual(v, got) < len(got) {
			return true
		}
	}
	return false
}

// twins makes one feature neutral at a time.
func (b *Bench) twins(ctx context.Context, c Candidate) []Cause {
	var out []Cause
	for _, t := range append([]Twin{withoutNaN}, b.Case.Family.Twins...) {
		p := b.problem.Clone()
		if !t.Apply(b.Case.gen(), &p) {
			continue
		}
		neutral, err := prepare(b.Case, p)
		if err != nil {
			continue // the feature cannot be taken away in this case
		}
		r, err := neutral.Judge(ctx, c)
		if err == nil && r.Accepted() {
			out = append(out, Cause{t.Class, t.Name, fmt.Sprintf("the same case passes with %s", t.Name)})
		}
	}
	return out
}

// Active names the twins whose feature is not neutral in this case.
func (b *Bench) Active() []string {
	var out []string
	for _, t := range append([]Twin{withoutNaN}, b.Case.Family.Twins...) {
		p := b.problem.Clone()
		if t.Apply(b.Case.gen(), &p) {
			out = append(out, t.Name)
		}
	}
	return out
}

// Library names the plants of a suite whose outputs on this case are the candidate's within the contract's bounds:
// known bugs that look like this. It is apart from Explain, since it knows the catalogue.
func (b *Bench) Library(ctx context.Context, plants []Plant, r Report) []Cause {
	if !(r.Rho() > 1) {
		return nil // the values are right: every correct kernel looks like this one
	}
	var out []Cause
	for _, p := range plants {
		if !p.Concerns(b.Case) {
			continue
		}
		c, err := p.Build(b.Case.Contract.Name)
		if err != nil {
			continue
		}
		reply, _, err := run(ctx, c, b.call)
		if err != nil {
			continue
		}
		if worst, left := b.distance(values(reply), r); worst <= 1 || left <= 1e-3 {
			out = append(out, Cause{
				p.Class, p.Name, fmt.Sprintf("%s (%s); that leaves %.2g of the difference", p.Effect, p.Origin, left),
			})
		}
	}
	return out
}

// distance compares the outputs with a hypothesis: the largest |got − hypothesis| / bound, and the rms of that ratio
// over the rms of the same for the exact outputs. Both are +Inf where an output is missing or a NaN stands on one side
// alone.
func (b *Bench) distance(hypothesis map[string][]float64, r Report) (worst, left float64) {
	var explained, whole float64
	for i, e := range b.Expected {
		v, got := e.values(hypothesis), r.Findings[i].Got
		if len(v) != len(got) || len(v) != len(e.Want) {
			return math.Inf(1), math.Inf(1)
		}
		if e.Free != nil {
			v = blank(v, e.Free)
		}
		bound := make([]float64, len(v))
		for at := range bound {
			bound[at] = e.sharpest(at)
		}
		exact := numerics.Rho(got, e.Want, bound)
		for at, rho := range numerics.Rho(got, v, bound) {
			worst = max(worst, rho)
			explained += rho * rho
			whole += exact[at] * exact[at]
		}
	}
	switch {
	case math.IsInf(explained, 1):
		return worst, math.Inf(1)
	case math.IsInf(whole, 1):
		return worst, 0
	}
	return worst, math.Sqrt(explained / whole)
}

// sharpest is the smallest of the bounds that apply to an element.
func (e Expected) sharpest(at int) float64 {
	if e.Bound == nil {
		return 0
	}
	if e.Martingale != nil {
		return min(e.Bound[at], e.Martingale[at])
	}
	return e.Bound[at]
}

func (b *Bench) expected(output string) (Expected, bool) {
	for _, e := range b.Expected {
		if e.Name == output || e.Name+"-in-parts" == output {
			return e, true
		}
	}
	return Expected{}, false
}
