package cuda

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/assay-suite/assay/internal/candidate"
	"github.com/assay-suite/assay/kernels_test/protocol"
)

// Hello is what the worker offers: for each operator what its manifests say, joined as a list of facets where there are
// several of them.
func (w *Worker) Hello(name string) (candidate.Hello, error) {
	h := candidate.Hello{
		Name: name, Version: cmp.Or(w.about.Compiler, w.about.Driver), Device: w.about.Name,
		Ops: map[string]candidate.Capability{},
	}
	for _, k := range w.kernels {
		m := k.Manifest
		was, several := h.Ops[m.Operator]
		if !several {
			was = m.Offer
			if len(was.Facets) > 0 {
				was.Facets = facets(was)
			}
			h.Ops[m.Operator] = was
			continue
		}
		if was.Contract != m.Offer.Contract || was.NaN != m.Offer.NaN || !reflect.DeepEqual(was.Attrs, m.Offer.Attrs) ||
			!reflect.DeepEqual(was.MadeFor, m.Offer.MadeFor) {
			return h, fmt.Errorf("%s is a second manifest of operator %q and declares another contract, nan, attr or made_for "+
				"than the first; an operator has one of each, so serve them by two workers", m.Path, m.Operator)
		}
		was.Facets = append(facets(was), facets(m.Offer)...)
		was.Modes = union(was.Modes, m.Offer.Modes)
		was.DTypes, was.Phases = union(was.DTypes, m.Offer.DTypes), nil
		h.Ops[m.Operator] = was
	}
	return h, nil
}

// facets are what a capability offers as a list.
func facets(c protocol.Capability) []protocol.Offer {
	var out []protocol.Offer
	for _, f := range c.Facets {
		if f.Mode != "" {
			out = append(out, f)
			continue
		}
		for _, f.Mode = range c.Modes {
			out = append(out, f)
		}
	}
	if out != nil {
		return out
	}
	phases := c.Phases
	if len(phases) == 0 {
		phases = []string{""}
	}
	for _, phase := range phases {
		for _, mode := range c.Modes {
			out = append(out, protocol.Offer{DTypes: c.DTypes, Phase: phase, Mode: mode})
		}
	}
	return out
}

func union(a, b []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range append(append([]string{}, a...), b...) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
