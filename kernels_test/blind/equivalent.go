package blind

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Reason is why a mutant changes no admissible result: one of a closed list.
type Reason string

// The reasons, each decided by the oracle and not by words: an attribute is a hint where what is expected with the
// value that the mutant puts in its place meets all that is expected with the one that is asked for; an operand is
// unread where the same holds for other contents. The third reason of the list, an extent beyond the operator's domain,
// makes no mutants: extents.go and domains.go say where a domain ends.
const (
	Hint   Reason = "the attribute is a hint"
	Unread Reason = "the operand is unread"
)

// Draws are how many inputs besides the job's are drawn to see that the oracle accepts equivalent mutants.
const Draws = 1000

// Rows of more than large bytes are drawn in one round of seldom: in the first, and again and again.
const large, seldom = 1 << 17, 10

// equivalent is the reason why mutants of one attribute or operand, which nothing stops, are no faults. Over Draws
// further draws of the rows that reach them, round and round, production extents among them, two things are asked of
// the oracle: that it accepts what a mutant answers, the mutants taking turns, and that it expects nothing that the
// mutant's own inputs do not imply. Empty where either fails once, with the case.
func (o *Operator) equivalent(ctx context.Context, hint string, all []Mutant) (Reason, string, error) {
	reason := o.kindOf(hint)
	if reason == "" {
		return "", "", nil
	}
	judged := 0
	for n := 0; judged < o.draws; n++ {
		before := judged
		for _, fc := range o.drawn.facets {
			for _, r := range fc.Rows {
				m := all[judged%len(all)]
				if judged >= o.draws || n%seldom != 0 && o.bench[r.Under(fc.Contracts[0]).ID].Bytes() > large ||
					m.touches != nil && !m.touches(o.calls[r.Under(fc.Contracts[0]).ID]) {
					continue
				}
				c := r.Under(fc.Contracts[0])
				c.Shape.Name += fmt.Sprintf("-draw-%d", n)
				c.ID = c.RowID() + "/" + c.Contract.Name
				refuted, err := o.refuted(ctx, m, fc, c)
				switch {
				case errors.Is(err, errNotDrawn):
					continue
				case err != nil:
					return "", "", err
				case refuted != "":
					return "", refuted, nil
				}
				judged++
			}
		}
		if judged == before {
			return "", "no row reaches it", nil
		}
	}
	return reason, "", nil
}

// kindOf is the reason that a name can have.
func (o *Operator) kindOf(name string) Reason {
	doc := o.drawn.family.Doc
	switch {
	case slices.ContainsFunc(doc.Attrs, func(a bench.AttrDoc) bool { return a.Name == name }):
		return Hint
	case slices.ContainsFunc(doc.Operands, func(t bench.TensorDoc) bool { return t.Name == name }):
		return Unread
	}
	return ""
}

var errNotDrawn = errors.New("a row of fixed inputs, or about NaN, of which the oracle's expectation is no function")

func holdsNaN(p bench.Problem) bool {
	for _, o := range p.Operands {
		if slices.ContainsFunc(o.Values, math.IsNaN) {
			return true
		}
	}
	return false
}

// refuted says where a draw shows that a mutant changes an admissible result; empty where it does not.
func (o *Operator) refuted(ctx context.Context, m Mutant, fc bench.FacetCases, c bench.Case) (string, error) {
	b, err := bench.New(c)
	if err != nil {
		return "", errNotDrawn
	}
	p := b.Problem()
	if holdsNaN(p) || !m.alter(&p) {
		return "", errNotDrawn
	}
	implied, err := expect(c, p)
	if err != nil {
		return fmt.Sprintf("%s: the oracle cannot do without it: %v", c.ID, err), nil
	}
	if !implies(implied, b.Expected) {
		return c.ID + ": the oracle expects something else", nil
	}
	report, err := b.Judge(ctx, m.wrap(o.answers(m, fc)))
	if err != nil {
		return "", err
	}
	if f, bad := report.First(); bad {
		return c.ID + ": " + f.Verdict.Reason, nil
	}
	return "", nil
}

// expect asks the oracle, which may not be able to do without what was altered at all.
func expect(c bench.Case, p bench.Problem) (out []bench.Expected, err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("it panics: %v", e)
		}
	}()
	return c.Family.Expect(c, p)
}

// alter puts into a problem what a mutant takes for its attribute, or other contents for its operand; false where it
// has none.
func (m Mutant) alter(p *bench.Problem) bool {
	if operand, ok := p.Operands[m.Hint]; ok {
		operand.Values = slices.Clone(operand.Values)
		slices.Reverse(operand.Values)
		for i, v := range operand.Values {
			if integer(operand.DType) || operand.DType == bench.U8 {
				operand.Values[i] = float64(int(v) / 2)
			}
		}
		p.Operands[m.Hint] = operand
		return true
	}
	if _, has := p.Attrs[m.Hint]; !has {
		return false
	}
	if m.baked == nil {
		delete(p.Attrs, m.Hint)
	} else {
		p.Attrs[m.Hint] = m.baked
	}
	return true
}

// implies tells whether whoever meets one expectation of a call meets the other: the same values with bounds that are
// no wider, wherever the other judges at all.
func implies(from, to []bench.Expected) bool {
	return slices.EqualFunc(from, to, func(f, t bench.Expected) bool {
		if f.Name != t.Name || len(f.Want) != len(t.Want) || (f.Select == nil) != (t.Select == nil) {
			return false
		}
		bound := func(e bench.Expected, i int) float64 {
			if e.Bound == nil {
				return 0
			}
			return e.Bound[i]
		}
		for i := range t.Want {
			switch {
			case t.Free != nil && t.Free[i]:
			case f.Free != nil && f.Free[i], math.Float64bits(f.Want[i]) != math.Float64bits(t.Want[i]),
				bound(f, i) > bound(t, i):
				return false
			}
		}
		return true
	})
}
