package norm

import (
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// orders are the sums that a correct kernel may take.
var orders = []struct {
	name string
	sum  bench.Summing
}{
	{"reversed", bench.Reversed},
	{"pairwise", bench.Pairwise},
	{"lanes-4", bench.Lanes(4, bench.Pairwise)},
	{"lanes-8", bench.Lanes(8, bench.Pairwise)},
	{"lanes-32", bench.Lanes(32, bench.Pairwise)},
	{"lanes-64", bench.Lanes(64, bench.Pairwise)},
	{"lanes-128", bench.Lanes(128, bench.Pairwise)},
	{"blocks-16", bench.Blocks(16, bench.Sequential)},
	{"blocks-128", bench.Blocks(128, bench.Sequential)},
	{"wide", bench.Wide},
}

// variants are correct in other orders of sums and of products, and in other ways to an angle.
func variants() []bench.Variant {
	var out []bench.Variant
	add := func(name, contract string, kernels map[string]bench.Kernel) {
		out = append(out, bench.Variant{Name: name, Contract: contract, Candidate: bench.FromKernels(name, kernels)})
	}
	addRMS := func(name, contract string, options ...func(*rms)) {
		add(name, contract, map[string]bench.Kernel{opRMS: bench.With(correctRMS(), options...).run})
	}
	for i, o := range orders {
		add(o.name, "", map[string]bench.Kernel{
			opRMS: bench.With(correctRMS(), rmsSum(o.sum)).run, opLayer: bench.With(correctLayer(), layerSum(o.sum)).run,
		})
		addRMS("steps-"+o.name, "bf16-steps", inBF16Steps, rmsSum(o.sum))
		if i < 4 {
			addRMS("weight-first-"+o.name, "", weightFirst, rmsSum(o.sum))
			addRMS("divided-"+o.name, "", divided, rmsSum(o.sum))
			addRMS("rounded-sum-"+o.name, "", roundedSum, rmsSum(o.sum))
		}
	}
	addRMS("steps-rounded-sum", "bf16-steps", inBF16Steps, roundedSum)
	add("exact-moments", "", map[string]bench.Kernel{
		opRMS: bench.With(correctRMS(), exactMoment).run, opLayer: bench.With(correctLayer(), exactMoments).run,
	})
	add("welford", "", map[string]bench.Kernel{opLayer: bench.With(correctLayer(), welford).run})
	for name, options := range map[string][]func(*rotation){
		"fma": {fused}, "quotient": {quotient}, "exact": {exactRotation}, "quotient-fma": {quotient, fused},
	} {
		k := map[string]bench.Kernel{opRope: bench.With(correctRotation(), options...).run}
		for _, contract := range []string{"float64-angle", "fp32-table", "bf16-out"} {
			add("rope-"+name+"-"+contract, contract, k)
		}
	}
	for name, option := range map[string]func(*table){
		"quotient": tableQuotient, "difference": byDifference, "float64": inFloat64,
	} {
		for _, contract := range []string{"float64-angle", "fp32-table"} {
			add("table-"+name+"-"+contract, contract, map[string]bench.Kernel{opTable: bench.With(correctTable(), option).run})
		}
	}
	slices.SortFunc(out, func(a, b bench.Variant) int { return strings.Compare(a.Name, b.Name) })
	return out
}
