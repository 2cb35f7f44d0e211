package indexer

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

const (
	raggedOp = "indexer_logits"
	pagedOp  = "indexer_logits_paged"
	storeOp  = "index_key_store"
)

var (
	logitOps = []string{raggedOp, pagedOp}
	pagedOps = []string{pagedOp}
)

// fromRow takes what is known of a row of the catalogue.
func fromRow(id string, p bench.Plant) bench.Plant {
	if r, err := faults.ByRow(id); err == nil {
		p.Name, p.Effect, p.Origin, p.Row, p.Class = r.Slug, r.Effect, r.Origin, r.ID, r.Class
	}
	return p
}

// edited builds candidates whose launch is edited.
func edited(edits ...edit) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		fp8, other := styleOf(contract)
		return bench.FromKernels("edited", logitKernels(fp8, other, edits...)), nil
	}
}

// decoding builds candidates that read pages in another way.
func decoding(c codec) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		fp8, other := styleOf(contract)
		return bench.FromKernel("decoding", pagedOp, byFormat(pagedKernel(fp8, c), pagedKernel(other, c))), nil
	}
}

// styled builds candidates that compute in another style than they declare.
func styled(change func(fp8, other *style)) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		fp8, other := styleOf(contract)
		change(&fp8, &other)
		return bench.FromKernels("styled", logitKernels(fp8, other)), nil
	}
}

func before(f func(c *bench.Call)) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		c, err := built(contract)
		return bench.Before(c, f), err
	}
}

func after(f func(c bench.Call, r *bench.Reply)) func(string) (bench.Candidate, error) {
	return func(contract string) (bench.Candidate, error) {
		c, err := built(contract)
		return bench.After(c, f), err
	}
}

func plants() []bench.Plant {
	out := append(rowPlants(), maskPlants()...)
	out = append(out, valuePlants()...)
	out = append(out, pagePlants()...)
	out = append(out, memoryPlants()...)
	out = append(out, storePlants()...)
	for i, p := range out {
		if p.Declared == nil {
			out[i].Declared = append([]string{"bf16-steps"}, every...)
		}
	}
	return out
}

// rowPlants are the rows of the catalogue.
func rowPlants() []bench.Plant {
	return []bench.Plant{
		fromRow("T6", bench.Plant{On: pagedOps, Build: edited(func(a bench.Args, l *launch) {
			if !a.Has("prefix_lens") {
				return
			}
			prefix, n := a.In("prefix_lens").Ints(), a.In("q").Dim(1)
			l.keyed = func(t, j int) bool { return j < l.hi[t/n*n+n-1]-prefix[t/n] }
		})}),
		fromRow("T7", bench.Plant{On: pagedOps, Build: edited(func(a bench.Args, l *launch) {
			if !a.Has("prefix_lens") {
				return
			}
			prefix, n, at := a.In("prefix_lens").Ints(), a.In("q").Dim(1), l.at
			l.at = func(t, j int) int {
				stored := prefix[t/n]
				if fresh := l.hi[t/n*n+n-1] - stored; j < stored && fresh > 0 {
					j = stored + j%fresh // the scratch holds what this chunk put there
				}
				return at(t, j)
			}
		})}),
	}
}

