package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-suite/assay/numerics"
)

// A NaN in an input is a fact about the model (an overflow, a broken weight) that a serving stack looks for in the
// logits: a kernel that turns it into 0, or lets it out into other requests, hides or spreads the damage. So NaN is
// part of what an operator means: every result that depends on the element MUST be NaN, and no other may change.
// Every facet has rows in which each floating-point operand holds one (NaNRule), made from the rows of its tables.
//
// What depends on an element is asked of the oracle, not of a kernel: the element is moved up and down by four times
// the operand's largest magnitude, and what moves depends on it; rounding plays no part, since the oracle is
// float64. What does not move and is NaN all the same when the oracle computes with the NaN (a product with 0, the
// weight 1 of an only key) may be NaN.

// NaNRule says where an operator's meaning of NaN differs from "what depends on it is NaN". The zero value does not
// differ.
type NaNRule struct {
	// Off: the suite has rows of its own, since the operator ranks its operands.
	Off string
	// Never are operands that hold no NaN; Avoid are scenarios in which nothing depends on one.
	Never, Avoid []string
	// Places is how many elements of an operand are NaN, 1 where it is 0: more where results take different elements.
	Places int
	// Whole are operands of which a whole row (first dimension) is NaN: a part of it would be ranked.
	Whole []string
	// Loose are outputs of which a row (first dimension) that depends on a NaN may hold anything: values that are decoded
	// from bytes which have no NaN.
	Loose []string
	// Drops are outputs in which what depends on a NaN is NaN or what it would be without the element: the scale of a
	// block that contains one, since hardware maxima drop NaN.
	Drops []string
	// Own are outputs with an element for every element of an operand, by that operand's name: the element that is NaN
	// itself must be NaN, what else depends on it is as in Drops (codes of a block with a NaN in it).
	Own map[string]string
}

// nanValues of a worker's declaration.
const (
	NaNPropagates = "propagates" // the default
	NaNAny        = "any"        // results that depend on a NaN may be anything
)

// plant puts NaN into a problem's operands, at drawn elements that may be read; false where there is none.
func (r NaNRule) plant(g Gen, p *Problem) bool {
	for _, name := range slices.Sorted(maps.Keys(p.Operands)) {
		o := p.Operands[name]
		if !holdsNaN(o.DType) || slices.Contains(r.Never, name) || slices.ContainsFunc(o.Values, math.IsNaN) {
			continue
		}
		free := p.Unread[name]
		var at []int
		for i, v := range o.Values {
			if (free == nil || !free(i)) && !math.IsInf(v, 0) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		if p.planted == nil {
			p.planted = map[string]float64{}
		}
		values := slices.Clone(o.Values)
		for range max(r.Places, 1) {
			pick := at[g.IntN(len(at))]
			p.planted[name] = o.Values[pick]
			values[pick] = math.NaN()
			if slices.Contains(r.Whole, name) {
				n := product(o.Shape[1:])
				for i := range n {
					values[pick/n*n+i] = math.NaN()
				}
			}
		}
		p.Operands[name] = Operand{o.DType, o.Shape, values}
	}
	return len(p.planted) > 0
}

// holdsNaN tells whether a dtype has a NaN that kernels compute with.
func holdsNaN(dtype string) bool {
	return dtype == F32 || dtype == BF16 || dtype == F16 || dtype == E4M3
}

// with is the problem with f of an operand's largest magnitude in place of its planted NaN.
func (p Problem) with(f func(stood, largest float64, positive bool) float64) Problem {
	out := p.Clone()
	out.planted = nil
	for name, stood := range p.planted {
		o, ok := out.Operands[name]
		if !ok {
			continue // a twin lacks it
		}
		largest, positive := math.Abs(stood), stood > 0
		for _, v := range o.Values {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				largest, positive = max(largest, math.Abs(v)), positive && v > 0
			}
		}
		v, nth := f(stood, largest, positive), 0.0
		for i, x := range o.Values {
			if math.IsNaN(x) { // of a whole row each another, so that nothing cancels
				o.Values[i], nth = Round(o.DType, v*(1-nth/1024)), nth+1
			}
		}
	}
	return out
}

