package compressor

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// variants lists correct kernels: orders of the sums, both places of the division, two forms of the exponential, online
// softmax, parts that are merged, fused products, and arithmetic more exact than declared.
func variants() []bench.Variant {
	var out []bench.Variant
	add := func(name string, p pooler) {
		out = append(out, bench.Variant{Name: name, Candidate: bench.FromKernels(name, kernels(kernelOf(p, quirks{})))})
	}
	sums := []struct {
		name string
		sum  summing
	}{
		{"sequential", sequential},
		{"reversed", reversed},
		{"pairwise", pairwise},
		{"lanes-2", lanes(2)},
		{"lanes-4", lanes(4)},
		{"lanes-8", lanes(8)},
		{"lanes-32", lanes(32)},
		{"blocked-3", blocked(3)},
		{"blocked-16", blocked(16)},
	}
	for _, s := range sums {
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

func kernels(k bench.Kernel) map[string]bench.Kernel {
	return map[string]bench.Kernel{opCompress: k, opExtend: k}
}
