package sparse

import "github.com/assay-suite/assay/kernels_test/bench"

// variants are correct kernels. Those of sparse_attention declare a contract each, which keeps all but one away from
// the launch of production size; weights that are not rounded to bf16 are within every contract.
func variants() []bench.Variant {
	styles := map[string]attentionOptions{
		"lanes-8": {lanes: 8}, "lanes-32": {lanes: 32, tile: 16}, "tile-1": {tile: 1}, "tile-16": {tile: 16},
		"tile-64-exp2": {tile: 64, exp2: true},
		"two-pass":     {}, "reverse": {reverse: true, tile: 16}, "extra-first": {extraFirst: true, tile: 32, exp2: true},
		"masked-out": {
			noMasked: true,
			tile:     16,
		},
		"splits-2": {splits: 2, tile: 8}, "splits-100": {splits: 100}, "fused": {fused: true, tile: 16}, "float64-splits-3": {
			wide:   true,
			splits: 3,
			exp2:   true,
		},
		"rounded-weights": {roundP: true, tile: 16}, "rounded-splits-4": {roundP: true, splits: 4, reverse: true, exp2: true},
	}
	var out []bench.Variant
	for name, o := range styles {
		for _, contract := range sampled() {
			if o.roundP && contract == fp32 {
				continue
			}
			out = append(out, bench.Variant{
				Name:      name + "-" + contract,
				Contract:  contract,
				Candidate: bench.FromKernel(name, opAttention, o.kernel),
			})
		}
	}
	tiled := attentionOptions{tile: 64, exp2: true, splits: 3}
	out = append(out, bench.Variant{
		Name:      "tile-64-" + production,
		Contract:  production,
		Candidate: bench.FromKernel("tile-64", opAttention, tiled.kernel),
	})
	for name, o := range map[string]mergeOptions{
		"merge-stepwise": {stepwise: true}, "merge-reverse": {reverse: true}, "merge-base-2": {inBase2: true},
		"merge-base-2-stepwise": {
			inBase2:  true,
			stepwise: true,
		},
		"merge-float64": {wide: true}, "merge-fused": {fused: true}, "merge-divided-late": {late: true},
		"merge-late-reverse-base-2": {
			late:    true,
			reverse: true,
			inBase2: true,
		},
	} {
		out = append(out, bench.Variant{
			Name:      name,
			Candidate: bench.FromKernels(name, map[string]bench.Kernel{opMergeState: o.state, opMergeStates: o.states}),
		})
	}
	out = append(out, bench.Variant{
		Name:      "lists-backwards",
		Candidate: bench.FromKernel("lists-backwards", opExtendRows, extendKernel(extendFaults{}, true)),
	})
	return out
}
