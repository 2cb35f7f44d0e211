package norm

import (
	"slices"

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
	{"blocks-16", blocks(16)},
	{"blocks-128", blocks(128)},
	{"wide", bench.Wide},
}

func variants() []bench.Variant {
	var out []bench.Variant
	add := func(name, contract string, kernels map[string]bench.Kernel) {
		out = append(out, bench.Variant{Name: name, Contract: contract, Candidate: bench.FromKernels(name, kernels)})
	}
	for _, o := range orders {
		add(o.name, "", map[string]bench.Kernel{
			opRMS: rmsNormWith(o.sum, rmsOptions{}), opLayer: layerNormWith(o.sum, layerOptions{}),
		})
		add("steps-"+o.name, "bf16-steps", map[string]bench.Kernel{opRMS: rmsNormWith(o.sum, rmsOptions{steps: true})})
	}
	for _, o := range orders[:4] {
		add("weight-first-"+o.name, "", map[string]bench.Kernel{opRMS: rmsNormWith(o.sum, rmsOptions{weightFirst: true})})
		add("divided-"+o.name, "", map[string]bench.Kernel{opRMS: rmsNormWith(o.sum, rmsOptions{divide: true})})
		add("rounded-sum-"+o.name, "", map[string]bench.Kernel{opRMS: rmsNormWith(o.sum, rmsOptions{roundSum: true})})
	}
	add("steps-rounded-sum", "bf16-steps", map[string]bench.Kernel{
		opRMS: rmsNormWith(bench.Sequential, rmsOptions{steps: true, roundSum: true}),
	})
	add("exact-moments", "", map[string]bench.Kernel{
		opRMS:   rmsNormWith(bench.Sequential, rmsOptions{exact: true}),
		opLayer: layerNormWith(bench.Sequential, layerOptions{exact: true}),
	})
	add("welford", "", map[string]bench.Kernel{opLayer: layerNormWith(bench.Sequential, layerOptions{welford: true})})
	for _, contract := range []string{"float64-angle", "fp32-table", "bf16-out"} {
		for name, o := range map[string]ropeOptions{
			"fma":          {fma: true},
			"quotient":     {quotient: true},
			"exact":        {exact: true},
			"quotient-fma": {quotient: true, fma: true},
		} {
			add("rope-"+name+"-"+contract, contract, map[string]bench.Kernel{opRope: ropeWith(o)})
		}
	}
	for _, contract := range []string{"float64-angle", "fp32-table"} {
		for name, o := range map[string]tableOptions{
			"quotient":   {quotient: true},
			"difference": {blendByDifference: true},
			"float64":    {exact: true},
		} {
			add("table-"+name+"-"+contract, contract, map[string]bench.Kernel{opTable: tableWith(o)})
		}
	}
	slices.SortFunc(out, func(a, b bench.Variant) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return out
}
