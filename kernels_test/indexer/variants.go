package indexer

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// styleOf follows a contract to the letter.
func styleOf(contract string) (fp8, other style) {
	st := style{dot: dotSequential, heads: bench.Sequential}
	switch contract {
	case "fp32-bitwise":
		st.dot = dotFour
	case "hopper-fp8":
		fp8, other = st, st
		fp8.dot, other.dot = dotNative(numerics.HopperFP8(0)), dotNative(numerics.HopperBF16())
		return fp8, other
	case "bf16-dot":
		st.keyBF16, st.dotBF16 = true, true
	case "v4-reference":
		st.keyBF16, st.dotBF16, st.termBF16, st.sumBF16 = true, true, true, true
	}
	return st, st
}

// byFormat picks the style that goes with the operands of a call.
func byFormat(fp8, other bench.Kernel) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		if a.DType("q") == bench.E4M3 {
			return fp8(a)
		}
		return other(a)
	}
}

// logitKernels are both forms of the logits in a style.
func logitKernels(fp8, other style, edits ...edit) map[string]bench.Kernel {
	return map[string]bench.Kernel{
		"indexer_logits":       byFormat(raggedKernel(fp8, edits...), raggedKernel(other, edits...)),
		"indexer_logits_paged": byFormat(pagedKernel(fp8, codec{}, edits...), pagedKernel(other, codec{}, edits...)),
	}
}

// logitVariants are correct implementations of both forms, each under its own contract.
func logitVariants() []bench.Variant {
	var out []bench.Variant
	add := func(name, contract string, fp8, other style) {
		out = append(out, bench.Variant{
			Name:      name,
			Contract:  contract,
			Candidate: bench.FromKernels(name, logitKernels(fp8, other)),
		})
	}
	plain := func(name string, change func(*style)) {
		st := style{dot: dotSequential, heads: bench.Sequential}
		change(&st)
		add("fp32-"+name, "fp32", st, st)
	}
	for _, d := range []struct {
		name string
		dot  dotter
	}{
		{"reversed", dotReversed},
		{"fused", dotFused},
		{"exact", dotExact},
		{"four", dotFour},
		{"lanes-8", dotLanes(8, bench.Sequential)},
		{"lanes-32-pairwise", dotLanes(32, bench.Pairwise)},
		{"lanes-16-reversed", dotLanes(16, bench.Reversed)},
		{"blocks-8", dotBlocks(8, bench.Sequential, bench.Sequential)},
		{"blocks-32-pairwise", dotBlocks(32, bench.Pairwise, bench.Sequential)},
		{"blocks-24-reversed", dotBlocks(24, bench.Reversed, bench.Pairwise)},
		{"pairwise", dotBlocks(128, bench.Pairwise, bench.Sequential)},
	} {
		plain("dot-"+d.name, func(s *style) { s.dot = d.dot })
	}
	for _, h := range []struct {
		name string
		add  bench.Summing
	}{
		{"reversed", bench.Reversed},
		{"pairwise", bench.Pairwise},
		{"exact", bench.Wide},
		{"lanes-4", bench.Lanes(4, bench.Sequential)},
		{"lanes-3", bench.Lanes(3, bench.Sequential)},
	} {
		plain("heads-"+h.name, func(s *style) { s.heads = h.add })
	}
	for _, x := range folds {
		plain("scale-"+x.name, func(s *style) { s.fold = x.fold })
		plain("scale-"+x.name+"-lanes-8-pairwise", func(s *style) {
			s.fold, s.dot, s.heads = x.fold, dotLanes(8, bench.Sequential), bench.Pairwise
		})
	}
	for _, tile := range []int{1, 7, 64} {
		plain(slug("tiles-%d", tile), func(s *style) { s.tile = tile })
		plain(slug("tiles-%d-backwards", tile), func(s *style) { s.tile, s.backwards, s.heads = tile, true, bench.Reversed })
	}
	return append(out, narrowVariants()...)
}

// folds are the places of a key's scale but the default one; in-key does not keep the codes that a tensor core needs.
var folds = []struct {
	name string
	fold fold
}{{"in-key", foldKey}, {"in-term", foldTerm}, {"in-dot", foldDot}, {"halves", foldHalf}}

// narrowVariants follow the other contracts, or are more exact than these.
func narrowVariants() []bench.Variant {
	var out []bench.Variant
	add := func(name, contract string, fp8, other style) {
		out = append(out, bench.Variant{
			Name:      name,
			Contract:  contract,
			Candidate: bench.FromKernels(name, logitKernels(fp8, other)),
		})
	}
	for _, contract := range every[1:] {
		fp8, other := styleOf(contract)
		fp32, _ := styleOf("fp32")
		add(contract+"-more-exact", contract, fp32, fp32)
		for _, x := range folds[1:] {
			a, b := fp8, other
			a.fold, b.fold = x.fold, x.fold
			add(contract+"-scale-"+x.name, contract, a, b)
		}
		a, b := fp8, other
		a.heads, b.heads, a.tile, b.tile = bench.Pairwise, bench.Pairwise, 5, 5
		add(contract+"-heads-pairwise", contract, a, b)
		if contract == "hopper-fp8" {
			continue
		}
		for _, x := range []struct {
			name string
			dot  dotter
		}{
			{"fused", dotFused},
			{"native", dotNative(numerics.HopperBF16())},
			{"lanes-8", dotLanes(8, bench.Sequential)},
			{"exact", dotExact},
		} {
			st := fp8
			st.dot = x.dot
			add(contract+"-dot-"+x.name, contract, st, st)
		}
		st := fp8
		st.keyBF16 = false
		add(contract+"-keys-unrounded", contract, st, st)
		st = fp8
		st.termBF16 = false
		add(contract+"-terms-unrounded", contract, st, st)
		st = fp8
		st.dotBF16 = false
		add(contract+"-dots-unrounded", contract, st, st)
	}
	for _, promote := range []int{32, 128} {
		fp8, other := styleOf("hopper-fp8")
		fp8.dot = dotNative(numerics.HopperFP8(promote))
		add(slug("hopper-fp8-promote-%d", promote), "hopper-fp8", fp8, other)
	}
	return out
}
