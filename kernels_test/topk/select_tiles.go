package topk

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// byTiles chooses the k best of each tile, then of all that are left: two passes.
func byTiles(size int, inner chooser) chooser {
	return func(r row) []int {
		var left []int
		for from := 0; from < r.n; from += size {
			left = append(left, r.among(bench.Span(from, min(from+size, r.n)), r.k, inner)...)
		}
		slices.Sort(left)
		return r.among(left, r.k, inner)
	}
}

// byStream carries the k best from tile to tile.
func byStream(size int, inner chooser) chooser {
	return func(r row) []int {
		var best []int
		for from := 0; from < r.n; from += size {
			best = append(best, bench.Span(from, min(from+size, r.n))...)
			slices.Sort(best)
			best = r.among(best, r.k, inner)
		}
		return best
	}
}

// byTree halves the number of tiles by choosing the k best of pairs.
func byTree(size int, inner chooser) chooser {
	return func(r row) []int {
		var tiles [][]int
		for from := 0; from < r.n; from += size {
			tiles = append(tiles, r.among(bench.Span(from, min(from+size, r.n)), r.k, inner))
		}
		for len(tiles) > 1 {
			var next [][]int
			for pair := range slices.Chunk(tiles, 2) {
				both := slices.Concat(pair...)
				slices.Sort(both)
				next = append(next, r.among(both, r.k, inner))
			}
			tiles = next
		}
		return tiles[0]
	}
}

// byBitonic sorts words in a network of a power of two, padded with the smallest word.
func byBitonic(r row) []int {
	n := 1
	for n < r.n {
		n *= 2
	}
	w := append(r.words(), make([]uint64, n-r.n)...)
	for size := 2; size <= n; size *= 2 {
		for step := size / 2; step > 0; step /= 2 {
			for i := range w {
				if j := i ^ step; j > i && (w[i] < w[j]) == (i&size == 0) {
					w[i], w[j] = w[j], w[i]
				}
			}
		}
	}
	return r.indices(w[:r.k])
}

// byLanes lets every lane choose among its own strided keys, then merges.
func byLanes(lanes int, inner chooser) chooser {
	return func(r row) []int {
		var left []int
		for l := range lanes {
			var own []int
			for i := l; i < r.n; i += lanes {
				own = append(own, i)
			}
			left = append(left, r.among(own, r.k, inner)...)
		}
		slices.Sort(left)
		return r.among(left, r.k, inner)
	}
}

// byThreshold compares scores with the k-th one: what is greater, then ties.
func byThreshold(r row) []int {
	all := slices.Clone(r.scores[:r.n])
	slices.Sort(all)
	kth := float32(math.Inf(1))
	if r.k > 0 {
		kth = all[r.n-r.k]
	}
	greater := 0
	for _, v := range r.scores[:r.n] {
		if v > kth {
			greater++
		}
	}
	return r.gather(func(i int) int {
		switch v := r.scores[i]; {
		case v > kth:
			return 1
		case v == kth:
			return 0
		}
		return -1
	}, r.k-greater)
}

// zerosApart ranks -0 below +0, which are equal: only the rule that leaves ties open admits that.
func zerosApart(r row) []int {
	all := first(r.n)
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(ordered(r.scores[b]), ordered(r.scores[a])) })
	return all[:r.k]
}
