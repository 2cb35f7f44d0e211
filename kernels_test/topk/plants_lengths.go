package topk

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// lengthPlants take a query to see other keys than it does, or mishandle rows that are not ranked.
func lengthPlants() []bench.Plant {
	length := func(name, class, effect, origin string, of func(lengths []int, t, width int) int) bench.Plant {
		return fault(name, class, effect, origin, func(k *kernel) { k.length = of })
	}
	short := func(name, class, effect, origin string, c chooser) bench.Plant {
		return fault(name, class, effect, origin, func(k *kernel) { k.short = c })
	}
	unwritten := func(prefill float64) float64 { return prefill }
	return []bench.Plant{
		length("length-one-long", "mask-edge", "each query sees one key too many", "causal bound one block late",
			func(l []int, t, width int) int { return min(l[t]+1, width) }),
		length("length-one-short", "mask-edge", "each query sees one key too few", "exclusive end taken for inclusive",
			func(l []int, t, _ int) int { return max(l[t]-1, 0) }),
		length("length-of-first", "batch", "all queries have the first one's length", "scalar length in a batched launch",
			func(l []int, _, _ int) int { return l[0] }),
		length("length-of-longest", "batch", "all queries have the longest one's length", "a padded launch without mask",
			func(l []int, _, _ int) int { return slices.Max(l) }),
		length("length-of-neighbour", "batch", "each query but the first has the length of the one before it",
			"off by one in the metadata", func(l []int, t, _ int) int { return l[max(t-1, 0)] }),
		fault("tail-zero", "unwritten", "unused slots hold 0 in place of -1", "a buffer cleared with zeros",
			func(k *kernel) { k.unused = func(float64) float64 { return 0 } }),
		fault("tail-unwritten", "unwritten", "unused slots are not written", "a kernel that writes what it finds",
			func(k *kernel) { k.unused = unwritten }),
		fault("short-rows-skipped", "unwritten", "rows of at most k keys are left to the caller", "early return",
			func(k *kernel) { k.unused, k.short = unwritten, func(row) []int { return nil } }),
		short("short-rows-full", "unread-memory", "rows of fewer than k keys are filled with keys beyond their end",
			"torch.topk without the mask after it", func(r row) []int { return first(min(r.k, len(r.scores))) }),
		short("short-rows-checked", "empty-row", "NaN scores are dropped from rows that are not ranked",
			"one path for all rows", func(r row) []int {
				return slices.DeleteFunc(first(r.n), func(i int) bool { return math.IsNaN(float64(r.scores[i])) })
			}),
		short("exactly-k-padded", "mask-edge", "a row of exactly k keys loses its last one", "strict comparison with k",
			func(r row) []int {
				if r.n == r.k {
					return first(r.n - 1)
				}
				return first(r.n)
			}),
		short("empty-row-takes-key-0", "empty-row", "a query without keys takes key 0", "index clamped to 0",
			func(r row) []int { return first(min(max(r.n, 1), r.k)) }),
	}
}
