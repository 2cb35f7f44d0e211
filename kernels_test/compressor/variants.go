package compressor

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// variants lists correct kernels: orders of the sums, both places of the division, two forms of the exponential, online
// softmax, parts that are merged, fused products, and arithmetic more exact than declared.
func variants() []bench.Variant {
	var out []bench.Variant
	add := func(name string, p pooler) {
		k := correct()
		k.pool = p
		out = append(out, bench.Variant{Name: name, Candidate: k.candidate(name)})
	}
	for _, s := range []struct {
		name string
		sum  bench.Summing
	}{
		{"sequential", bench.Sequential},
		{"reversed", bench.Reversed},
		{"pairwise", bench.Pairwise},
		{"lanes-2", bench.Lanes(2, bench.Pairwise)},
		{"lanes-4", bench.Lanes(4, bench.Pairwise)},
		{"lanes-8", bench.Lanes(8, bench.Pairwise)},
		{"lanes-32", bench.Lanes(32, bench.Pairwise)},
		{"blocked-3", bench.Blocks(3, bench.Sequential)},
		{"blocked-16", bench.Blocks(16, bench.Sequential)},
	} {
		add(s.name+"-divided-last", normaliseLast(s.sum, exp32))
		add(s.name+"-divided-first", normaliseFirst(s.sum, exp32))
		add(s.name+"-exp2-divided-last", normaliseLast(s.sum, exp2Form))
		add(s.name+"-exp2-divided-first", normaliseFirst(s.sum, exp2Form))
	}
	add("online", online(exp32))
	add("online-exp2", online(exp2Form))
	add("online-backwards", backwards(online(exp32)))
	for _, n := range []int{2, 3, 4, 8, 16} {
		add(fmt.Sprintf("split-%d", n), split(n))
	}
	add("split-4-backwards", backwards(split(4)))
	add("fused", fused)
	add("fused-backwards", backwards(fused))
	add("exact", exact)
	return out
}

// fused multiplies and adds with one rounding.
func fused(g, v []float32) float32 {
	e := weights(g, exp32)
	return bench.DotFused(e, v) / bench.Sequential(e)
}

// online rescales at every new maximum.
func online(exp func(float32) float32) pooler {
	return func(g, v []float32) float32 {
		top := float32(math.Inf(-1))
		var acc, all float32
		for j, x := range g {
			if math.IsInf(float64(x), -1) {
				continue
			}
			if x > top {
				r := exp(top - x)
				acc, all, top = acc*r, all*r, x
			}
			e := exp(x - top)
			acc, all = float32(e*v[j])+acc, all+e
		}
		return acc / all
	}
}

// split pools contiguous parts and merges them.
func split(parts int) pooler {
	return func(g, v []float32) float32 {
		var tops, accs, alls []float32
		for i := range parts {
			from, to := i*len(g)/parts, (i+1)*len(g)/parts
			if from == to || math.IsInf(float64(slices.Max(g[from:to])), -1) {
				continue
			}
			e := weights(g[from:to], exp32)
			tops = append(tops, slices.Max(g[from:to]))
			alls, accs = append(alls, bench.Sequential(e)), append(accs, bench.DotSequential(e, v[from:to]))
		}
		r := weights(tops, exp32)
		return bench.DotSequential(r, accs) / bench.DotSequential(r, alls)
	}
}

// exact rounds only the result.
func exact(g, v []float32) float32 {
	top := float64(slices.Max(g))
	var acc, all float64
	for j := range g {
		e := math.Exp(float64(g[j]) - top)
		acc, all = acc+float64(e*float64(v[j])), all+e
	}
	return float32(acc / all)
}

// backwards reads the tokens from the last one.
func backwards(p pooler) pooler {
	return func(g, v []float32) float32 {
		g, v = slices.Clone(g), slices.Clone(v)
		slices.Reverse(g)
		slices.Reverse(v)
		return p(g, v)
	}
}
