package route

import (
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// variants are correct in other orders, other places of the factor and other orders of the experts.
func variants() []bench.Variant {
	var out []bench.Variant
	add := func(name, contract string, kernels map[string]bench.Kernel) {
		out = append(out, bench.Variant{Name: name, Contract: contract, Candidate: bench.FromKernels(name, kernels)})
	}
	sums := []struct {
		name string
		sum  bench.Summing
	}{
		{"sequential", bench.Sequential},
		{"reversed", bench.Reversed},
		{"pairwise", bench.Pairwise},
		{"wide", bench.Wide},
		{"lanes-4", bench.Lanes(4, bench.Pairwise)},
		{"lanes-32", bench.Lanes(32, bench.Pairwise)},
	}
	weighing := []struct {
		name string
		o    gateOptions
	}{
		{"ascending", gateOptions{ascending: true}},
		{"descending", gateOptions{descending: true}},
		{"reciprocal", gateOptions{reciprocal: true}},
		{"factor-first", gateOptions{factorFirst: true}},
		{"factor-first-reciprocal", gateOptions{factorFirst: true, reciprocal: true}},
	}
	for _, s := range sums {
		for _, w := range weighing {
			add("gate-"+w.name+"-"+s.name, "", map[string]bench.Kernel{
				opGate: gateWith(s.sum, w.o), opHash: hashWith(s.sum, hashOptions{gate: w.o}),
			})
		}
		o := gateOptions{higherTies: true}
		add("gate-higher-ties-"+s.name, "fp32", map[string]bench.Kernel{opGate: gateWith(s.sum, o)})
		o = gateOptions{laneTies: true}
		add("gate-lane-ties-"+s.name, "fp32", map[string]bench.Kernel{opGate: gateWith(s.sum, o)})
	}
	for _, order := range []string{"", "-backward"} {
		for name, o := range map[string]combineOptions{
			"factor-last": {}, "factor-on-weights": {factorOnWeights: true}, "factor-on-terms": {factorOnTerms: true},
			"shared-first": {sharedFirst: true},
		} {
			o.backward = order != ""
			if name == "factor-last" && !o.backward {
				continue // the built-in candidate
			}
			add("combine-"+name+order, "", map[string]bench.Kernel{opCombine: combineWith(o)})
		}
	}
	add("combine-float64", "", map[string]bench.Kernel{opCombine: combineWith(combineOptions{exact: true})})
	slices.SortFunc(out, func(a, b bench.Variant) int { return strings.Compare(a.Name, b.Name) })
	return out
}