// maskPlants see the wrong keys.
func maskPlants() []bench.Plant {
	end := func(f func(a bench.Args, l *launch, t int) int) func(string) (bench.Candidate, error) {
		return edited(func(a bench.Args, l *launch) {
			hi := make([]int, len(l.hi))
			for t := range hi {
				hi[t] = min(f(a, l, t), l.cols+l.lo[t])
			}
			l.hi = hi
		})
	}
	return []bench.Plant{
		{
			Name:   "one-key-more",
			Effect: "a query sees the key after its last",
			Origin: "<= for <",
			Class:  "mask-edge",
			On:     pagedOps,
			Build:  end(func(_ bench.Args, l *launch, t int) int { return l.hi[t] + 1 }),
		},
		{
			Name:   "one-key-less",
			Effect: "the last key is not seen",
			Origin: "an inclusive end taken for an exclusive one",
			Class:  "mask-edge",
			On:     logitOps,
			Build:  end(func(_ bench.Args, l *launch, t int) int { return max(l.hi[t]-1, l.lo[t]) }),
		},
		{
			Name:   "last-key-of-full-page-lost",
			Effect: "a context that ends with its page loses the last key",
			Origin: "length mod page_size as the length of the last page",
			Class:  "mask-edge",
			On:     pagedOps,
			Build: end(func(a bench.Args, l *launch, t int) int {
				if l.hi[t] > 0 && l.hi[t]%a.Int("page_size") == 0 {
					return l.hi[t] - 1
				}
				return l.hi[t]
			}),
		},
		{
			Name:   "context-of-last-draft",
			Effect: "all queries of a request see what the last one sees",
			Origin: "one context length a request",
			Class:  "mask-edge",
			On:     pagedOps,
			Build: end(func(a bench.Args, l *launch, t int) int {
				n := a.In("q").Dim(1)
				return l.hi[t/n*n+n-1]
			}),
		},
		{
			Name:   "context-of-first-draft",
			Effect: "drafts do not see the keys of drafts before them",
			Origin: "one context length a request",
			Class:  "mask-edge",
			On:     pagedOps,
			Build: end(func(a bench.Args, l *launch, t int) int {
				n := a.In("q").Dim(1)
				return l.hi[t/n*n]
			}),
		},
		{
			Name:   "draft-ladder",
			Effect: "query i of n sees context-n+i+1 keys of the last context",
			Origin: "the one-dimensional form of context_lens",
			Class:  "mask-edge",
			On:     pagedOps,
			Build: end(func(a bench.Args, l *launch, t int) int {
				n := a.In("q").Dim(1)
				return max(0, l.hi[t/n*n+n-1]-n+t%n+1)
			}),
		},
		{
			Name:   "length-of-next-request",
			Effect: "request b is cut at the context of request b+1",
			Origin: "a row index off by one",
			Class:  "batch",
			On:     pagedOps,
			Build: end(func(a bench.Args, l *launch, t int) int {
				n := a.In("q").Dim(1)
				if t+n < len(l.hi) {
					return min(l.hi[t], l.hi[t+n])
				}
				return l.hi[t]
			}),
		},
		{
			Name:   "start-ignored",
			Effect: "a range begins at key 0",
			Origin: "cu_seqlen_ks not passed",
			Class:  "mask-edge",
			On:     []string{raggedOp},
			Build: edited(func(a bench.Args, l *launch) {
				if a.Int("max_seqlen_k") == 0 {
					l.lo = make([]int, len(l.lo))
				}
			}),
		},
		{
			Name:   "compressed-from-key-0",
			Effect: "compressed rows hold keys from 0 on",
			Origin: "start left out of the column",
			Class:  "mask-edge",
			On:     []string{raggedOp},
			Build: edited(func(a bench.Args, l *launch) {
				if a.Int("max_seqlen_k") > 0 {
					l.at = func(t, j int) int { return j - l.lo[t] }
				}
			}),
		},
		{
			Name:   "masked-with-zero",
			Effect: "keys that are not seen get 0",
			Origin: "the generic torch fallback fills with 0, which outranks negative logits",
			Class:  "mask-edge",
			On:     logitOps,
			Build:  edited(func(_ bench.Args, l *launch) { l.fill = 0 }),
		},
		{
			Name:   "not-cleaned",
			Effect: "keys that are not seen are left as they were",
			Origin: "clean_logits ignored",
			Class:  "unwritten",
			On:     logitOps,
			Build:  edited(func(_ bench.Args, l *launch) { l.clean = false }),
		},
		{
			Name:   "last-split-lost",
			Effect: "the remainder of the keys after equal splits is not scored",
			Origin: "floor division of the keys",
			Class:  "split",
			On:     pagedOps,
			Build: edited(func(a bench.Args, l *launch) {
				n := a.Int("num_splits")
				l.keyed = func(t, j int) bool { return l.hi[t] < n || j < l.hi[t]/n*n }
			}),
		},
	}
}
