package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

// maskPlants score the wrong keys.
func maskPlants() []bench.Plant {
	end := func(f func(a bench.Args, l *launch, t int) int) bench.Builder {
		return edited(func(a bench.Args, l *launch) {
			hi := make([]int, len(l.hi))
			for t := range hi {
				hi[t] = min(f(a, l, t), l.cols+l.lo[t])
			}
			l.hi = hi
		})
	}
	return []bench.Plant{
		own("one-key-more", "a query sees the key after its last", "<= for <", "mask-edge", pagedOps,
			end(func(_ bench.Args, l *launch, t int) int { return l.hi[t] + 1 })),
		own("one-key-less", "the last key is not seen", "an inclusive end taken for an exclusive one", "mask-edge",
			logitOps, end(func(_ bench.Args, l *launch, t int) int { return max(l.hi[t]-1, l.lo[t]) })),
		own("last-key-of-full-page-lost", "a context that ends with its page loses the last key",
			"length mod page_size as the length of the last page", "mask-edge", pagedOps,
			end(func(a bench.Args, l *launch, t int) int {
				if l.hi[t] > 0 && l.hi[t]%a.Int("page_size") == 0 {
					return l.hi[t] - 1
				}
				return l.hi[t]
			})),
		own("context-of-last-draft", "all queries of a request see what the last one sees", "one context length a request",
			"mask-edge", pagedOps, end(func(a bench.Args, l *launch, t int) int {
				n := a.In("q").Dim(1)
				return l.hi[t/n*n+n-1]
			})),
		own("context-of-first-draft", "drafts do not see the keys of drafts before them", "one context length a request",
			"mask-edge", pagedOps, end(func(a bench.Args, l *launch, t int) int {
				n := a.In("q").Dim(1)
				return l.hi[t/n*n]
			})),
		own("draft-ladder", "query i of n sees context-n+i+1 keys of the last context",
			"the one-dimensional form of context_lens", "mask-edge", pagedOps, end(func(a bench.Args, l *launch, t int) int {
				n := a.In("q").Dim(1)
				return max(0, l.hi[t/n*n+n-1]-n+t%n+1)
			})),
		own("length-of-next-request", "request b is cut at the context of request b+1", "a row index off by one", "batch",
			pagedOps, end(func(a bench.Args, l *launch, t int) int {
				n := a.In("q").Dim(1)
				if t+n < len(l.hi) {
					return min(l.hi[t], l.hi[t+n])
				}
				return l.hi[t]
			})),
		own("start-ignored", "a range begins at key 0", "cu_seqlen_ks not passed", "mask-edge", raggedOps,
			edited(func(a bench.Args, l *launch) {
				if a.Int("max_seqlen_k") == 0 {
					l.lo = make([]int, len(l.lo))
				}
			})),
		own("compressed-from-key-0", "compressed rows hold keys from 0 on", "start left out of the column", "mask-edge",
			raggedOps, edited(func(a bench.Args, l *launch) {
				if a.Int("max_seqlen_k") > 0 {
					l.at = func(t, j int) int { return j - l.lo[t] }
				}
			})),
		own("masked-with-zero", "keys that are not seen get 0",
			"the generic torch fallback fills with 0, which outranks negative logits", "mask-edge", logitOps,
			edited(func(_ bench.Args, l *launch) { l.fill = 0 })),
		own("not-cleaned", "keys that are not seen are left as they were", "clean_logits ignored", "unwritten", logitOps,
			edited(func(_ bench.Args, l *launch) { l.clean = false })),
		own("last-split-lost", "the remainder of the keys after equal splits is not scored", "floor division of the keys",
			"split", pagedOps, edited(func(a bench.Args, l *launch) {
				n := a.Int("num_splits")
				l.keyed = func(t, j int) bool { return l.hi[t] < n || j < l.hi[t]/n*n }
			})),
	}
}
