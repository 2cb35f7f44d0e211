package bench

import (
	"errors"
	"maps"
	"slices"
)

// A family's tables say what a case is about; storage formats and launch modes that its operator also has are drawn
// from the same tables, so that each of them has a facet's worth of cases.

// graphEvery is how many rows pass between two that are run again in graph mode.
const graphEvery = 2

// forms are a scenario at a shape as its table has it, with operands cast to the other storage formats of the rule, and
// in graph mode where n, its place among the family's rows, says so.
func (f Family) forms(k Scenario, shape Shape, n int) []form {
	plain := k.Change == nil
	out := []form{{k, shape, plain}}
	for _, name := range slices.Sorted(maps.Keys(f.Facets.Casts)) {
		to := f.Facets.Casts[name]
		out = append(out, form{edited(k, func(p *Problem) bool {
			o, ok := p.Operands[name]
			if !ok || o.DType == to {
				return false
			}
			p.Operands[name] = Floats(to, o.Values, o.Shape...)
			return true
		}), suffixed(shape, "-"+name+"-"+to), plain})
	}
	graph := n%graphEvery == 0 && k.Relate == nil
	if graph {
		out = append(out, form{edited(k, replayed), suffixed(shape, "-graph"), plain})
	}
	if len(f.Facets.Half) > 0 {
		half := edited(k, f.Facets.halved)
		out = append(out, form{half, suffixed(shape, "-half"), plain})
		if graph {
			out = append(out, form{edited(half, replayed), suffixed(shape, "-half-graph"), plain})
		}
	}
	return out
}

// halved stores the operands and outputs of Half in bf16.
func (r FacetRule) halved(p *Problem) bool {
	changed := false
	for _, name := range r.Half {
		if o, ok := p.Operands[name]; ok && o.DType == F32 {
			p.Operands[name], changed = Floats(BF16, o.Values, o.Shape...), true
		}
		if o, ok := p.Outputs[name]; ok && o.DType == F32 {
			o.DType, changed = BF16, true
			p.Outputs[name] = o
		}
	}
	return changed
}

type form struct {
	scenario Scenario
	shape    Shape
	plain    bool // the table edits nothing of what is drawn
}

// suffixed is a shape under another name, a slug.
func suffixed(s Shape, suffix string) Shape {
	slug := []rune(s.Name + suffix)
	for i, r := range slug {
		switch {
		case r >= 'A' && r <= 'Z':
			slug[i] = r + 'a' - 'A'
		case r == '_':
			slug[i] = '-'
		}
	}
	s.Name = string(slug)
	return s
}

// errNoForm says that a scenario has the form already, or cannot have it.
var errNoForm = errors.New("the scenario has no such form")

// edited is a scenario with one more edit of its inputs; one that returns false has no such case.
func edited(k Scenario, edit func(p *Problem) bool) Scenario {
	change := k.Change
	k.Change = func(g Gen, p *Problem) error {
		if change != nil {
			if err := change(g, p); err != nil {
				return err
			}
		}
		if !edit(p) {
			return errNoForm
		}
		return nil
	}
	return k
}

// replayed captures the launch with other values in the same shapes and replays it with the case's own: what a graph
// reads when it is captured must not be baked in. Indices stay, since other ones would be another problem.
func replayed(p *Problem) bool {
	if p.Mode != "" {
		return false
	}
	before := p.Clone()
	for name, o := range before.Operands {
		if !integer(o.DType) {
			slices.Reverse(o.Values)
			before.Operands[name] = o
		}
	}
	before.Mode = "graph"
	p.Mode, p.CaptureWith = "graph", &before
	return true
}
