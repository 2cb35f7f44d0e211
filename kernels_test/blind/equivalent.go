package blind

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Reason is why a mutant changes no admissible result: one of a closed list, which the operator's Doc must state.
type Reason string

// The reasons. Extents beyond an operator's domain are no mutants: they are in no table of extents.
const (
	Hint   Reason = "the attribute is a hint by its Doc"
	Unread Reason = "the operand does not change the result by its Doc"
)

var says = regexp.MustCompile(`does not (change the result|depend on it)|changes (no result|the result by ` +
	`rounding only)|no result may depend on it`)

// Draws are how many inputs besides the job's are drawn to see that the oracle accepts an equivalent mutant.
const Draws = 20

// equivalent is the reason why a mutant that nothing stops is no fault, proven: its Doc says so, every row of the job
// accepted it, and so do Draws further draws of the rows that reach it. Empty without a reason. An error says that a
// draw refutes it.
func (o *Operator) equivalent(ctx context.Context, m Mutant) (Reason, error) {
	reason := o.reason(m.Hint)
	if reason == "" {
		return "", nil
	}
	judged := 0
	for n := 0; judged < Draws; n++ {
		before := judged
		for _, fc := range o.drawn.facets {
			mutated := m.wrap(o.sound[fc.Facet.String()])
			for _, r := range o.reached(m, fc) {
				c := r.Under(fc.Contracts[0])
				c.Shape.Name += fmt.Sprintf("-draw-%d", n)
				c.ID = c.RowID() + "/" + c.Contract.Name
				b, err := bench.New(c)
				if err != nil {
					continue // a row of fixed inputs
				}
				report, err := b.Judge(ctx, mutated)
				if err != nil {
					return "", err
				}
				if f, bad := report.First(); bad {
					return "", fmt.Errorf("%s, %s: %q refutes that %s: %s", o.Op, m.Name, c.ID, reason, f.Verdict.Reason)
				}
				if judged++; judged >= Draws {
					return reason, nil
				}
			}
		}
		if judged == before {
			return "", errors.New("no row reaches " + m.Name)
		}
	}
	return reason, nil
}

// reason is what the Doc says of an attribute or an operand.
func (o *Operator) reason(name string) Reason {
	for _, a := range o.drawn.family.Doc.Attrs {
		if a.Name == name && says.MatchString(a.Meaning) {
			return Hint
		}
	}
	for _, t := range o.drawn.family.Doc.Operands {
		if t.Name == name && says.MatchString(t.Meaning) {
			return Unread
		}
	}
	return ""
}
