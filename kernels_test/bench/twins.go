package bench

// Dense has operands without gaps, offsets or swapped dimensions.
func Dense() Twin {
	return Twin{Class: "strides", Name: "dense operands", Apply: func(_ Gen, p *Problem) bool {
		changed := false
		for _, l := range p.Layout {
			changed = changed || l != Layout{}
		}
		p.Layout = map[string]Layout{}
		return changed
	}}
}

// Eager runs a call by itself that replayed a graph.
func Eager() Twin {
	return Twin{Class: "graph", Name: "no captured graph", Apply: func(_ Gen, p *Problem) bool {
		graph := p.Mode == "graph" || p.CaptureWith != nil
		p.Mode, p.CaptureWith = "", nil
		return graph
	}}
}

// Fixed sets those of attrs that the problem has and that differ.
func Fixed(class, name string, attrs Attrs) Twin {
	return Twin{Class: class, Name: name, Apply: func(_ Gen, p *Problem) bool {
		changed := false
		for attr, v := range attrs {
			if old, has := p.Attrs[attr]; has && old != v {
				p.Attrs[attr], changed = v, true
			}
		}
		return changed
	}}
}

// Lacking has some operands and outputs no more.
func Lacking(class, name string, what ...string) Twin {
	return Twin{Class: class, Name: name, Apply: func(_ Gen, p *Problem) bool { return p.Drop(what...) }}
}

// Level has one value in every element of the operands that the problem has.
func Level(class, name string, v float64, operands ...string) Twin {
	return Twin{Class: class, Name: name, Apply: func(_ Gen, p *Problem) bool {
		return p.Each(func(int, float64) float64 { return v }, operands...)
	}}
}
