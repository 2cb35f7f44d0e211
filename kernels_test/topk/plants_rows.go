package topk

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

func own(name, class, effect, origin string) bench.Plant {
	return bench.Plant{Name: name, Class: class, Effect: effect, Origin: origin}
}

// ranking sorts by another order of scores.
func ranking(less func(a, b float32) int) chooser {
	return func(r row) []int {
		all := first(r.n)
		slices.SortStableFunc(all, func(a, b int) int {
			if r.high {
				return cmp.Or(less(r.scores[b], r.scores[a]), b-a)
			}
			return less(r.scores[b], r.scores[a])
		})
		return all[:r.k]
	}
}

// by compares a function of scores.
func by[T cmp.Ordered](f func(float32) T) chooser {
	return ranking(func(a, b float32) int { return cmp.Compare(f(a), f(b)) })
}

func selectionPlants() []bench.Plant {
	return []bench.Plant{
		faulty(own("topk-bin-stash-8192", "selection", "as topk-bin-stash with a stash of 8,192", "sgl-project/sglang#36807"),
			stashed(8192, byArrival), quirks{}),
		faulty(own("topk-bin-stash-16384", "selection", "as topk-bin-stash with a stash of 16,384",
			"sgl-project/sglang#37941"), stashed(16384, byIndex), quirks{}),
		faulty(own("bin-taken-as-is", "selection", "the coarse bin of the k-th score is filled in order of index, without "+
			"a second pass", "overlap above 0.9 on Gaussian rows"), stashedFirst, quirks{}),
		faulty(own("scores-as-bf16", "selection", "scores are rounded to bf16 before they are ranked",
			"index scores kept in bf16"), by(func(v float32) float64 {
			return format.BF16.RoundTo(float64(v), format.RN, format.Overflow)
		}), quirks{}),
		faulty(own("scores-as-fp16", "selection", "scores are rounded to fp16 before they are ranked",
			"the first radix pass taken for the last"), by(func(v float32) int {
			return int(int16(half(v) ^ 0x8000))
		}), quirks{}),
		faulty(own("raw-bits-ranked", "selection", "raw bits are compared as unsigned numbers: negative scores rank above "+
			"positive ones", "order-preserving map forgotten"), by(math.Float32bits), quirks{}),
		faulty(own("signed-bits-ranked", "selection", "raw bits are compared as signed numbers: negative scores run "+
			"backwards", "half of the order-preserving map"), by(func(v float32) int32 {
			return int32(math.Float32bits(v))
		}), quirks{}),
		faulty(own("smallest-chosen", "selection", "the k smallest scores are chosen", "order of the comparison"),
			by(func(v float32) float32 {
				return -v
			}), quirks{}),
		faulty(own("magnitude-ranked", "selection", "the k largest magnitudes are chosen", "absolute value in a fused norm"),
			by(func(v float32) float64 {
				return math.Abs(float64(v))
			}), quirks{}),
		faulty(own("last-chosen", "selection", "the last k visible keys are chosen", "hw-native-sys/pypto-lib#592"),
			func(r row) []int {
				return from(r.n-r.k, r.n)
			}, quirks{}),
		faulty(own("first-chosen", "selection", "the first k keys are chosen", "the path of short rows taken for all"),
			func(r row) []int {
				return first(r.k)
			}, quirks{}),
		faulty(own("tile-keeps-half", "selection", "each tile of 256 keeps only its 32 best before the last pass",
			"candidates of a pass fewer than k"), func(r row) []int {
			var left []int
			for at := 0; at < r.n; at += 256 {
				left = append(left, r.among(from(at, min(at+256, r.n)), 32, bySort)...)
			}
			slices.Sort(left)
			return r.padded(r.among(left, r.k, bySort))
		}, quirks{}),
		faulty(own("row-ends-at-256", "tile", "keys from 256 on are never looked at",
			"a capacity of the first kernel: sgl-project/sglang#37892"), func(r row) []int {
			r.n = min(r.n, max(256, r.k))
			return bySort(r)
		}, quirks{}),
		faulty(own("last-tile-dropped", "tile", "keys behind the last whole tile of 64 are never looked at",
			"loop rounded down"), func(r row) []int {
			r.n = max(r.n/64*64, r.k)
			return bySort(r)
		}, quirks{}),
		faulty(own("tile-edge-twice", "tile", "the first key of each tile of 64 is looked at by the tile before it, too, "+
			"and may be chosen twice", "inclusive ends"), func(r row) []int {
			var all []int
			for at := 0; at < r.n; at += 64 {
				all = append(all, from(at, min(at+65, r.n))...)
			}
			slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(r.scores[b], r.scores[a]) })
			return all[:r.k]
		}, quirks{}),
		faulty(own("ties-dropped", "selection", "only keys above the k-th score are chosen, and those that equal it leave "+
			"slots at -1", "strict comparison"), cappedTies(0), quirks{}),
		faulty(own("one-tie", "selection", "one of the keys that equal the k-th score is chosen",
			"a threshold taken to be unique"), cappedTies(1), quirks{}),
		faulty(own("inf-dropped", "selection", "infinite scores are taken for masked keys", "sgl-project/sglang#30512"),
			func(r row) []int {
				return r.padded(slices.DeleteFunc(bySort(r), func(i int) bool { return math.IsInf(float64(r.scores[i]), 0) }))
			}, quirks{}),
		faulty(own("max-starts-at-0", "selection", "slots start with a score of 0, so that negative ones never enter",
			"accumulator that begins at 0"), func(r row) []int {
			return r.padded(slices.DeleteFunc(bySort(r), func(i int) bool { return r.scores[i] < 0 }))
		}, quirks{}),
		faulty(own("index-in-12-bits", "address", "the index is packed into the low 12 bits beside the key",
			"key and index in one word"), func(r row) []int {
			out := bySort(r)
			for i := range out {
				out[i] &= 1<<12 - 1
			}
			return out
		}, quirks{}),
		tied(own("ties-to-the-other-end", "selection", "ties go to the other end of the row than declared",
			"an unstable sort declared stable"), func(r row) []int {
			r.high = !r.high
			return bySort(r)
		}),
		tied(own("zeros-told-apart", "selection", "-0 ranks below +0", "raw bits of zeros"), by(func(v float32) int64 {
			if math.Signbit(float64(v)) && v == 0 {
				return 1<<31 - 1
			}
			return int64(key(v))
		})),
		tied(own("ties-by-arrival", "selection", "ties go to whichever lane arrives first, and are declared stable",
			"atomics"), scattered),
	}
}

