package sparse

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
)

// option makes a correct kernel another correct one.
type option func(k *kernel[float32])

func lanes(n int) option {
	return func(k *kernel[float32]) { k.Dot = bench.DotLanes[float64](n, bench.Sequential) }
}

func tile(n int) option { return func(k *kernel[float32]) { k.Tile = n } }

func splits(n int) option { return func(k *kernel[float32]) { k.splits = n } }

func rounded16(k *kernel[float32]) { k.Weight = softmax.RoundedWeights }

func fused(k *kernel[float32]) {
	k.Add = func(acc []float32, p float32, v []float64) {
		for c, x := range v {
			acc[c] = float32(math.FMA(float64(p), x, float64(acc[c])))
		}
	}
}

// ordered edits the entries of every query.
func ordered(edit func(rows [][]float64) [][]float64) option {
	return func(k *kernel[float32]) {
		rows := k.rows
		k.rows = func(g gathered, t int) [][]float64 { return edit(rows(g, t)) }
	}
}

func reversed(rows [][]float64) [][]float64 {
	slices.Reverse(rows)
	return rows
}

func extraFirst(k *kernel[float32]) {
	k.rows = func(g gathered, t int) [][]float64 {
		g.lists, g.caches = slices.Clone(g.lists), slices.Clone(g.caches)
		slices.Reverse(g.lists)
		slices.Reverse(g.caches)
		return listedRows(g, t)
	}
}

// packed takes lanes without row out before tiles are cut.
func packed(rows [][]float64) [][]float64 {
	return slices.DeleteFunc(rows, func(row []float64) bool { return row == nil })
}

// fp32Kernel is a correct kernel to a base with options.
func fp32Kernel(b base[float32], options ...option) kernel[float32] {
	k := inBaseOf(softmax.FP32(), b)
	for _, o := range options {
		o(&k)
	}
	return k
}

// variants are correct kernels. Those of sparse_attention declare a contract each, which keeps all but one away from
// the launch of production size; weights that are not rounded to bf16 are within every contract.
func variants() []bench.Variant {
	e, two := naturalBase[float32](), baseTwo[float32]()
	exact := inBaseOf(softmax.FP64(), baseTwo[float64]())
	exact.splits = 3
	var out []bench.Variant
	add := func(name string, k bench.Kernel, contracts ...string) {
		for _, contract := range contracts {
			out = append(out, bench.Variant{
				Name: name + "-" + contract, Contract: contract, Candidate: bench.FromKernel(name, opAttention, k),
			})
		}
	}
	for name, k := range map[string]kernel[float32]{
		"lanes-8":      fp32Kernel(e, lanes(8)),
		"lanes-32":     fp32Kernel(e, lanes(32), tile(16)),
		"tile-1":       fp32Kernel(e, tile(1)),
		"tile-16":      fp32Kernel(e, tile(16)),
		"tile-64-exp2": fp32Kernel(two, tile(64)),
		"two-pass":     fp32Kernel(e),
		"reverse":      fp32Kernel(e, ordered(reversed), tile(16)),
		"extra-first":  fp32Kernel(two, extraFirst, tile(32)),
		"masked-out":   fp32Kernel(e, ordered(packed), tile(16)),
		"splits-2":     fp32Kernel(e, splits(2), tile(8)),
		"splits-100":   fp32Kernel(e, splits(100)),
		"fused":        fp32Kernel(e, fused, tile(16)),
	} {
		add(name, k.run, sampled()...)
	}
	add("float64-splits-3", exact.run, sampled()...)
	bf16 := slices.DeleteFunc(sampled(), func(contract string) bool { return contract == fp32 })
	add("rounded-weights", fp32Kernel(e, rounded16, tile(16)).run, bf16...)
	add("rounded-splits-4", fp32Kernel(two, rounded16, splits(4), ordered(reversed)).run, bf16...)
	add("tile-64", fp32Kernel(two, tile(64), splits(3)).run, production)
	return append(out, otherVariants()...)
}

// otherVariants are correct merges and builders of lists.
func otherVariants() []bench.Variant {
	stepwise := func(m *merger[float32]) { m.all = merger[float32].stepwise }
	reverse := func(m *merger[float32]) {
		m.order = func(lse []float32, outs [][]float64) {
			slices.Reverse(lse)
			slices.Reverse(outs)
		}
	}
	late := func(m *merger[float32]) {
		m.share = func(w, _ float32, _ int) float32 { return w }
		m.divide = func(acc, denominator float32) float32 { return acc / denominator }
	}
	fma := func(m *merger[float32]) {
		m.add = func(acc, share, v float32) float32 {
			return float32(math.FMA(float64(share), float64(v), float64(acc)))
		}
	}
	e, two := naturalBase[float32](), baseTwo[float32]()
	var out []bench.Variant
	add := func(name string, b base[float32], options ...func(m *merger[float32])) {
		m := merging(b)
		for _, o := range options {
			o(&m)
		}
		out = append(out, bench.Variant{Name: name, Candidate: m.candidate(name)})
	}
	add("merge-stepwise", e, stepwise)
	add("merge-reverse", e, reverse)
	add("merge-base-2", two)
	add("merge-base-2-stepwise", two, stepwise)
	add("merge-fused", e, fma)
	add("merge-divided-late", e, late)
	add("merge-late-reverse-base-2", two, late, reverse)
	backwards := newLister()
	backwards.order = func(i, n int) int { return n - 1 - i }
	return append(out,
		bench.Variant{Name: "merge-float64", Candidate: merging(naturalBase[float64]()).candidate("merge-float64")},
		bench.Variant{Name: "lists-backwards", Candidate: backwards.candidate("lists-backwards")})
}
