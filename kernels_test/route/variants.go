package route

import (
	"math"
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
	for name, sum := range map[string]bench.Summing{
		"sequential": bench.Sequential, "reversed": bench.Reversed, "pairwise": bench.Pairwise, "wide": bench.Wide,
		"lanes-4": bench.Lanes(4, bench.Pairwise), "lanes-32": bench.Lanes(32, bench.Pairwise),
	} {
		for way, options := range map[string][]func(*router){
			"ascending": {ascending}, "descending": {descending}, "reciprocal": {reciprocal}, "factor-first": {factorFirst},
			"factor-first-reciprocal": {factorFirst, reciprocal},
		} {
			options = append(options, routerSum(sum))
			add("gate-"+way+"-"+name, "", map[string]bench.Kernel{
				opGate: bench.With(correctRouter(), options...).run, opHash: correctHasher(options...).run,
			})
		}
		for ties, option := range map[string]func(*router){"higher": higherTies, "lane": laneTies} {
			k := bench.With(correctRouter(), option, routerSum(sum))
			add("gate-"+ties+"-ties-"+name, "fp32", map[string]bench.Kernel{opGate: k.run})
		}
	}
	fast := bench.With(correctRouter(), throughEx2(math.Log2E), ascending, routerSum(bench.Lanes(32, bench.Pairwise)))
	add("gate-fast-exp-lanes-32", fastExp, map[string]bench.Kernel{opGate: fast.run})
	for name, options := range map[string][]func(*combiner){
		"factor-last-backward": {backward}, "float64": {combineInFloat64},
		"factor-on-weights": {factorOnWeights}, "factor-on-weights-backward": {factorOnWeights, backward},
		"factor-on-terms": {factorOnTerms}, "factor-on-terms-backward": {factorOnTerms, backward},
		"shared-first": {sharedFirst}, "shared-first-backward": {sharedFirst, backward},
	} {
		add("combine-"+name, "", map[string]bench.Kernel{opCombine: bench.With(correctCombiner(), options...).run})
	}
	slices.SortFunc(out, func(a, b bench.Variant) int { return strings.Compare(a.Name, b.Name) })
	return out
}
