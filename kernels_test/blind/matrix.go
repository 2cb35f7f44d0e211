package blind

import (
	"context"
	"slices"
)

// Count is what became of an operator's mutants of one class.
type Count struct {
	Mutants    int `json:"mutants"`
	Stopped    int `json:"stopped"`
	Equivalent int `json:"equivalent"`
}

// Line is an operator's line of the matrix.
type Line struct {
	Classes    map[string]Count  `json:"classes"`
	Equivalent map[string]Reason `json:"equivalent"`
	Survivors  map[string]Fate   `json:"survivors"` // by the mutant's name
}

// Run judges every mutant of an operator that keep wants (all for nil).
func (o *Operator) Run(ctx context.Context, keep func(m Mutant) bool) (Line, error) {
	l := Line{Classes: map[string]Count{}, Equivalent: map[string]Reason{}, Survivors: map[string]Fate{}}
	for _, m := range o.Mutants() {
		if keep != nil && !keep(m) {
			continue
		}
		fate, err := o.Judge(ctx, m)
		if err != nil {
			return l, err
		}
		c := l.Classes[m.Class]
		c.Mutants++
		if fate.Stopped() {
			c.Stopped++
			l.Classes[m.Class] = c
			continue
		}
		var why Reason
		if fate != Unreached {
			if why, err = o.equivalent(ctx, m); err != nil {
				return l, err
			}
		}
		if why != "" {
			c.Equivalent++
			l.Equivalent[m.Name] = why
		} else {
			l.Survivors[m.Name] = fate
		}
		l.Classes[m.Class] = c
	}
	return l, nil
}

// Sum adds the classes up.
func (l Line) Sum() Count {
	var out Count
	for _, c := range l.Classes {
		out.Mutants, out.Stopped, out.Equivalent = out.Mutants+c.Mutants, out.Stopped+c.Stopped, out.Equivalent+c.Equivalent
	}
	return out
}

// Score is the share of mutants that change a result and are stopped; what is not proven equivalent counts as changing.
func (c Count) Score() float64 {
	if c.Mutants == c.Equivalent {
		return 1
	}
	return float64(c.Stopped) / float64(c.Mutants-c.Equivalent)
}

// of lists the names with a fate, sorted.
func (l Line) of(f Fate) []string {
	var out []string
	for name, fate := range l.Survivors {
		if fate == f {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
