package dense

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// exactPlants are faults of cache writes, page tables and masks.
func exactPlants() []bench.Plant {
	return slices.Concat(writerPlants(), tablerPlants(), maskerPlants())
}

// paddingStored stores a padding token's slot -1 in the last row.
func paddingStored(slot, rows, _ int) (row int, ok bool) {
	if slot < 0 {
		return rows - 1, true
	}
	return slot % rows, true
}

func pageLost(slot, rows, page int) (row int, ok bool) { return slot % page % rows, slot >= 0 }

func writerPlants() []bench.Plant {
	plant := func(name, class, effect string, change func(w *writer)) bench.Plant {
		w := newWriter()
		change(&w)
		return replacing(name, class, effect, "common cache write mistake", "kv_write", w.write)
	}
	return []bench.Plant{
		plant("write-multiplied", "scale", "values are multiplied by the scale", func(w *writer) {
			w.divide = func(x, scale float32) float32 { return x * scale }
		}),
		plant("write-scales-swapped", "scale", "k_scale and v_scale are swapped", func(w *writer) {
			w.scale = func(a bench.Args, half string, fp8 bool) float32 {
				return newWriter().scale(a, map[string]string{"k": "v", "v": "k"}[half], fp8)
			}
		}),
		plant("write-unscaled", "scale", "the scales are ignored", func(w *writer) {
			w.scale = func(bench.Args, string, bool) float32 { return 1 }
		}),
		plant("write-scaled-bf16", "scale", "the scales are applied to a cache that has none", func(w *writer) {
			w.scale = func(a bench.Args, half string, _ bool) float32 { return float32(a.Num(half + "_scale")) }
		}),
		plant("write-padding-stored", "paging", "a padding token's slot -1 wraps to the last slot", func(w *writer) {
			w.row = paddingStored
		}),
		plant("write-page-lost", "paging", "the page of a slot is dropped", func(w *writer) { w.row = pageLost }),
		plant("write-truncated", "encoding", "values are rounded towards zero", func(w *writer) {
			w.code = func(y float32) float64 { return format.E4M3FN.RoundTo(float64(y), format.RZ, format.Saturate) }
		}),
		plant("write-ties-away", "encoding", "ties go to the code of larger magnitude", func(w *writer) {
			w.code = func(y float32) float64 { // the next larger magnitude is no tie any more
				y = math.Float32frombits(math.Float32bits(y) + 1)
				return format.E4M3FN.RoundTo(float64(y), format.RN, format.Saturate)
			}
		}),
		plant("write-unsaturated", "encoding", "values beyond 448 become 0", func(w *writer) {
			code := w.code
			w.code = func(y float32) float64 {
				if y > 448 || y < -448 {
					return 0
				}
				return code(y)
			}
		}),
		plant("write-too-wide", "paging", "four elements spill into the next slot", func(w *writer) {
			w.store = func(cache []float64, row int, codes, x []float64) {
				copy(cache[row*len(codes):], codes)
				if next := (row + 1) * len(codes); next < len(cache) {
					copy(cache[next:], x[:min(4, len(x))])
				}
			}
		}),
	}
}