// The values that a NaN is replaced by: what stood there, and far beyond and below everything else (near 0 where the
// operand is positive, as scales are).
func absent(_, _ float64, _ bool) float64 { return 0 }
func stood(v, _ float64, _ bool) float64  { return v }
func above(_, m float64, _ bool) float64  { return far(m) }
func below(_, m float64, pos bool) float64 {
	if pos {
		return m / 1024
	}
	return -far(m)
}

// nanWhereDropped takes for NaN what a result would be without the element that is NaN, where that is admitted.
func (e Expected) nanWhereDropped(got []float64) []float64 {
	if e.without == nil || len(got) != len(e.Want) {
		return got
	}
	out := slices.Clone(got)
	for i, v := range got {
		if math.IsNaN(e.Want[i]) && math.Abs(v-e.without.Want[i]) <= e.without.sharpest(i) {
			out[i] = math.NaN()
		}
	}
	return out
}

// far leaves room for the sums that follow.
func far(m float64) float64 {
	if 4*m > 0x1p100 || m == 0 {
		return 1 + m/2
	}
	return 4 * m
}

// expectNaN derives what is expected of a problem with NaN in it.
func (f Family) expectNaN(c Case, p Problem) ([]Expected, error) {
	clean, err := f.Expect(c, p.with(stood))
	if err != nil {
		return nil, err
	}
	reached := make([][]bool, len(clean))
	for i, e := range clean {
		reached[i] = make([]bool, len(e.Want))
	}
	for _, move := range []func(v, m float64, pos bool) float64{above, below} {
		moved, err := f.Expect(c, p.with(move))
		if err != nil {
			return nil, fmt.Errorf("with a NaN moved to a finite value: %w", err)
		}
		for i, e := range moved {
			for j, v := range e.Want {
				reached[i][j] = reached[i][j] || math.Float64bits(v) != math.Float64bits(clean[i].Want[j])
			}
		}
	}
	may := f.mayBeNaN(c, p, clean)
	rows := map[int]bool{} // of the first dimension, in which some result depends on a NaN
	for i, e := range clean {
		for j, is := range reached[i] {
			if is && len(e.Shape) > 0 {
				rows[j/max(product(e.Shape[1:]), 1)] = true
			}
		}
	}
	if len(f.NaN.Drops)+len(f.NaN.Own) > 0 {
		dropped, err := f.Expect(c, p.with(absent))
		if err != nil {
			return nil, fmt.Errorf("with 0 in place of a NaN: %w", err)
		}
		for i, e := range dropped {
			if slices.Contains(f.NaN.Drops, e.Name) || f.NaN.Own[e.Name] != "" {
				clean[i].without = &e
			}
		}
	}
	for i := range clean {
		f.NaN.demand(&clean[i], p, reached[i], may[i], rows, c.NaN == NaNAny)
	}
	return clean, nil
}

// mayBeNaN are the results that the oracle makes NaN; none where it does not compute with NaN.
func (f Family) mayBeNaN(c Case, p Problem, clean []Expected) (may [][]bool) {
	may = make([][]bool, len(clean))
	defer func() { _ = recover() }() // a NaN that was followed as an index
	dirty, err := f.Expect(c, p)
	if err != nil {
		return may
	}
	for i, e := range dirty {
		may[i] = make([]bool, len(e.Want))
		for j, v := range e.Want {
			may[i][j] = math.IsNaN(v)
		}
	}
	return may
}

