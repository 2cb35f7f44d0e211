package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

// plainStore follows a contract to the letter.
func plainStore(contract string) storeStyle {
	return storeStyle{sum: bench.Sequential, steps: contract == "bf16-steps"}
}

// storeVariants are correct ways to store keys.
func storeVariants() []bench.Variant {
	var out []bench.Variant
	for _, contract := range []string{"fp32", "bf16-steps"} {
		for _, v := range []struct {
			name   string
			change func(*storeStyle)
		}{
			{"sums-reversed", func(s *storeStyle) { s.sum = bench.Reversed }},
			{"sums-pairwise", func(s *storeStyle) { s.sum = bench.Pairwise }},
			{"sums-lanes-32", func(s *storeStyle) { s.sum = bench.Lanes(32, bench.Sequential) }},
			{"sums-exact", func(s *storeStyle) { s.sum = bench.Wide }},
			{"matrix", func(s *storeStyle) { s.direct = true }},
			{"matrix-lanes-8", func(s *storeStyle) { s.direct, s.sum = true, bench.Lanes(8, bench.Sequential) }},
			{"factor-first", func(s *storeStyle) { s.normFirst = true }},
			{"reciprocals", func(s *storeStyle) { s.reciprocal = true }},
			{"weight-folded", func(s *storeStyle) { s.foldWeight = true }},
			{"steps-unrounded", func(s *storeStyle) { s.steps = false }},
			{"all", func(s *storeStyle) {
				s.sum, s.direct, s.normFirst, s.reciprocal, s.foldWeight = bench.Pairwise, true, true, true, true
			}},
		} {
			st := plainStore(contract)
			v.change(&st)
			name := slug("store-%s-%s", contract, v.name)
			out = append(out, bench.Variant{
				Name:      name,
				Contract:  contract,
				Candidate: bench.FromKernel(name, "index_key_store", storeKernel(st)),
			})
		}
	}
	return out
}
