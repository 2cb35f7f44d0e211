package dense

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// ownPlants are faults of attention that the catalogue does not have.
func ownPlants() []bench.Plant {
	plant := func(name, class, effect string, on []string, e edit) bench.Plant {
		return bench.Plant{
			Name:   name,
			Effect: effect,
			Origin: "a kernel's usual slips",
			Class:  class,
			On:     on,
			Build:  edited(e),
		}
	}
	out := []bench.Plant{
		plant("scale-own", "scale", "the softmax scale is the head's usual one, whatever the call says", onAttention,
			func(_ bench.Args, l *launch) {
				l.scale = 1 / math.Sqrt(float64(l.d))
			}),
		plant("k-scale-squared", "scale", "k_scale is applied in the scores and in the keys", onAttention,
			func(_ bench.Args, l *launch) {
				l.kScale *= l.kScale
			}),
		plant("kv-scales-swapped", "scale", "k_scale and v_scale are swapped", onGQA, func(_ bench.Args, l *launch) {
			l.kScale, l.vScale = l.vScale, l.kScale
		}),
		plant("v-scale-missing", "scale", "values are not scaled", onAttention, func(_ bench.Args, l *launch) {
			l.vScale = 1
		}),
		plant("heads-interleaved", "layout", "query head h reads key-value head h mod G", onGQA,
			func(_ bench.Args, l *launch) {
				l.head = func(h int) int { return h % l.groups }
			}),
		plant("head-zero", "layout", "all query heads read the first key-value head", onGQA, func(_ bench.Args, l *launch) {
			l.head = func(int) int { return 0 }
		}),
		plant("causal-top-left", "mask-edge", "the causal mask is aligned to the first key in place of the last", onAttention,
			func(_ bench.Args, l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					lo, _ = l.bounds(b, i)
					if _, hi = l.bounds(b, i); l.causal {
						hi = min(i+1, l.lens[b])
					}
					return lo, max(lo, hi)
				}
			}),
		plant("own-key-missing", "mask-edge", "the query's own key is masked", onAttention, func(_ bench.Args, l *launch) {
			l.span = func(b, i int) (lo, hi int) {
				if lo, hi = l.bounds(b, i); l.causal && hi > lo {
					hi--
				}
				return lo, hi
			}
		}),
		plant("future-key", "mask-edge", "the key behind the query's own is seen", onAttention,
			func(_ bench.Args, l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					if lo, hi = l.bounds(b, i); hi < l.lens[b] {
						hi++
					}
					return lo, hi
				}
			}),
		plant("window-one-short", "mask-edge", "the window has one key fewer", onGQA, func(_ bench.Args, l *launch) {
			l.span = func(b, i int) (lo, hi int) {
				if lo, hi = l.bounds(b, i); l.left > 0 && lo > 0 && lo < hi {
					lo++
				}
				return lo, hi
			}
		}),
		plant("window-right-ignored", "mask-edge", "the right side of the window is ignored", onGQA,
			func(_ bench.Args, l *launch) {
				l.right = -1
			}),
		plant("window-left-needs-causal", "mask-edge", "the window is ignored where causal is off", onGQA,
			func(_ bench.Args, l *launch) {
				if !l.causal {
					l.left = -1
				}
			}),
		plant("window-by-page", "mask-edge", "the window begins at a page's first token", onGQA,
			func(a bench.Args, l *launch) {
				page := max(a.Int("page_size"), 1)
				l.span = func(b, i int) (lo, hi int) {
					lo, hi = l.bounds(b, i)
					return lo / page * page, hi
				}
			}),
		plant("last-page-dropped", "paging", "a last page that is not full is left out", onAttention,
			func(a bench.Args, l *launch) {
				page := a.Int("page_size")
				l.span = func(b, i int) (lo, hi int) {
					if lo, hi = l.bounds(b, i); page > 1 && hi > page && hi%page != 0 && hi == l.lens[b] {
						hi -= hi % page
					}
					return lo, max(lo, hi)
				}
			}),
		plant("page-size-fixed", "paging", "pages are taken to hold 16 tokens", onAttention, func(a bench.Args, l *launch) {
			if !a.Has("page_table") {
				return
			}
			t, rows := a.In("page_table"), a.In("page_table").Ints()
			l.row = func(b, j int) int { return l.within(rows[b*t.Dim(1)+min(j/16, t.Dim(1)-1)]*16 + j%16) }
		}),
		plant("table-row-of-first", "batch", "all requests use the first one's page table", onAttention,
			func(a bench.Args, l *launch) {
				if !a.Has("page_table") {
					return
				}
				t, rows, page := a.In("page_table"), a.In("page_table").Ints(), a.Int("page_size")
				l.row = func(_, j int) int { return l.within(rows[min(j/page, t.Dim(1)-1)]*page + j%page) }
			}),
		plant("one-key-past-end", "unread-memory", "the last query sees the slot behind its sequence", onAttention,
			func(a bench.Args, l *launch) {
				page := a.Int("page_size")
				l.span = func(b, i int) (lo, hi int) {
					if lo, hi = l.bounds(b, i); page > 0 && hi == l.lens[b] && hi%page != 0 {
						hi++
					}
					return lo, hi
				}
			}),
		plant("sink-missing", "gate", "the sinks are left out", onGQA, func(_ bench.Args, l *launch) { l.sink = nil }),
		plant("sink-of-head-zero", "layout", "every head has the first one's sink", onGQA, func(_ bench.Args, l *launch) {
			for h := range l.sink {
				l.sink[h] = l.sink[0]
			}
		}),
		plant("sink-scaled", "scale", "sinks are multiplied by the softmax scale", onGQA, func(_ bench.Args, l *launch) {
			for h := range l.sink {
				l.sink[h] *= l.scale
			}
		}),
		plant("lse-base", "log-base", "lse is in base e where base 2 is asked for, and the other way round", onAttention,
			func(_ bench.Args, l *launch) {
				l.base2 = !l.base2
			}),
		plant("empty-row-nan", "empty-row", "a row without keys is 0/0", onAttention, func(_ bench.Args, l *launch) {
			l.last = func(_, _ int, s *state) {
				if s.l == 0 {
					*s = state{m: 0, l: math.NaN(), acc: make([]float64, l.dv)}
				}
			}
		}),
		plant("empty-row-unwritten", "unwritten", "rows without keys are not written", onAttention,
			func(_ bench.Args, l *launch) {
				l.skip = func(b, i int) bool { lo, hi := l.bounds(b, i); return lo >= hi }
			}),
		plant("split-not-rescaled", "split", "parts are added without rescaling to the common maximum", onAttention,
			func(_ bench.Args, l *launch) {
				first := map[[3]int]float64{}
				l.part = func(b, i, h, _ int, s *state) {
					key := [3]int{b, i, h}
					if _, ok := first[key]; !ok {
						first[key] = s.m
					}
					s.m = first[key]
				}
			}),
		plant("split-last-dropped", "split", "the last part is left out of the merge", onAttention,
			func(_ bench.Args, l *launch) {
				l.part = func(_, _, _, split int, s *state) {
					if split > 0 && split == l.splits-1 {
						s.m = math.Inf(-1)
						s.l = 0
						clear(s.acc)
					}
				}
			}),
		plant("split-log2-as-natural", "split", "parts are weighed as if their base-2 maxima were natural", onAttention,
			func(_ bench.Args, l *launch) {
				l.part = func(_, _, _, _ int, s *state) {
					if l.splits > 1 {
						s.m *= math.Log2E
					}
				}
			}),
		plant("scores-bf16", "accumulation", "scores are rounded to bf16", onAttention, func(_ bench.Args, l *launch) {
			l.score = func(_, _, _ int, z float64) float64 { return bench.Round(bench.BF16, z) }
		}),
		plant("batch-neighbour", "batch", "each request has the length of the next, where that is shorter", onAttention,
			func(_ bench.Args, l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					lo, hi = l.bounds(b, i)
					return lo, max(lo, min(hi, l.lens[(b+1)%len(l.lens)]))
				}
			}),
		plant("queries-of-first", "batch", "requests have as many queries as the first", onAttention,
			func(_ bench.Args, l *launch) {
				n := l.indptr[1]
				l.skip = func(_, i int) bool { return i >= n }
			}),
		plant("prefix-in-first-chunk", "chunk-state", "the cached prefix is seen by a chunk's first query alone", onAttention,
			func(_ bench.Args, l *launch) {
				l.span = func(b, i int) (lo, hi int) {
					if lo, hi = l.bounds(b, i); i > 0 {
						lo = max(lo, l.lens[b]-(l.indptr[b+1]-l.indptr[b]))
					}
					return lo, max(lo, hi)
				}
			}),
	}
	out = append(out, bench.Plant{
		Name: "weights-summed-rounded", Effect: "the sum of weights is taken over the rounded ones",
		Origin: "a kernel's usual slips", Class: "accumulation", On: onAttention,
		Declared: []string{"bf16-p-bf16", "fp8-kv"}, Build: replaced(func(string) map[string]bench.Kernel {
			st := style{pBF16: true, sumP: true}
			return map[string]bench.Kernel{"gqa_attention": attention[float32](st), "mla_attention": latent[float32](st)}
		}),
	})
	out = append(out, bench.Plant{
		Name: "lengths-of-capture", Effect: "a replayed graph keeps the lengths that it was captured with",
		Origin: "host values baked into a graph", Class: "graph", On: onAttention,
		Build: before(func(c *bench.Call) {
			if c.CaptureWith != nil {
				c.Storage["seq_lens_storage"] = c.CaptureWith.Storage["seq_lens_storage"]
			}
		}),
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
			Class:  "strides", On: on, Build: before(bench.StrideIgnored(name)),
		})
	}
	return append(out, bench.Plant{
		Name: "last-tile-unwritten", Effect: "queries of a last tile of 4 that is not full are not written",
		Origin: "a grid rounded down", Class: "unwritten", On: onAttention,
		Build: func(contract string) (bench.Candidate, error) {
			under, err := built(contract)
			return bench.After(under, bench.LastTileUnwritten(4)), err
		},
	})
}

