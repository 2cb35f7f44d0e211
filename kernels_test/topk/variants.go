package topk

import (
	"fmt"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// order is how a kernel writes a row's slots.
type order struct {
	name string
	put  func(r row, chosen []int) []int
}

var orders = []order{
	{"as-found", func(_ row, c []int) []int { return c }},
	{"ascending", func(_ row, c []int) []int { return slices.Sorted(slices.Values(c)) }},
	{"by-score", func(r row, c []int) []int {
		return slices.SortedFunc(slices.Values(c), func(a, b int) int {
			if r.scores[a] != r.scores[b] {
				if r.scores[a] > r.scores[b] {
					return -1
				}
				return 1
			}
			return a - b
		})
	}},
	{"backwards", func(_ row, c []int) []int {
		out := slices.Sorted(slices.Values(c))
		slices.Reverse(out)
		return out
	}},
	{"strided", func(_ row, c []int) []int { // as warps of 32 write through an atomic counter
		var out []int
		for l := range min(32, len(c)) {
			for i := l; i < len(c); i += 32 {
				out = append(out, c[i])
			}
		}
		return out
	}},
}

type named struct {
	name   string
	choose chooser
}

// selections are exact selections under every tie rule.
func selections() []named {
	out := []named{
		{"sort", bySort},
		{"words", byWords},
		{"heap", byHeap(false)},
		{"heap-from-back", byHeap(true)},
		{"quickselect-quarter", byQuickselect(func(n int) int { return n / 4 })},
		{"quickselect-middle", byQuickselect(func(n int) int { return n / 2 })},
		{"quickselect-third", byQuickselect(func(n int) int { return n * 2 / 3 })},
		{"insertion", byInsertion},
		{"bisection", byBisection},
		{"bitonic", byBitonic},
		{"threshold", byThreshold},
		{"radix-8", byRadix(8, 8, 8, 8)},
		{"radix-4", byRadix(4, 4, 4, 4, 4, 4, 4, 4)},
		{"radix-11", byRadix(11, 11, 10)},
		{"radix-16", byRadix(16, 16)},
		{"radix-6-to-13", byRadix(6, 13, 13)},
		{"half-first-radix-8", byHalfFirst(byRadix(8, 8, 8, 8))},
		{"half-first-radix-11", byHalfFirst(byRadix(11, 11, 10))},
		{"half-first-sort", byHalfFirst(bySort)},
		{"half-first-bitonic", byHalfFirst(byBitonic)},
	}
	for _, size := range []int{32, 100, 256, 1024, 2048, 4096} {
		out = append(out, named{fmt.Sprintf("tiles-%d", size), byTiles(size, byWords)})
	}
	for _, size := range []int{64, 300, 512, 2048} {
		out = append(out, named{fmt.Sprintf("stream-%d", size), byStream(size, byRadix(8, 8, 8, 8))})
	}
	for _, size := range []int{64, 500, 1024} {
		out = append(out, named{fmt.Sprintf("tree-%d", size), byTree(size, byQuickselect(func(n int) int { return n / 2 }))})
	}
	for _, lanes := range []int{4, 32, 128} {
		out = append(out, named{fmt.Sprintf("lanes-%d", lanes), byLanes(lanes, byHeap(false))})
	}
	return out
}

// variants lists correct kernels: every selection, in the orders of slots by turns, and selections that settle ties
// otherwise, which only the rule that leaves them open admits.
func variants() []bench.Variant {
	var out []bench.Variant
	add := func(name, contract string, k bench.Kernel) {
		out = append(out, bench.Variant{Name: name, Contract: contract, Candidate: bench.FromKernels(name, kernels(k))})
	}
	for i, s := range selections() {
		o := orders[i%len(orders)]
		add(s.name+"-"+o.name, "", kernelOf(func(r row) []int { return o.put(r, s.choose(r)) }, quirks{}))
	}
	for _, o := range orders[1:] {
		add("short-rows-"+o.name, "", kernelOf(bySort, quirks{short: func(r row) ([]int, bool) {
			if o.name == "by-score" {
				return nil, false // a row that is not ranked has no order of scores
			}
			return o.put(r, first(r.n)), true
		}}))
	}
	for _, t := range []struct {
		name string
		to   func(r row) row
	}{{"highest", func(r row) row { r.high = true; return r }}, {"lowest", func(r row) row { r.high = false; return r }}} {
		for _, s := range []named{{"radix-8", byRadix(8, 8, 8, 8)}, {"tiles-256", byTiles(256, byHeap(true))}} {
			add("ties-"+t.name+"-"+s.name, anyTie, kernelOf(func(r row) []int { return s.choose(t.to(r)) }, quirks{}))
		}
	}
	add("ties-scattered", anyTie, kernelOf(scattered, quirks{}))
	add("zeros-apart", anyTie, kernelOf(zerosApart, quirks{}))
	return out
}

// scattered settles ties by a hash of the index, as arrival does.
func scattered(r row) []int {
	all := first(r.n)
	hash := func(i int) uint32 { return uint32(i) * 2654435761 }
	slices.SortFunc(all, func(a, b int) int {
		switch {
		case r.scores[a] > r.scores[b]:
			return -1
		case r.scores[a] < r.scores[b]:
			return 1
		case hash(a) < hash(b):
			return -1
		}
		return 1
	})
	return all[:r.k]
}

func kernels(k bench.Kernel) map[string]bench.Kernel {
	return map[string]bench.Kernel{opTopK: k, opPages: k}
}
