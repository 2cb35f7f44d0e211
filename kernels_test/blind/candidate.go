package blind

import (
	"context"
	"fmt"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Candidate is a mutant as a user's worker would be: it offers every facet of its operator.
func (o *Operator) Candidate(m Mutant) bench.Candidate {
	w := worker{op: o.Op, facet: map[string]string{}, kernels: map[string]bench.Candidate{}}
	for _, fc := range o.drawn.facets {
		name := fc.Facet.String()
		w.kernels[name] = o.sound[name]
		if m.Facet == "" || m.Facet == name {
			w.kernels[name] = m.wrap(o.answers(m, fc))
		}
		for _, r := range fc.Rows {
			for _, c := range fc.Contracts {
				w.facet[r.Under(c).ID] = name
			}
		}
	}
	return w
}

type worker struct {
	op      string
	facet   map[string]string // by case ID
	kernels map[string]bench.Candidate
}

// Hello offers everything.
func (w worker) Hello(context.Context) (bench.Hello, error) {
	return bench.Hello{Name: "mutant", Ops: map[string]bench.Capability{w.op: {Modes: []string{"eager", "graph"}}}}, nil
}

// Run answers with the kernel of the call's facet; parts of a case are called by its ID and a segment more.
func (w worker) Run(ctx context.Context, call bench.Call) (bench.Reply, error) {
	for id := call.Case; id != ""; {
		if name, ok := w.facet[id]; ok {
			return w.kernels[name].Run(ctx, call)
		}
		id = id[:max(strings.LastIndex(id, "/"), 0)]
	}
	return bench.Reply{}, fmt.Errorf("%q is a case of no facet", call.Case)
}
