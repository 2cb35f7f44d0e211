package bench

import (
	"maps"
	"slices"
)

// Change edits what Draw drew: what a scenario changes of its family's inputs.
type Change = func(g Gen, p *Problem) error

// All makes changes one after the other and stops at the first error.
func All(changes ...Change) Change {
	return func(g Gen, p *Problem) error {
		for _, c := range changes {
			if err := c(g, p); err != nil {
				return err
			}
		}
		return nil
	}
}

// Set gives attributes other values.
func Set(attrs Attrs) Change {
	return func(_ Gen, p *Problem) error {
		maps.Copy(p.Attrs, attrs)
		return nil
	}
}

// Without takes operands and outputs away.
func Without(names ...string) Change {
	return func(_ Gen, p *Problem) error {
		p.Drop(names...)
		return nil
	}
}

// Each applies f to every element of the operands that the problem has, row-major, and rounds to their dtypes.
func Each(f func(i int, v float64) float64, names ...string) Change {
	return func(_ Gen, p *Problem) error {
		p.Each(f, names...)
		return nil
	}
}

// Times multiplies the operands that the problem has.
func Times(factor float64, names ...string) Change {
	return Each(func(_ int, v float64) float64 { return v * factor }, names...)
}

// As stores an operand in another dtype, its values rounded.
func As(dtype string, names ...string) Change {
	return func(_ Gen, p *Problem) error {
		for _, name := range names {
			o := p.Operands[name]
			p.Operands[name] = Floats(dtype, o.Values, o.Shape...)
		}
		return nil
	}
}

// CapturedWith replays a graph that was captured with f's values of an operand.
func CapturedWith(operand string, f func(i int, v float64) float64) Change {
	return func(_ Gen, p *Problem) error {
		before := p.Clone()
		before.Change(operand, f)
		before.Mode, before.Unread = "graph", nil
		p.Mode, p.CaptureWith = "graph", &before
		return nil
	}
}

// Drop takes operands and outputs away, with their layouts and what they leave unread, and tells whether any was there.
func (p *Problem) Drop(names ...string) bool {
	dropped := false
	for _, name := range names {
		_, operand := p.Operands[name]
		_, output := p.Outputs[name]
		dropped = dropped || operand || output
		delete(p.Operands, name)
		delete(p.Layout, name)
		delete(p.Unread, name)
		delete(p.Outputs, name)
	}
	return dropped
}

// Each is Change for several operands, those that the problem has; it tells whether an element changed.
func (p *Problem) Each(f func(i int, v float64) float64, names ...string) bool {
	changed := false
	for _, name := range names {
		p.Change(name, func(i int, v float64) float64 {
			w := f(i, v)
			changed = changed || w != v
			return w
		})
	}
	return changed
}

// Under gives contracts to those of scenarios that name none.
func Under(contracts []string, scenarios []Scenario) []Scenario {
	for i, s := range scenarios {
		if s.Contracts == nil {
			scenarios[i].Contracts = contracts
		}
	}
	return scenarios
}

// UnderAllBut is Under for every scenario but those of some IDs, which stay under every contract of the family.
func UnderAllBut(contracts []string, scenarios []Scenario, ids ...string) []Scenario {
	for i, s := range scenarios {
		if s.Contracts == nil && !slices.Contains(ids, s.ID) {
			scenarios[i].Contracts = contracts
		}
	}
	return scenarios
}
