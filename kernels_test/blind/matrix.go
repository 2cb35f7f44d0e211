package blind

import (
	"context"
	"maps"
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
	Equivalent map[string]Reason `json:"equivalent"` // by the attribute or operand that mutants get wrong
	Survivors  map[string]Fate   `json:"survivors"`  // by the mutant's name
	Rare       map[string]int    `json:"rare"`       // of Seeds, how many are stopped
}

// Run judges every mutant of an operator that keep wants (all for nil). Mutants of one attribute or operand that is
// proven not to change a result are one: they are counted once, as equivalent.
func (o *Operator) Run(ctx context.Context, keep func(m Mutant) bool) (Line, error) {
	l := Line{
		Classes: map[string]Count{}, Equivalent: map[string]Reason{}, Survivors: map[string]Fate{}, Rare: map[string]int{},
	}
	accepted := map[string][]Mutant{} // by hint
	for _, m := range o.Mutants() {
		if keep != nil && !keep(m) {
			continue
		}
		fate, stopped, err := o.Judge(ctx, m)
		if err != nil {
			return l, err
		}
		if m.Rare() {
			l.Rare[m.Name] = stopped
		}
		c := l.Classes[m.Class]
		c.Mutants++
		if fate.Stopped() {
			c.Stopped++
		} else {
			l.Survivors[m.Name] = fate
			if fate != Unreached && m.Hint != "" {
				accepted[m.Hint] = append(accepted[m.Hint], m)
			}
		}
		l.Classes[m.Class] = c
	}
	for _, hint := range slices.Sorted(maps.Keys(accepted)) {
		why, _, err := o.equivalent(ctx, hint, accepted[hint])
		if err != nil {
			return l, err
		}
		if why != "" {
			l.merge(hint, why, accepted[hint])
		}
	}
	return l, nil
}

// merge counts mutants of one attribute or operand as one that is equivalent.
func (l *Line) merge(hint string, why Reason, all []Mutant) {
	l.Equivalent[hint] = why
	for i, m := range all {
		delete(l.Survivors, m.Name)
		c := l.Classes[m.Class]
		if i == 0 {
			c.Equivalent++
		} else {
			c.Mutants--
		}
		l.Classes[m.Class] = c
	}
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