// exactPlants are faults of cache writes, page tables and masks.
func exactPlants() []bench.Plant {
	wrote := func(name, class, effect string, w writing) bench.Plant {
		return bench.Plant{
			Name:   name,
			Effect: effect,
			Origin: "a cache write's usual slips",
			Class:  class,
			On:     onWrite,
			Build: replaced(func(string) map[string]bench.Kernel {
				return map[string]bench.Kernel{"kv_write": write(w)}
			}),
		}
	}
	tabled := func(name, class, effect string, w tabling) bench.Plant {
		return bench.Plant{
			Name:   name,
			Effect: effect,
			Origin: "a page table's usual slips",
			Class:  class,
			On:     onTable,
			Build: replaced(func(string) map[string]bench.Kernel {
				return map[string]bench.Kernel{"page_table": buildTable(w)}
			}),
		}
	}
	masked := func(name, effect string, span func(l *launch, p, n, q int) (lo, hi int)) bench.Plant {
		return bench.Plant{
			Name:   name,
			Effect: effect,
			Origin: "a mask's usual slips",
			Class:  "mask-edge",
			On:     onMask,
			Build: replaced(func(string) map[string]bench.Kernel {
				return map[string]bench.Kernel{"window_mask": masking(span, false)}
			}),
		}
	}
	return []bench.Plant{
		wrote("write-multiplied", "scale", "values are multiplied by the scale", writing{multiply: true}),
		wrote("write-scales-swapped", "scale", "k_scale and v_scale are swapped", writing{swapScales: true}),
		wrote("write-unscaled", "scale", "the scales are ignored", writing{ignoreScales: true}),
		wrote("write-scaled-bf16", "scale", "the scales are applied to a cache that has none", writing{scaleAll: true}),
		wrote("write-padding-stored", "paging", "a padding token's slot -1 wraps to the last slot", writing{noPadding: true}),
		wrote("write-page-lost", "paging", "the page of a slot is dropped", writing{pageLost: true}),
		wrote("write-truncated", "encoding", "values are rounded towards zero", writing{truncate: true}),
		wrote("write-ties-away", "encoding", "ties go to the code of larger magnitude", writing{tiesAway: true}),
		wrote("write-unsaturated", "encoding", "values beyond 448 become 0", writing{wrap: true}),
		wrote("write-too-wide", "paging", "four elements run over into the next slot", writing{neighbours: true}),
		tabled("table-not-divided", "paging", "entries are slots, not pages", tabling{noDivide: true}),
		tabled("table-not-strided", "paging", "entry i is the page of token i", tabling{noStride: true}),
		tabled("table-rounded-down", "paging", "a last page that is not full is left out", tabling{floor: true}),
		tabled("table-last-page-zero", "paging", "a full last page has length 0", tabling{lastZero: true}),
		tabled("table-row-by-request", "batch", "request b has row b", tabling{wrongRow: true}),
		tabled("table-stale", "paging", "entries beyond the last page repeat it", tabling{stale: true}),
		tabled("table-window-ignored", "mask-edge", "tokens that have left the window are stored", tabling{noWindow: true}),
		tabled("table-window-long", "mask-edge", "one token more than the window is stored", tabling{windowLong: true}),
		tabled("table-from-start", "chunk-state", "new tokens get the slots of the request's first ones",
			tabling{fromStart: true}),
		masked("mask-open", "all keys are seen", func(_ *launch, _, n, _ int) (lo, hi int) { return 0, n }),
		masked("mask-short", "the query's own key is masked", func(l *launch, p, n, q int) (lo, hi int) {
			lo, hi = visible(l, p, n, q)
			return lo, min(hi, p)
		}),
		masked("mask-top-left", "positions count from the first key", func(l *launch, p, n, q int) (lo, hi int) {
			return visible(l, p-n+q, n, q)
		}),
	}
}