// demand asks for NaN in the elements of an output that depend on one.
func (r NaNRule) demand(e *Expected, p Problem, reached, may []bool, rows map[int]bool, lenient bool) {
	e.Gemm, e.Ensemble = nil, nil
	e.Want, e.Free = slices.Clone(e.Want), slices.Clone(e.Free)
	if e.Free == nil {
		e.Free = make([]bool, len(e.Want))
	}
	own, isOwn := p.Operands[r.Own[e.Name]]
	o, plain := p.Outputs[e.Name]
	ranked := e.Select != nil || plain && integer(o.DType) && slices.Contains(reached, true)
	width := 1
	if len(e.Shape) > 0 {
		width = max(product(e.Shape[1:]), 1)
	}
	if choose, want := e.Select, e.Want; choose != nil { // rows that were ranked by NaN are not judged
		e.Select = func(got []float64) []numerics.Selection {
			got = slices.Clone(got)
			for i := range got {
				if rows[i/width] {
					got[i] = want[i]
				}
			}
			return choose(got)
		}
	}
	for i := range e.Want {
		switch {
		case ranked || slices.Contains(r.Loose, e.Name): // an index chosen among NaN, a code that has no NaN
			e.Free[i] = e.Free[i] || rows[i/width]
		case !reached[i]:
			e.Free[i] = e.Free[i] || i < len(may) && may[i]
		case lenient:
			e.Free[i] = true
		case !e.Free[i]:
			e.Want[i] = math.NaN()
			if isOwn && math.IsNaN(own.Values[i]) && e.without != nil {
				e.without.Want[i] = math.NaN() // nothing but NaN
			}
		}
	}
	e.Derivation += "; NaN where the result depends on one"
}

// nanRows are the rows of a facet again with NaN in their operands: the smallest ones with several rows of results, as
// many as it takes for every output and every operand that the facet's rows have.
func (s Suite) nanRows(f Family, fc FacetCases, drawn []drawnCase) []FacetRow {
	if f.NaN.Off != "" {
		return nil
	}
	var can []drawnCase
	for _, d := range drawn {
		first := d.contract.Name == fc.Contracts[0].Name && d.holds != nil
		if first && !slices.Contains(f.NaN.Avoid, d.scenario) &&
			slices.ContainsFunc(fc.Rows, func(r FacetRow) bool { return r.ID == d.row }) {
			can = append(can, d)
		}
	}
	slices.SortStableFunc(can, func(a, b drawnCase) int { return cmp.Compare(a.price(), b.price()) })
	var out []FacetRow
	seen := map[string]bool{}
	for _, d := range can {
		fresh := slices.ContainsFunc(d.holds, func(name string) bool { return !seen[name] })
		if !fresh {
			continue
		}
		first := d.under(fc.Contracts[0])
		k, shape := f.withNaN(first.Scenario), suffixed(first.Shape, "-nan")
		if _, err := attemptProblem(s.at(f, k, shape, fc.Contracts[0])); err != nil {
			continue
		}
		for _, name := range d.holds {
			seen[name] = true
		}
		row := s.at(f, k, shape, fc.Contracts[0]).RowID()
		out = append(out, FacetRow{row, func(c numerics.Contract) Case { return s.at(f, k, shape, c) }})
	}
	return out
}

// price is small for small rows with several results, as their family draws them: a row that is about an edge may have
// results which depend on nothing.
func (d drawnCase) price() int {
	n := d.size
	if !d.plain {
		n *= 8
	}
	if !d.several {
		n += math.MaxInt / 2
	}
	return n
}

// withNaN is a scenario with NaN in its operands.
func (f Family) withNaN(k Scenario) Scenario {
	change := k.Change
	k.Change = func(g Gen, p *Problem) error {
		if change != nil {
			if err := change(g, p); err != nil {
				return err
			}
		}
		if !f.NaN.plant(g, p) {
			return errNoForm
		}
		return nil
	}
	k.Why += "; with NaN in the operands, which must reach the results that depend on them and no others"
	return k
}

// holds lists what a problem has that can hold a NaN, operands and outputs; nil where nothing can be planted.
func (r NaNRule) holds(p Problem) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Operands)) {
		o := p.Operands[name]
		if holdsNaN(o.DType) && !slices.Contains(r.Never, name) && len(o.Values) > 0 {
			if slices.ContainsFunc(o.Values, math.IsNaN) {
				return nil // a row about NaN already
			}
			out = append(out, name)
		}
	}
	if out == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		out = append(out, "output "+name)
	}
	return out
}

// withoutNaN has finite values where NaN was planted.
var withoutNaN = Twin{Class: "nan", Name: "no NaN in its operands", Apply: func(_ Gen, p *Problem) bool {
	had := len(p.planted) > 0
	*p = p.with(stood)
	return had
}}
