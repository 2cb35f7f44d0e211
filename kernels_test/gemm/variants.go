package gemm

import (
	"cmp"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// variants are correct kernels: every order of a sum, every place where multipliers may enter, splits, and more exact
// arithmetic.
func variants() []bench.Variant {
	var out []bench.Variant
	scaled := func(name, contract string, s style) {
		ks := map[string]bench.Kernel{}
		for _, op := range scaledOps {
			ks[op] = kernel(op, s, quirks{})
		}
		out = append(out, bench.Variant{Name: "scaled-" + name, Contract: contract, Candidate: bench.FromKernels(name, ks)})
	}
	plain := func(name, contract string, s style) {
		ks := map[string]bench.Kernel{}
		for _, op := range denseOps {
			ks[op] = kernel(op, s, quirks{})
		}
		out = append(out, bench.Variant{Name: "dense-" + name, Contract: contract, Candidate: bench.FromKernels(name, ks)})
	}
	orders := []struct {
		name string
		sum  summing
	}{
		{"sequential", sequential},
		{"backwards", backwards},
		{"fused", fused},
		{"pairwise", pairwise},
		{"lanes-2", lanes(2)},
		{"lanes-4", lanes(4)},
		{"lanes-8", lanes(8)},
		{"lanes-32", lanes(32)},
		{"blocks-16", blocks(16)},
		{"blocks-64", blocks(64)},
	}
	for i, o := range orders {
		for j, where := range []string{pairFirst, oneByOne, dequantise} {
			if i < 6 || (i+j)%3 == 0 { // every order with some place, the first orders with every place
				scaled(o.name+"-"+where, "fp32", style{sum: o.sum, scales: where})
			}
		}
		for _, contract := range []string{"fp32", "bf16", "fp8"} {
			plain(o.name+"-"+contract, contract, style{sum: o.sum})
		}
		plain(o.name+"-tf32", "tf32-rn", style{sum: o.sum, read: tf32})
		plain(o.name+"-tf32x3", "tf32x3", style{sum: o.sum, three: halves(tf32)})
	}
	for _, splits := range []int{2, 3, 5, 8} {
		scaled(slug("split-%d", splits), "fp32", style{sum: lanes(4), scales: oneByOne, splits: splits})
		plain(slug("split-%d", splits), "fp32", style{sum: sequential, run: 16, splits: splits})
	}
	for _, run := range []int{8, 16} {
		scaled(slug("runs-of-%d", run), "fp32", style{sum: sequential, scales: pairFirst, run: run})
	}
	scaled("alpha-with-scales", "fp32", style{sum: sequential, scales: oneByOne, alpha1: true})
	scaled("exact", "", style{exact: true})
	for _, contract := range []string{"fp32", "bf16", "fp8", "tf32-rn", "tf32x3", "fp8-hopper", "bf16-hopper"} {
		plain("exact-"+contract, contract, style{exact: true}) // more exact than declared is no fault
	}
	for _, contract := range []string{"tf32x3", "fp8-hopper", "bf16-hopper"} {
		plain("fp32-as-"+contract, contract, style{sum: lanes(8)})
		plain("fp32-sequential-as-"+contract, contract, style{sum: sequential})
	}
	hopper := numerics.HopperFP8(0)
	for _, where := range []string{pairFirst, oneByOne} {
		for _, run := range []int{32, 64, 128} { // promotion more often than promised is allowed
			scaled(slug("hopper-%d-%s", run, where), "fp8-hopper", style{tensor: &hopper, scales: where, run: run})
		}
		scaled("fp32-as-hopper-"+where, "fp8-hopper", style{sum: lanes(8), scales: where})
	}
	scaled("hopper-split", "fp8-hopper", style{tensor: &hopper, scales: pairFirst, run: 128, splits: 2})
	plain("hopper-64", "fp8-hopper", style{tensor: &hopper, run: 64})
	plain("fp32-as-hopper", "fp8-hopper", style{sum: pairwise})
	tf, half := numerics.HopperTF32(), numerics.HopperBF16()
	plain("tf32-splits", "tf32-rn", style{tensor: &tf, read: tf32, run: 64, splits: 3})
	plain("bf16-splits", "bf16-hopper", style{tensor: &half, run: 128, splits: 2})
	return append(out, quantVariants()...)
}

// quantVariants come by the same bytes in other ways.
func quantVariants() []bench.Variant {
	frexp, search := correctQuant(), correctQuant()
	frexp.exponent = ceilFrexp
	search.element = searchE4M3
	both := frexp
	both.element = searchE4M3
	var out []bench.Variant
	for name, s := range map[string]quantStyle{"quantise-frexp": frexp, "quantise-search": search, "quantise-both": both} {
		out = append(out, bench.Variant{
			Name:      name,
			Candidate: bench.FromKernels(name, map[string]bench.Kernel{opQuantFP8: quantFP8(s), opQuantNV: quantNV(s)}),
		})
	}
	slices.SortFunc(out, func(a, b bench.Variant) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
