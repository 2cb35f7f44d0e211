package dense

import "github.com/assay-suite/assay/kernels_test/bench"

// variants are correct kernels: other orders, lanes, tiles and splits, base-2 exponentials, scales folded elsewhere,
// more exact arithmetic. Those that round their weights are correct under the contracts that say so.
func variants() []bench.Variant {
	var out []bench.Variant
	add := func(name string, st style, contracts ...string) {
		if contracts == nil {
			contracts = []string{""}
		}
		for _, c := range contracts {
			label := name
			if c != "" {
				label = name + "-" + c
			}
			out = append(out, bench.Variant{
				Name:     label,
				Contract: c,
				Candidate: bench.FromKernels(label, map[string]bench.Kernel{
					"gqa_attention": attention[float32](st), "mla_attention": latent[float32](st),
				}),
			})
		}
	}
	for _, n := range []int{4, 16, 128} {
		add(slug("lanes-%d", n), style{lanes: n})
	}
	for _, n := range []int{1, 5, 16, 64} {
		add(slug("online-tile-%d", n), style{tile: n, lanes: 8})
	}
	for _, n := range []int{1, 2, 3, 5, 8, 17} {
		add(slug("splits-%d", n), style{splits: n, lanes: 4})
	}
	add("exp2", style{exp2: true})
	add("exp2-tile-16-splits-2", style{exp2: true, tile: 16, splits: 2, lanes: 16})
	add("exp2-tile-3", style{exp2: true, tile: 3})
	add("last-key-first", style{reverse: true})
	add("last-key-first-tile-8", style{reverse: true, tile: 8, lanes: 2})
	add("last-key-first-splits-4-exp2", style{reverse: true, splits: 4, exp2: true})
	add("scaled-queries", style{prescale: true})
	add("scaled-queries-exp2", style{prescale: true, exp2: true, lanes: 32})
	add("scaled-queries-tile-4", style{prescale: true, tile: 4})
	add("scaled-values", style{foldV: 1})
	add("scaled-values-tile-7", style{foldV: 1, tile: 7, splits: 2})
	add("scaled-weights", style{foldV: 2})
	add("scaled-weights-splits-2", style{foldV: 2, splits: 2, exp2: true})
	add("multiplied-by-reciprocal", style{normalise: true})
	add("two-pass", style{splits: 1, normalise: true, lanes: 64})
	rounded := []string{"bf16-p-bf16", "fp8-kv"}
	add("weights-bf16", style{pBF16: true, lanes: 16}, rounded...)
	add("weights-bf16-lanes-128", style{pBF16: true, lanes: 128, exp2: true}, rounded...)
	add("weights-bf16-tile-16", style{pBF16: true, tile: 16, exp2: true}, rounded...)
	add("weights-bf16-tile-4-last-first", style{pBF16: true, tile: 4, reverse: true}, rounded...)
	add("weights-bf16-splits-5", style{pBF16: true, splits: 5, prescale: true}, rounded...)
	add("weights-bf16-scaled-values", style{pBF16: true, foldV: 1}, rounded...)
	wide := map[string]bench.Kernel{
		"gqa_attention": attention[float64](style{}), "mla_attention": latent[float64](style{}),
	}
	return append(out,
		bench.Variant{Name: "float64", Candidate: bench.FromKernels("float64", wide)},
		bench.Variant{
			Name:      "write-last-first",
			Candidate: bench.FromKernel("write-last-first", "kv_write", write(writing{reverse: true})),
		},
		bench.Variant{
			Name:      "write-by-reciprocal",
			Candidate: bench.FromKernel("write-by-reciprocal", "kv_write", write(writing{reciprocal: true})),
		},
		bench.Variant{
			Name:      "rows-last-first",
			Candidate: bench.FromKernel("rows-last-first", "mla_kv_write", writeRows(rowing{reverse: true})),
		},
		bench.Variant{
			Name:      "rows-by-reciprocal",
			Candidate: bench.FromKernel("rows-by-reciprocal", "mla_kv_write", writeRows(rowing{reciprocal: true})),
		},
		bench.Variant{
			Name:      "table-by-walk",
			Candidate: bench.FromKernel("table-by-walk", "page_table", buildTable(tabling{walk: true})),
		},
		bench.Variant{
			Name:      "mask-last-first",
			Candidate: bench.FromKernel("mask-last-first", "window_mask", masking(visible, true)),
		},
	)
}
