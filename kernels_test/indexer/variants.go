package indexer

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// logitVariant is a correct kernel of both forms.
func logitVariant(name, contract string, changes ...change) bench.Variant {
	return bench.Variant{Name: name, Contract: contract, Candidate: bench.FromKernels(name, correct(changes...).kernels())}
}

func summing(heads bench.Summing) change { return func(k *kernel) { k.heads = heads } }

// tiled scores keys tile by tile, with backwards the last tile first.
func tiled(size int, backwards bool) change {
	return func(k *kernel) {
		k.walk = func(lo, hi int) []int {
			out := make([]int, 0, max(hi-lo, 0))
			tiles := (hi - lo + size - 1) / size
			for i := range tiles {
				if backwards {
					i = tiles - 1 - i
				}
				out = append(out, bench.Span(lo+i*size, min(lo+(i+1)*size, hi))...)
			}
			return out
		}
	}
}

// folds are the places of a key's scale but the default one; in-key does not keep the codes that a tensor core needs.
var folds = []struct {
	name string
	fold change
}{
	{"in-key", scaledKeys(same)},
	{"in-term", func(k *kernel) { k.onTerm = scaled }},
	{"in-dot", func(k *kernel) { k.onDot = scaled }},
	{"halves", func(k *kernel) { // after the sums of two halves of the heads, which are added then: DeepGEMM's lanes
		k.total = func(k kernel, l *launch, terms []float32, s float32) float32 {
			n := len(terms) / 2
			return float32(l.whole(k.heads(terms[:n]))*s) + float32(k.heads(terms[n:])*s)
		}
	}},
}

// logitVariants are correct implementations of both forms, each under its own contract.
func logitVariants() []bench.Variant {
	var out []bench.Variant
	plain := func(name string, changes ...change) {
		out = append(out, logitVariant("fp32-"+name, "fp32", changes...))
	}
	lanes8 := bench.DotLanes[float32](8, bench.Sequential)
	for _, d := range []struct {
		name string
		dot  bench.Dot[float32]
	}{
		{"reversed", bench.DotReversed[float32]},
		{"fused", bench.DotFused[float32]},
		{"exact", bench.DotWide[float32]},
		{"four", dotFour},
		{"lanes-8", lanes8},
		{"lanes-32-pairwise", bench.DotLanes[float32](32, bench.Pairwise)},
		{"lanes-16-reversed", bench.DotLanes[float32](16, bench.Reversed)},
		{"blocks-8", dotBlocks(8, bench.Sequential, bench.Sequential)},
		{"blocks-32-pairwise", dotBlocks(32, bench.Pairwise, bench.Sequential)},
		{"blocks-24-reversed", dotBlocks(24, bench.Reversed, bench.Pairwise)},
		{"pairwise", bench.DotPairwise[float32]},
	} {
		plain("dot-"+d.name, dots(d.dot))
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
		plain("heads-"+h.name, summing(h.add))
	}
	for _, x := range folds {
		plain("scale-"+x.name, x.fold)
		plain("scale-"+x.name+"-lanes-8-pairwise", x.fold, dots(lanes8), summing(bench.Pairwise))
	}
	for _, size := range []int{1, 7, 64} {
		plain(slug("tiles-%d", size), tiled(size, false))
		plain(slug("tiles-%d-backwards", size), tiled(size, true), summing(bench.Reversed))
	}
	return append(out, narrowVariants()...)
}

// narrowVariants follow the other contracts, or are more exact than these.
func narrowVariants() []bench.Variant {
	var out []bench.Variant
	for _, contract := range every[1:] {
		add := func(name string, changes ...change) {
			out = append(out, logitVariant(contract+"-"+name, contract, changes...))
		}
		letter := following(contract)
		add("more-exact")
		for _, x := range folds[1:] {
			add("scale-"+x.name, letter, x.fold)
		}
		add("heads-pairwise", letter, summing(bench.Pairwise), tiled(5, false))
		if contract == "hopper-fp8" {
			continue
		}
		add("dot-fused", letter, dots(bench.DotFused[float32]))
		add("dot-native", letter, dots(bench.DotUnder[float32](numerics.HopperBF16())))
		add("dot-lanes-8", letter, dots(bench.DotLanes[float32](8, bench.Sequential)))
		add("dot-exact", letter, dots(bench.DotWide[float32]))
		add("keys-unrounded", letter, func(k *kernel) { k.key = correct().key })
		add("terms-unrounded", letter, func(k *kernel) { k.roundTerm = same })
		add("dots-unrounded", letter, func(k *kernel) { k.roundDot = same })
	}
	for _, promote := range []int{32, 128} {
		out = append(out, logitVariant(slug("hopper-fp8-promote-%d", promote), "hopper-fp8", following("hopper-fp8"),
			func(k *kernel) { k.dotFP8 = bench.DotUnder[float32](numerics.HopperFP8(promote)) }))
	}
	return out
}
