package dense

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/bench/softmax"
)

// ownPlants are faults of attention that the catalogue does not have.
func ownPlants() []bench.Plant {
	plant := func(name, class, effect string, on []string, e edit) bench.Plant {
		return bench.Plant{
			Name:   name,
			Effect: effect,
			Origin: "common kernel mistake",
			Class:  class,
			On:     on,
			Build:  edited(e),
		}
	}
	out := []bench.Plant{
		plant("scale-own", "scale", "the softmax scale is 1/sqrt(D), whatever the call says", onAttention,
			func(l *launch) { l.scale = 1 / math.Sqrt(float64(l.d)) }),
		plant("k-scale-squared", "scale", "k_scale is applied twice, to the scores and to the keys", onAttention,
			func(l *launch) { l.kScale *= l.kScale }),
		plant("kv-scales-swapped", "scale", "k_scale and v_scale are swapped", onGQA, func(l *launch) {
			l.kScale, l.vScale = l.vScale, l.kScale
		}),
		plant("v-scale-missing", "scale", "values are not scaled", onAttention, func(l *launch) { l.vScale = 1 }),
		plant("head-scales-of-first", "scale", "the scales of the first key-value head serve all", onGQA, func(l *launch) {
			for i := range l.kHead {
				l.kHead[i], l.vHead[i] = l.kHead[0], l.vHead[0]
			}
		}),
		plant("head-scales-ignored", "scale", "scales by head are ignored where those of all heads are given", onGQA,
			func(l *launch) { l.kHead, l.vHead = nil, nil }),
		plant("softcap-missing", "gate", "scores are not capped", onGQA, func(l *launch) { l.cap = 0 }),
		plant("softcap-scaled", "gate", "the cap is divided by the softmax scale", onGQA,
			func(l *launch) { l.cap /= l.scale }),
		plant("heads-interleaved", "layout", "query head h reads key-value head h mod G", onGQA,
			func(l *launch) { l.head = func(h int) int { return h % l.groups } }),
		plant("head-zero", "layout", "all query heads read the first key-value head", onGQA, func(l *launch) {
			l.head = func(int) int { return 0 }
		}),
		plant("causal-top-left", "mask-edge", "the causal mask is aligned to the first key in place of the last", onAttention,
			func(l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					lo, _ = l.bounds(b, i)
					if _, hi = l.bounds(b, i); l.causal {
						hi = min(i+1, l.lens[b])
					}
					return lo, max(lo, hi)
				}
			}),
		plant("own-key-missing", "mask-edge", "the query's own key is masked", onAttention, func(l *launch) {
			l.span = func(b, i int) (lo, hi int) {
				if lo, hi = l.bounds(b, i); l.causal && hi > lo {
					hi--
				}
				return lo, hi
			}
		}),
		plant("future-key", "mask-edge", "the key after the query's own is attended to", onAttention,
			func(l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					if lo, hi = l.bounds(b, i); hi < l.lens[b] {
						hi++
					}
					return lo, hi
				}
			}),
		plant("window-one-short", "mask-edge", "the window has one key fewer", onGQA, func(l *launch) {
			l.span = func(b, i int) (lo, hi int) {
				if lo, hi = l.bounds(b, i); l.left > 0 && lo > 0 && lo < hi {
					lo++
				}
				return lo, hi
			}
		}),
		plant("window-right-ignored", "mask-edge", "the right side of the window is ignored", onGQA,
			func(l *launch) { l.right = -1 }),
		plant("window-left-needs-causal", "mask-edge", "the window is ignored where causal is off", onGQA,
			func(l *launch) {
				if !l.causal {
					l.left = -1
				}
			}),
		plant("window-by-page", "mask-edge", "the window begins at a page's first token", onGQA,
			func(l *launch) {
				page := max(l.Int("page_size"), 1)
				l.span = func(b, i int) (lo, hi int) {
					lo, hi = l.bounds(b, i)
					return lo / page * page, hi
				}
			}),
		plant("last-page-dropped", "paging", "a partial last page is left out", onAttention,
			func(l *launch) {
				page := l.Int("page_size")
				l.span = func(b, i int) (lo, hi int) {
					if lo, hi = l.bounds(b, i); page > 1 && hi > page && hi%page != 0 && hi == l.lens[b] {
						hi -= hi % page
					}
					return lo, max(lo, hi)
				}
			}),
		plant("page-size-fixed", "paging", "pages are taken to hold 16 tokens", onAttention, func(l *launch) {
			if !l.Has("page_table") {
				return
			}
			t, rows := l.In("page_table"), l.In("page_table").Ints()
			l.row = func(b, j int) int { return l.within(rows[b*t.Dim(1)+min(j/16, t.Dim(1)-1)]*16 + j%16) }
		}),
		plant("table-row-of-first", "batch", "all requests use the first one's page table", onAttention,
			func(l *launch) {
				if !l.Has("page_table") {
					return
				}
				t, rows, page := l.In("page_table"), l.In("page_table").Ints(), l.Int("page_size")
				l.row = func(_, j int) int { return l.within(rows[min(j/page, t.Dim(1)-1)]*page + j%page) }
			}),
		plant("one-key-past-end", "unread-memory", "the last query reads the slot after its sequence", onAttention,
			func(l *launch) {
				page := l.Int("page_size")
				l.span = func(b, i int) (lo, hi int) {
					if lo, hi = l.bounds(b, i); page > 0 && hi == l.lens[b] && hi%page != 0 {
						hi++
					}
					return lo, hi
				}
			}),
		plant("sink-missing", "gate", "the sinks are left out", onGQA, func(l *launch) { l.sink = nil }),
		plant("sink-of-head-zero", "layout", "every head has the first one's sink", onGQA, func(l *launch) {
			for h := range l.sink {
				l.sink[h] = l.sink[0]
			}
		}),
		plant("sink-scaled", "scale", "sinks are multiplied by the softmax scale", onGQA, func(l *launch) {
			for h := range l.sink {
				l.sink[h] *= l.scale
			}
		}),
		plant("lse-base", "log-base", "lse is in base e where base 2 is asked for, and the other way round", onAttention,
			func(l *launch) { l.base2 = !l.base2 }),
		plant("empty-row-nan", "empty-row", "a row without keys is 0/0", onAttention, func(l *launch) {
			l.last = func(_, _ int, s *softmax.State) {
				if s.Sum == 0 {
					s.Max, s.Sum = 0, math.NaN()
				}
			}
		}),
		plant("empty-row-unwritten", "unwritten", "rows without keys are not written", onAttention,
			func(l *launch) {
				l.skip = func(b, i int) bool { lo, hi := l.bounds(b, i); return lo >= hi }
			}),
		plant("split-not-rescaled", "split", "parts are added without rescaling to the common maximum", onAttention,
			func(l *launch) {
				first := map[[3]int]float64{}
				l.part = func(b, i, h, _ int, s *softmax.State) {
					key := [3]int{b, i, h}
					if _, ok := first[key]; !ok {
						first[key] = s.Max
					}
					s.Max = first[key]
				}
			}),
		plant("split-last-dropped", "split", "the last part is left out of the merge", onAttention,
			func(l *launch) {
				l.part = func(_, _, _, split int, s *softmax.State) {
					if split > 0 && split == l.splits-1 {
						*s = softmax.Empty(l.dv)
					}
				}
			}),
		plant("split-log2-as-natural", "split", "parts are weighted as if their base-2 maxima were natural", onAttention,
			func(l *launch) {
				l.part = func(_, _, _, _ int, s *softmax.State) {
					if l.splits > 1 {
						s.Max *= math.Log2E
					}
				}
			}),
		plant("batch-neighbour", "batch", "each request has the length of the next, where that is shorter", onAttention,
			func(l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					lo, hi = l.bounds(b, i)
					return lo, max(lo, min(hi, l.lens[(b+1)%len(l.lens)]))
				}
			}),
		plant("queries-of-first", "batch", "requests have as many queries as the first", onAttention,
			func(l *launch) {
				n := l.indptr[1]
				l.skip = func(_, i int) bool { return i >= n }
			}),
		plant("prefix-in-first-chunk", "chunk-state", "only the first query of a chunk attends to the cached prefix",
			onAttention, func(l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					if lo, hi = l.bounds(b, i); i > 0 {
						lo = max(lo, l.lens[b]-(l.indptr[b+1]-l.indptr[b]))
					}
					return lo, max(lo, hi)
				}
			}),
	}
	stepped := func(name, class, effect string, change func(k *attention[float32])) bench.Plant {
		return bench.Plant{
			Name: name, Effect: effect, Origin: "common kernel mistake", Class: class, On: onAttention,
			Build: replaced(func(contract string) map[string]bench.Kernel {
				k := builtAttention(contract)
				change(&k)
				return k.kernels()
			}),
		}
	}
	out = append(out,
		stepped("scores-bf16", "accumulation", "scores are rounded to bf16", func(k *attention[float32]) {
			k.Score = func(dot, scale float32) float32 { return bench.AsBF16(dot * scale) }
		}),
		stepped("weights-summed-rounded", "accumulation", "the sum of weights is taken over the rounded ones",
			func(k *attention[float32]) {
				k.Weight = func(p float32) (sum, product float32) { return bench.AsBF16(p), bench.AsBF16(p) }
			}).Under("bf16-p-bf16", "fp8-kv"),
		bench.Plant{
			Name: "lengths-of-capture", Effect: "a replayed graph keeps the lengths that it was captured with",
			Origin: "host values baked into a graph", Class: "graph", On: onAttention,
			Build: bench.Builder(built).Before(bench.StaleCapture("seq_lens")),
		})
	return append(out, memoryPlants()...)
}

// memoryPlants take operands to lie as they do not, or leave outputs unwritten.
func memoryPlants() []bench.Plant {
	var out []bench.Plant
	for _, name := range []string{
		"q", "k", "v", "k_cache", "v_cache", "page_table", "q_nope", "q_pe", "ckv_cache", "kpe_cache",
	} {
		on := onAttention
		switch name {
		case "q", "k", "v", "k_cache", "v_cache":
			on = onGQA
		case "q_nope", "q_pe", "ckv_cache", "kpe_cache":
			on = []string{"mla_attention"}
		}
		if name == "k" || name == "v" {
			on = append(on, onWrite...)
		}
		out = append(out, bench.Plant{
			Name: slug("strides-%s", dashed(name)), Effect: slug("%s is taken to lie without gaps", name),
			Origin: "a view treated as contiguous",
			Class:  "strides", On: on, Build: bench.Builder(built).Before(bench.StrideIgnored(name)),
		})
	}
	return append(out, bench.Plant{
		Name: "last-tile-unwritten", Effect: "queries of a last tile of 4 that is not full are not written",
		Origin: "a grid rounded down", Class: "unwritten", On: onAttention,
		Build: bench.Builder(built).After(bench.LastTileUnwritten(4)),
	})
}