// tied is a plant about ties: it runs where they are ruled.
func tied(p bench.Plant, choose chooser) bench.Plant {
	p.Declared = []string{lowest, highest}
	return faulty(p, choose, quirks{})
}

// stashedFirst takes the bin of the k-th score in order of index.
func stashedFirst(r row) []int {
	bins := make([]float32, r.n)
	for i := range bins {
		bins[i] = float32(coarse(r.scores[i]))
	}
	return bySort(row{bins, r.n, r.k, false})
}

func from(lo, hi int) []int {
	out := first(max(hi-lo, 0))
	for i := range out {
		out[i] += lo
	}
	return out
}

// padded fills the slots that are left with -1.
func (r row) padded(chosen []int) []int {
	for len(chosen) < r.k {
		chosen = append(chosen, -1)
	}
	return chosen
}

func lengthPlants() []bench.Plant {
	return []bench.Plant{
		faulty(own("length-one-long", "mask-edge", "each query sees one key too many", "causal bound one block late"), bySort,
			quirks{
				length: func(l []int, t, width int) int { return min(l[t]+1, width) },
			}),
		faulty(own("length-one-short", "mask-edge", "each query sees one key too few", "exclusive end taken for inclusive"),
			bySort, quirks{
				length: func(l []int, t, _ int) int { return max(l[t]-1, 0) },
			}),
		faulty(own("length-of-first", "batch", "all queries have the first one's length",
			"scalar length in a batched launch"), bySort, quirks{
			length: func(l []int, _, _ int) int { return l[0] },
		}),
		faulty(own("length-of-longest", "batch", "all queries have the longest one's length", "a padded launch without mask"),
			bySort, quirks{
				length: func(l []int, _, _ int) int { return slices.Max(l) },
			}),
		faulty(own("length-of-neighbour", "batch", "each query but the first has the length of the one before it",
			"off by one in the metadata"), bySort, quirks{
			length: func(l []int, t, _ int) int { return l[max(t-1, 0)] },
		}),
		faulty(own("tail-zero", "unwritten", "unused slots hold 0 in place of -1", "a buffer cleared with zeros"), bySort,
			quirks{tail: 1}),
		faulty(own("tail-unwritten", "unwritten", "unused slots are not written", "a kernel that writes what it finds"),
			bySort, quirks{tail: math.NaN()}),
		faulty(own("short-rows-skipped", "unwritten", "rows of at most k keys are left to the caller", "early return"),
			bySort, quirks{
				tail:  math.NaN(),
				short: func(row) ([]int, bool) { return nil, true },
			}),
		faulty(own("short-rows-full", "unread-memory", "rows of fewer than k keys are filled with keys beyond their end",
			"torch.topk without the mask after it"), bySort, quirks{
			short: func(r row) ([]int, bool) { return first(min(r.k, len(r.scores))), true },
		}),
		faulty(own("short-rows-checked", "empty-row", "NaN scores are dropped from rows that are not ranked",
			"one path for all rows"), bySort, quirks{
			short: func(r row) ([]int, bool) {
				return slices.DeleteFunc(first(r.n), func(i int) bool { return math.IsNaN(float64(r.scores[i])) }), true
			},
		}),
		faulty(own("exactly-k-padded", "mask-edge", "a row of exactly k keys loses its last one", "strict comparison with k"),
			bySort, quirks{
				short: func(r row) ([]int, bool) {
					return first(r.n - 1), r.n == r.k && r.n > 0
				},
			}),
		faulty(own("slots-beyond-512-empty", "selection", "ranked rows fill 512 slots, whatever top_k",
			"a kernel without that k: jundot/omlx#2956"), func(r row) []int {
			return r.padded(bySort(row{r.scores, r.n, min(r.k, 512), r.high}))
		}, quirks{}),
		faulty(own("last-slot-empty", "mask-edge", "the last slot of ranked rows stays -1", "slots counted from 1"),
			func(r row) []int {
				return r.padded(bySort(r)[:r.k-1])
			}, quirks{}),
		faulty(own("empty-row-takes-key-0", "empty-row", "a query without keys takes key 0", "index clamped to 0"), bySort,
			quirks{
				short: func(r row) ([]int, bool) {
					return []int{0}, r.n == 0 && r.k > 0
				},
			}),
	}
}

