package topk

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// selectionPlants choose the wrong keys of ranked rows.
func selectionPlants() []bench.Plant {
	plant := func(name, class, effect, origin string, c chooser) bench.Plant {
		return fault(name, class, effect, origin, choosing(c))
	}
	return []bench.Plant{
		plant("topk-bin-stash-8192", "selection", "as topk-bin-stash with a stash of 8,192", "sgl-project/sglang#36807",
			stashed(8192, byArrival)),
		plant("topk-bin-stash-16384", "selection", "as topk-bin-stash with a stash of 16,384", "sgl-project/sglang#37941",
			stashed(16384, byIndex)),
		plant("bin-taken-as-is", "selection", "the coarse bin of the k-th score is filled in order of index, without "+
			"a second pass", "overlap above 0.9 on Gaussian rows", func(r row) []int {
			bins := make([]float32, r.n)
			for i := range bins {
				bins[i] = float32(coarse(r.scores[i]))
			}
			return bySort(row{bins, r.n, r.k, false})
		}),
		plant("scores-as-bf16", "selection", "scores are rounded to bf16 before they are ranked",
			"index scores kept in bf16", by(bench.AsBF16)),
		plant("scores-as-fp16", "selection", "scores are rounded to fp16 before they are ranked",
			"the first radix pass taken for the last", by(func(v float32) int { return int(int16(half(v) ^ 0x8000)) })),
		plant("raw-bits-ranked", "selection", "raw bits are compared as unsigned numbers: negative scores rank above "+
			"positive ones", "order-preserving map forgotten", by(math.Float32bits)),
		plant("signed-bits-ranked", "selection", "raw bits are compared as signed numbers: negative scores run "+
			"backwards", "half of the order-preserving map", by(func(v float32) int32 { return int32(math.Float32bits(v)) })),
		plant("smallest-chosen", "selection", "the k smallest scores are chosen", "order of the comparison",
			by(func(v float32) float32 { return -v })),
		plant("magnitude-ranked", "selection", "the k largest magnitudes are chosen", "absolute value in a fused norm",
			by(func(v float32) float64 { return math.Abs(float64(v)) })),
		plant("last-chosen", "selection", "the last k visible keys are chosen", "hw-native-sys/pypto-lib#592",
			func(r row) []int { return bench.Span(r.n-r.k, r.n) }),
		plant("first-chosen", "selection", "the first k keys are chosen", "the path of short rows taken for all",
			func(r row) []int { return first(r.k) }),
		plant("tile-keeps-half", "selection", "each tile of 256 keeps only its 32 best before the last pass",
			"candidates of a pass fewer than k", func(r row) []int {
				var left []int
				for at := 0; at < r.n; at += 256 {
					left = append(left, r.among(bench.Span(at, min(at+256, r.n)), 32, bySort)...)
				}
				slices.Sort(left)
				return r.padded(r.among(left, r.k, bySort))
			}),
		plant("row-ends-at-256", "tile", "keys from 256 on are never looked at",
			"a capacity of the first kernel: sgl-project/sglang#37892", func(r row) []int {
				r.n = min(r.n, max(256, r.k))
				return bySort(r)
			}),
		plant("last-tile-dropped", "tile", "keys behind the last whole tile of 64 are never looked at",
			"loop rounded down", func(r row) []int {
				r.n = max(r.n/64*64, r.k)
				return bySort(r)
			}),
		plant("tile-edge-twice", "tile", "the first key of each tile of 64 is looked at by the tile before it, too, "+
			"and may be chosen twice", "inclusive ends", func(r row) []int {
			var all []int
			for at := 0; at < r.n; at += 64 {
				all = append(all, bench.Span(at, min(at+65, r.n))...)
			}
			slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(r.scores[b], r.scores[a]) })
			return all[:r.k]
		}),
		plant("ties-dropped", "selection", "only keys above the k-th score are chosen, and those that equal it leave "+
			"slots at -1", "strict comparison", cappedTies(0)),
		plant("one-tie", "selection", "one of the keys that equal the k-th score is chosen",
			"a threshold taken to be unique", cappedTies(1)),
		plant("inf-dropped", "selection", "infinite scores are taken for masked keys", "sgl-project/sglang#30512",
			bySortBut(func(v float32) bool { return math.IsInf(float64(v), 0) })),
		plant("max-starts-at-0", "selection", "slots start with a score of 0, so that negative ones never enter",
			"accumulator that begins at 0", bySortBut(func(v float32) bool { return v < 0 })),
		plant("index-in-12-bits", "address", "the index is packed into the low 12 bits beside the key",
			"key and index in one word", func(r row) []int {
				out := bySort(r)
				for i := range out {
					out[i] &= 1<<12 - 1
				}
				return out
			}),
		plant("slots-beyond-512-empty", "selection", "ranked rows fill 512 slots, whatever top_k",
			"a kernel without that k: jundot/omlx#2956", func(r row) []int {
				return r.padded(bySort(row{r.scores, r.n, min(r.k, 512), r.high}))
			}),
		plant("last-slot-empty", "mask-edge", "the last slot of ranked rows stays -1", "slots counted from 1",
			func(r row) []int { return r.padded(bySort(r)[:r.k-1]) }),
		plant("ties-to-the-other-end", "selection", "ties go to the other end of the row than declared",
			"an unstable sort declared stable", func(r row) []int {
				r.high = !r.high
				return bySort(r)
			}).Under(lowest, highest),
		plant("zeros-told-apart", "selection", "-0 ranks below +0", "raw bits of zeros", by(ordered)).Under(lowest, highest),
		plant("ties-by-arrival", "selection", "ties go to whichever lane arrives first, and are declared stable",
			"atomics", scattered).Under(lowest, highest),
	}
}

