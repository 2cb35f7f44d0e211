package topk

import (
	"cmp"
	"container/heap"
	"slices"
)

// bySort sorts all keys by score, ties by index.
func bySort(r row) []int {
	all := first(r.n)
	slices.SortStableFunc(all, func(a, b int) int {
		if r.high {
			return cmp.Or(cmp.Compare(r.scores[b], r.scores[a]), b-a)
		}
		return cmp.Compare(r.scores[b], r.scores[a])
	})
	return all[:r.k]
}

// byWords sorts words of key and index.
func byWords(r row) []int {
	w := r.words()
	slices.Sort(w)
	return r.indices(w[r.n-r.k:])
}

type words []uint64

func (w words) Len() int           { return len(w) }
func (w words) Less(i, j int) bool { return w[i] < w[j] }
func (w words) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *words) Push(x any) {
	if v, ok := x.(uint64); ok {
		*w = append(*w, v)
	}
}

func (w *words) Pop() any {
	old := *w
	v := old[len(old)-1]
	*w = old[:len(old)-1]
	return v
}

// byHeap keeps the k best so far in a heap, worst on top. fromBack reads the row from its end.
func byHeap(fromBack bool) chooser {
	return func(r row) []int {
		h := make(words, 0, r.k+1)
		for j := range r.n {
			i := j
			if fromBack {
				i = r.n - 1 - j
			}
			w := r.word(i)
			switch {
			case len(h) < r.k:
				heap.Push(&h, w)
			case r.k > 0 && w > h[0]:
				h[0] = w
				heap.Fix(&h, 0)
			}
		}
		return r.indices(h)
	}
}

// byQuickselect partitions around pivots until the k best stand in front.
func byQuickselect(pivot func(n int) int) chooser {
	return func(r row) []int {
		w := r.words()
		lo, hi := 0, len(w)
		for hi-lo > 1 {
			p := w[lo+pivot(hi-lo)]
			i, j := lo, lo // w[lo:i] > p, w[i:j] == p
			for at := lo; at < hi; at++ {
				switch v := w[at]; {
				case v > p:
					w[at], w[j] = w[j], w[at]
					w[j], w[i] = w[i], w[j]
					i, j = i+1, j+1
				case v == p:
					w[at], w[j] = w[j], w[at]
					j++
				}
			}
			switch {
			case r.k < i:
				hi = i
			case r.k >= j:
				lo = j
			default:
				return r.indices(w[:r.k])
			}
		}
		return r.indices(w[:r.k])
	}
}

// byInsertion keeps a sorted list of the k best, for small k.
func byInsertion(r row) []int {
	var best []uint64
	for i := range r.n {
		w := r.word(i)
		if len(best) == r.k && (r.k == 0 || w < best[r.k-1]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, w, func(a, b uint64) int { return cmp.Compare(b, a) })
		best = slices.Insert(best, at, w)
		best = best[:min(len(best), r.k)]
	}
	return r.indices(best)
}

// byBisection finds the k-th word by halving the interval of keys, counting what is above, then gathers.
func byBisection(r row) []int {
	w := r.words()
	lo, hi := uint64(0), ^uint64(0) // at least k words are >= lo, fewer than k are > hi
	for lo < hi {
		mid := lo + (hi-lo)/2 + 1
		n := 0
		for _, v := range w {
			if v >= mid {
				n++
			}
		}
		if n >= r.k {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	var out []int
	for _, v := range w {
		if v >= lo && len(out) < r.k {
			out = append(out, r.index(v))
		}
	}
	return out
}
