package gemm

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// places are where multipliers may enter.
var places = []struct {
	name string
	put  change
}{
	{"pair", func(*kernel) {}}, // part · (sx · sw)
	{"each", func(k *kernel) {
		k.scaled = func(part, sx, sw float32) float32 { return float32(part*sx) * sw }
	}},
	{"first", func(k *kernel) { // (x · sx) · (w · sw), then the sum
		k.take = func(p product) product {
			p.x, p.w = p.x.dequantised(), p.w.dequantised()
			return p
		}
	}},
}

// dequantised has the multipliers in its elements.
func (m matrix) dequantised() matrix {
	code, scale := make([]float32, len(m.code)), make([]float32, len(m.scale))
	for i, v := range m.code {
		code[i] = v * m.scaleAt(i/m.k, i%m.k)
	}
	for i := range scale {
		scale[i] = 1
	}
	m.code, m.scale = code, scale
	return m
}

// alphaWithScales multiplies by the global factor where x's multipliers enter.
func alphaWithScales(k *kernel) {
	k.take = func(p product) product {
		p.x.scale, p.alpha = each(p.x.scale, func(v float32) float32 { return v * p.alpha }), 1
		return p
	}
}

func summing(dot bench.Dot[float32]) change { return func(k *kernel) { k.part = summed(dot) } }

func cored(acc numerics.Accumulator) change { return func(k *kernel) { k.part = onTensorCore(acc) } }

// runs limits a partial sum to some products, pieces splits K.
func runs(of int) change { return func(k *kernel) { k.run = of } }

func pieces(n int) change { return func(k *kernel) { k.splits = n } }

func reading(f func(float32) float32) change { return func(k *kernel) { k.read = f } }

func inFloat64(k *kernel) { k.whole = wholeInFloat64 }

// variants are correct kernels: every order of a sum, every place where multipliers may enter, splits, and more exact
// arithmetic.
func variants() []bench.Variant {
	var out []bench.Variant
	add := func(ops []string, name, contract string, changes []change) {
		k := bench.FromKernels(name, correct(changes...).kernels(ops...))
		out = append(out, bench.Variant{Name: name, Contract: contract, Candidate: k})
	}
	scaled := func(name, contract string, c ...change) { add(scaledOps, "scaled-"+name, contract, c) }
	plain := func(name, contract string, c ...change) { add(denseOps, "dense-"+name, contract, c) }
	sequential, pairwise, lanes8 := bench.DotSequential[float32], bench.DotPairwise[float32], lanes(8)
	pair, apart := places[0].put, places[1].put
	for i, o := range []struct {
		name string
		dot  bench.Dot[float32]
	}{
		{"sequential", sequential},
		{"backwards", bench.DotReversed[float32]},
		{"fused", bench.DotFused[float32]},
		{"pairwise", pairwise},
		{"lanes-2", lanes(2)},
		{"lanes-4", lanes(4)},
		{"lanes-8", lanes8},
		{"lanes-32", lanes(32)},
		{"blocks-16", bench.DotBlocks(16, sequential)},
		{"blocks-64", bench.DotBlocks(64, sequential)},
	} {
		for j, p := range places {
			if i < 6 || (i+j)%3 == 0 { // every order with some place, the first orders with every place
				scaled(o.name+"-"+p.name, "fp32", summing(o.dot), p.put)
			}
		}
		for _, contract := range []string{"fp32", "bf16", "fp8"} {
			plain(o.name+"-"+contract, contract, summing(o.dot))
		}
		plain(o.name+"-tf32", "tf32-rn", summing(o.dot), reading(tf32))
		if i < 3 {
			plain(o.name+"-tf32-rz", "tf32-rz", summing(o.dot), reading(cutTo(10)))
		}
		plain(o.name+"-tf32x3", "tf32x3", func(k *kernel) { k.part = threeTF32(tf32, o.dot) })
	}
	for _, n := range []int{2, 3, 5, 8} {
		scaled(slug("split-%d", n), "fp32", summing(lanes(4)), apart, pieces(n))
		plain(slug("split-%d", n), "fp32", runs(16), pieces(n))
	}
	for _, n := range []int{8, 16} {
		scaled(slug("runs-of-%d", n), "fp32", runs(n))
	}
	scaled("alpha-with-scales", "fp32", apart, alphaWithScales)
	scaled("exact", "", inFloat64)
	for _, contract := range []string{"fp32", "bf16", "fp8", "tf32-rn", "tf32-rz", "tf32x3", "fp8-hopper", "bf16-hopper"} {
		plain("exact-"+contract, contract, inFloat64) // more exact than declared is no fault
	}
	for _, contract := range []string{"tf32x3", "fp8-hopper", "bf16-hopper"} {
		plain("fp32-as-"+contract, contract, summing(lanes8))
		plain("fp32-sequential-as-"+contract, contract)
	}
	hopper := cored(numerics.HopperFP8(0))
	for _, p := range places[:2] {
		for _, n := range []int{32, 64, 128} { // promotion more often than promised is allowed
			scaled(slug("hopper-%d-%s", n, p.name), "fp8-hopper", hopper, p.put, runs(n))
		}
		scaled("fp32-as-hopper-"+p.name, "fp8-hopper", summing(lanes8), p.put)
	}
	scaled("hopper-split", "fp8-hopper", hopper, pair, runs(128), pieces(2))
	plain("hopper-64", "fp8-hopper", hopper, runs(64))
	plain("fp32-as-hopper", "fp8-hopper", summing(pairwise))
	plain("tf32-splits", "tf32-rn", cored(numerics.HopperTF32()), reading(tf32), runs(64), pieces(3))
	plain("tf32-rz-splits", "tf32-rz", cored(numerics.HopperTF32()), reading(cutTo(10)), runs(64), pieces(3))
	plain("bf16-splits", "bf16-hopper", cored(numerics.HopperBF16()), runs(128), pieces(2))
	return append(out, quantVariants()...)
}

func lanes(n int) bench.Dot[float32] { return bench.DotLanes[float32](n, bench.Tree) }

// quantVariants come by the same bytes in other ways.
func quantVariants() []bench.Variant {
	frexp := func(q *quantiser) { q.exponent = ceilFrexp }
	search := func(q *quantiser) { q.element = searchE4M3 }
	variant := func(name string, changes ...func(q *quantiser)) bench.Variant {
		return bench.Variant{Name: name, Candidate: bench.FromKernels(name, correctQuantiser(changes...).kernels())}
	}
	under := func(contract string, v bench.Variant) bench.Variant {
		v.Contract = contract
		return v
	}
	product := func(q *quantiser) { q.quotient = func(v, by float32) float32 { return v * (1 / by) } }
	return []bench.Variant{
		under("two-roundings", variant("quantise-product", product)),
		under("two-roundings", variant("quantise-both-products", byReciprocals, search)),
		under("ue8m0-log2", variant("quantise-log2", func(q *quantiser) { q.exponent = ceilLog2 })),
		under("ue8m0-log2", variant("quantise-product-as-log2", byReciprocals)),
		variant("quantise-both", frexp, search),
		variant("quantise-frexp", frexp),
		variant("quantise-search", search),
	}
}