// by sorts by a function of scores.
func by[T cmp.Ordered](f func(float32) T) chooser {
	return func(r row) []int {
		all := first(r.n)
		slices.SortStableFunc(all, func(a, b int) int {
			if r.high {
				return cmp.Or(cmp.Compare(f(r.scores[b]), f(r.scores[a])), b-a)
			}
			return cmp.Compare(f(r.scores[b]), f(r.scores[a]))
		})
		return all[:r.k]
	}
}

// bySortBut drops some scores from the choice and leaves their slots at -1.
func bySortBut(dropped func(v float32) bool) chooser {
	return func(r row) []int {
		return r.padded(slices.DeleteFunc(bySort(r), func(i int) bool { return dropped(r.scores[i]) }))
	}
}

// padded fills the slots that are left with -1.
func (r row) padded(chosen []int) []int {
	for len(chosen) < r.k {
		chosen = append(chosen, -1)
	}
	return chosen
}

// stashed takes what is above the coarse bin of the k-th score, and chooses the rest among the first keys of that bin
// only, as many as the stash holds.
func stashed(slots int, arrival func(inside []int)) chooser {
	return func(r row) []int {
		above, inside, missing := r.coarsely()
		arrival(inside)
		inside = inside[:min(len(inside), slots)]
		slices.Sort(inside)
		return r.padded(append(above, r.among(inside, missing, bySort)...))
	}
}

func byIndex([]int) {}

// byArrival is the order in which the warps of a block of 1,024 threads reach the counter: the block walks the row, its
// warps in no order.
func byArrival(inside []int) {
	warp := func(i int) int { return i % 1024 / 32 * 13 % 32 }
	slices.SortStableFunc(inside, func(a, b int) int { return cmp.Or(a/1024-b/1024, warp(a)-warp(b)) })
}

// cappedTies takes at most that many of the keys that equal the k-th score; the slots left over are -1.
func cappedTies(ties int) chooser {
	return func(r row) []int {
		all := slices.Clone(r.scores[:r.n])
		slices.Sort(all)
		kth := all[r.n-r.k]
		var out, equal []int
		for i, v := range r.scores[:r.n] {
			switch {
			case v > kth:
				out = append(out, i)
			case v == kth:
				equal = append(equal, i)
			}
		}
		return r.padded(append(out, equal[:min(len(equal), ties, r.k-len(out))]...))
	}
}