func pagePlants() []bench.Plant {
	var out []bench.Plant
	add := func(name, class, effect, origin string, f func(table bench.Tensor, request []int, t, key, size int) int) {
		p := own(name, class, effect, origin)
		p.On = paged
		out = append(out, faulty(p, bySort, quirks{pages: f}))
	}
	add("pages-not-applied", "paging", "logical keys are written in place of rows of the cache",
		"transform skipped on one path", func(_ bench.Tensor, _ []int, _, key, _ int) int {
			return key
		})
	add("page-64-assumed", "paging", "pages have 64 keys whatever page_size says", "a constant of one model",
		func(t bench.Tensor, req []int, q, key, _ int) int {
			row := t.Row(req[q])
			return int(row[min(key/64, len(row)-1)])*64 + key%64
		})
	add("table-by-token", "paging", "the table is read as if it had an entry for each token", "sgl-project/sglang#23757",
		func(t bench.Tensor, req []int, q, key, _ int) int {
			row := t.Row(req[q])
			return int(row[key%len(row)])
		})
	add("offset-dropped", "paging", "every key becomes the first row of its page", "offset in the page dropped",
		func(t bench.Tensor, req []int, q, key, size int) int {
			return int(t.Row(req[q])[key/size]) * size
		})
	add("page-not-scaled", "paging", "the page id is added to the offset without the page size", "shift dropped",
		func(t bench.Tensor, req []int, q, key, size int) int {
			return int(t.Row(req[q])[key/size]) + key%size
		})
	add("next-page-at-edge", "paging", "the last key of each page goes through the next entry",
		"off by one at the edge of a page", func(t bench.Tensor, req []int, q, key, size int) int {
			return int(t.Row(req[q])[(key+1)/size])*size + key%size
		})
	add("table-of-first-request", "batch", "all queries go through the first sequence's table", "row of the table dropped",
		func(t bench.Tensor, _ []int, _, key, size int) int {
			return int(t.Row(0)[key/size])*size + key%size
		})
	add("table-by-query", "batch", "query t goes through row t of the table", "queries and requests confused",
		func(t bench.Tensor, _ []int, q, key, size int) int {
			return int(t.Row(q % t.Dim(0))[key/size])*size + key%size
		})
	add("row-in-16-bits", "address", "rows of the cache are computed in 16 bits", "narrow index",
		func(t bench.Tensor, req []int, q, key, size int) int {
			return (int(t.Row(req[q])[key/size])*size + key%size) & 0xffff
		})
	add("row-through-float", "address", "rows of the cache go through fp32", "indices kept as floats",
		func(t bench.Tensor, req []int, q, key, size int) int {
			return int(float32(int(t.Row(req[q])[key/size])*size + key%size))
		})
	unused := own("unused-slots-looked-up", "paging", "unused slots go through the table, too, as key 0", "-1 not kept")
	unused.On = paged
	return append(out, faulty(unused, bySort, quirks{short: func(r row) ([]int, bool) {
		chosen := first(r.n)
		for len(chosen) < r.k {
			chosen = append(chosen, 0)
		}
		return chosen, r.n > 0
	}}))
}
