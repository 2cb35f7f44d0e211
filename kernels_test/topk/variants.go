package topk

import (
	"cmp"
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
			return cmp.Or(cmp.Compare(r.scores[b], r.scores[a]), a-b)
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
	add := func(name, contract string, change func(k *kernel)) {
		out = append(out, bench.Variant{Name: name, Contract: contract, Candidate: correct(change).candidate(name)})
	}
	for i, s := range selections() {
		o := orders[i%len(orders)]
		add(s.name+"-"+o.name, "", func(k *kernel) {
			k.choose = func(r row) []int { return o.put(r, s.choose(r)) }
		})
	}
	for _, o := range orders[1:] {
		add("short-rows-"+o.name, "", func(k *kernel) {
			if o.name != "by-score" { // a row that is not ranked has no order of scores
				k.short = func(r row) []int { return o.put(r, first(r.n)) }
			}
		})
	}
	for _, high := range []bool{true, false} {
		for _, s := range []named{{"radix-8", byRadix(8, 8, 8, 8)}, {"tiles-256", byTiles(256, byHeap(true))}} {
			add("ties-"+map[bool]string{true: "highest-", false: "lowest-"}[high]+s.name, anyTie, func(k *kernel) {
				k.choose = func(r row) []int {
					r.high = high
					return s.choose(r)
				}
			})
		}
	}
	add("ties-scattered", anyTie, func(k *kernel) { k.choose = scattered })
	add("zeros-apart", anyTie, func(k *kernel) { k.choose = zerosApart })
	return out
}

// scattered settles ties by a hash of the index, as arrival does.
func scattered(r row) []int {
	all := first(r.n)
	hash := func(i int) uint32 { return uint32(i) * 2654435761 }
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.scores[b], r.scores[a]), cmp.Compare(hash(a), hash(b)))
	})
	return all[:r.k]
}