func tablerPlants() []bench.Plant {
	plant := func(name, class, effect string, change func(w *tabler)) bench.Plant {
		w := newTabler()
		change(&w)
		return replacing(name, class, effect, "common page table mistake", "page_table", w.build)
	}
	return []bench.Plant{
		plant("table-not-divided", "paging", "entries are slots, not pages", func(w *tabler) {
			w.entry = func(row []float64, i, page int) float64 { return row[i*page] }
		}),
		plant("table-not-strided", "paging", "entry i is the page of token i", func(w *tabler) {
			w.entry = func(row []float64, i, page int) float64 { return float64(int(row[i]) / page) }
		}),
		plant("table-rounded-down", "paging", "a partial last page is left out", func(w *tabler) {
			w.pages = func(n, page int) int { return n / page }
		}),
		plant("table-last-page-zero", "paging", "a full last page has length 0", func(w *tabler) {
			w.last = func(n, _, page int) int { return n % page }
		}),
		plant("table-row-by-request", "batch", "request b has row b", func(w *tabler) {
			w.row = func(_ []int, b int) int { return b }
		}),
		plant("table-stale", "paging", "entries beyond the last page repeat it", func(w *tabler) {
			w.beyond = func(entries []float64, i int) float64 {
				if i == 0 {
					return -1
				}
				return entries[i-1]
			}
		}),
		plant("table-window-ignored", "mask-edge", "tokens that have left the window are stored", func(w *tabler) {
			w.stored = func(int, int, int) bool { return true }
		}),
		plant("table-window-long", "mask-edge", "one token more than the window is stored", func(w *tabler) {
			w.stored = func(position, n, window int) bool { return window <= 0 || position >= n-window-1 }
		}),
		plant("table-from-start", "chunk-state", "new tokens get the slots of the request's first ones", func(w *tabler) {
			w.position = func(i, _, _ int) int { return i }
		}),
	}
}

func maskerPlants() []bench.Plant {
	plant := func(name, effect string, span func(l *launch, p, n, q int) (lo, hi int)) bench.Plant {
		return replacing(name, "mask-edge", effect, "common mask mistake", "window_mask", masker{inOrder, span}.build)
	}
	return []bench.Plant{
		plant("mask-open", "all keys are seen", func(_ *launch, _, n, _ int) (lo, hi int) { return 0, n }),
		plant("mask-short", "the query's own key is masked", func(l *launch, p, n, q int) (lo, hi int) {
			lo, hi = visible(l, p, n, q)
			return lo, min(hi, p)
		}),
		plant("mask-top-left", "positions count from the first key", func(l *launch, p, n, q int) (lo, hi int) {
			return visible(l, p-n+q, n, q)
		}),
	}
}

// rowWriterPlants are faults of the row writer.
func rowWriterPlants() []bench.Plant {
	plant := func(name, class, effect string, change func(w *rowWriter)) bench.Plant {
		w := newRowWriter()
		change(&w)
		return replacing(name, class, effect, "common cache write mistake", "mla_kv_write", w.write)
	}
	return []bench.Plant{
		plant("row-scale-of-next-group", "scale-layout", "scales are stored one group further", func(w *rowWriter) {
			w.at = func(group int) int { return (group + 1) % latentBlocks }
		}),
		plant("row-scale-inverted", "scale", "the divisor is stored in place of the factor", func(w *rowWriter) {
			w.stored = func(scale float32) float32 { return 1 / scale }
		}),
		plant("row-one-scale", "scale-layout", "all groups of a row share one scale", func(w *rowWriter) {
			w.measured = func(latent []float64, _ int) []float64 { return latent }
		}),
		plant("row-floor-missing", "eps", "a group of zeros has scale 0, and 0/0 as its codes", func(w *rowWriter) {
			w.floor = 0
		}),
		plant("row-rope-first", "layout", "the rotated part is stored before the scales", func(w *rowWriter) {
			w.scales, w.rope = latentWidth+2*ropeWidth, latentWidth
		}),
		plant("row-page-lost", "paging", "the page of a slot is dropped", func(w *rowWriter) { w.row = pageLost }),
		plant("row-padding-stored", "paging", "a padding token is stored in the last slot", func(w *rowWriter) {
			w.row = paddingStored
		}),
		plant("row-big-endian", "encoding", "scales are stored big-endian", func(w *rowWriter) {
			w.bytes = binary.BigEndian
		}),
		plant("row-truncated", "encoding", "codes are rounded towards zero", func(w *rowWriter) { w.rounding = format.RZ }),
		plant("row-scale-floored", "encoding", "scales are rounded down to a power of two", func(w *rowWriter) {
			w.power = func(s float32) float32 { return math.Float32frombits(math.Float32bits(s) >> 23 << 23) }
		}).Under("v32-fp8-ue8m0"),
	}
}
