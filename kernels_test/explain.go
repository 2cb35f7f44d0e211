package kernels

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// Explain guesses why a candidate was rejected, likely first. It knows the outputs and runs the candidate again; it does not
// know what was planted. Three kinds of hypothesis are tried, then what numerics saw in the residuals:
//
//   - memory: poison around one operand at a time tells which one is read past its view;
//   - arithmetic: the emulated contract, read otherwise or another one, gives at least 99 of 100 outputs bit for bit;
//   - an operator fault: the exact operator with that fault lies within every bound, or leaves at most a thousandth of the
//     difference unexplained (bounds are derived for the right outputs, and a fault may move them out of scale).
func (b *Bench) Explain(ctx context.Context, c Candidate, r Report) []numerics.Cause {
	f, bad := r.First()
	if !bad {
		return nil
	}
	var out []numerics.Cause
	if len(b.poisoned) > 0 {
		out = append(out, b.readsBeyond(ctx, c, r)...)
	}
	if n := unwritten(f.got); n > 0 {
		return append(out, numerics.Cause{Name: "launch too small", Why: fmt.Sprintf("%d elements of %s were never written: the grid covers fewer rows or columns than the output has", n, f.Output)})
	}
	if f.Verdict.Where.Index >= 0 && len(out) == 0 {
		out = append(out, b.arithmetic(ctx, r)...)
		out = append(out, b.variants(r)...)
		out = append(out, f.Verdict.Cause...)
	}
	return out
}

// unwritten counts the elements that hold the prefill pattern.
func unwritten(v []float64) int {
	n := 0
	for _, x := range v {
		if math.Float64bits(x) == math.Float64bits(Prefill()) {
			n++
		}
	}
	return n
}

// readsBeyond poisons the surroundings of one operand at a time.
func (b *Bench) readsBeyond(ctx context.Context, c Candidate, r Report) []numerics.Cause {
	p, err := b.Case.Problem()
	if err != nil {
		return nil
	}
	var out []numerics.Cause
	for _, name := range slices.Sorted(maps.Keys(p.Layout)) {
		for _, poison := range []func() float32{nans, extremes()} {
			poisoned := p.call(b.Case.Family.Op, b.Case.ID, poison)
			call := p.call(b.Case.Family.Op, b.Case.ID, harmless(suite.Rand(b.Case.ID+"/filler")))
			storage := call.Views[name].Storage
			call.Storage[storage] = poisoned.Storage[storage]
			reply, _, err := run(ctx, c, call)
			if err != nil || !differs(outputs(reply), r) {
				continue
			}
			out = append(out, numerics.Cause{Name: "reads past " + name, Why: fmt.Sprintf("poison in the memory around %s alone, which no view reaches, changes the output", name)})
			break
		}
	}
	return out
}

func differs(out map[string][]float64, r Report) bool {
	for _, f := range r.Findings {
		if v, ok := out[f.Output]; ok && (len(v) != len(f.got) || numerics.BitEqual(v, f.got) < len(v)) {
			return true
		}
	}
	return false
}

// variants keeps the operator faults that explain what was got, closest first.
func (b *Bench) variants(r Report) []numerics.Cause {
	plants, err := Plants()
	if err != nil {
		return nil
	}
	type fit struct {
		cause numerics.Cause
		left  float64
	}
	var fits []fit
	in := b.call.operands()
	for _, p := range plants {
		if p.Apply == nil || !p.Concerns(b.Case) {
			continue
		}
		hypothesis, err := evaluate(p.Apply(oracle.Reference()), b.call.Op, b.call.Attrs, in)
		if err != nil {
			continue
		}
		if worst, left := b.distance(hypothesis, r); worst <= 1 || left <= 1e-3 {
			fits = append(fits, fit{numerics.Cause{Name: p.Name, Why: fmt.Sprintf("%s; that leaves %.2g of the difference, ρ <= %.2g", p.Effect, left, worst)}, left})
		}
	}
	slices.SortStableFunc(fits, func(x, y fit) int { return cmp.Compare(x.left, y.left) })
	var out []numerics.Cause
	for _, f := range fits {
		out = append(out, f.cause)
	}
	return out
}

// distance compares the outputs with a hypothesis: the largest |got − hypothesis| / bound, and the rms of that ratio over the
// rms of the same for the exact outputs. Both are +Inf where an output is missing or a NaN stands on one side alone.
func (b *Bench) distance(hypothesis map[string]oracle.Mat, r Report) (worst, left float64) {
	values := map[string][]float64{}
	for name, m := range hypothesis {
		values[name] = m.Data
	}
	var explained, whole float64
	for i, e := range b.Expected {
		v, got := e.values(values), r.Findings[i].got
		if len(v) != len(got) || len(v) != len(e.Bound) {
			return math.Inf(1), math.Inf(1)
		}
		bound := e.Bound
		if e.Martingale != nil {
			bound = make([]float64, len(e.Bound))
			for at := range bound {
				bound[at] = sharpest(e, at)
			}
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

// arithmetic emulates the other contracts and the other ways to read operands.
func (b *Bench) arithmetic(ctx context.Context, r Report) []numerics.Cause {
	plants, err := Plants()
	if err != nil {
		return nil
	}
	var out []numerics.Cause
	for _, p := range plants {
		if p.Runs == nil || !p.Concerns(b.Case) {
			continue
		}
		c, err := p.Candidate(b.Case.Contract.Name)
		if err != nil {
			continue
		}
		reply, _, err := run(ctx, c, b.call)
		if err != nil {
			continue
		}
		equal, total := 0, 0
		emulated := outputs(reply)
		for _, f := range r.Findings {
			if v, ok := emulated[f.Output]; ok {
				equal += numerics.BitEqual(f.got, v)
				total += len(v)
			}
		}
		if total > 0 && float64(equal) >= 0.99*float64(total) {
			out = append(out, numerics.Cause{Name: p.Name, Why: fmt.Sprintf("%s; its emulation gives %d of %d outputs bit for bit", p.Effect, equal, total)})
		}
	}
	return out
}
