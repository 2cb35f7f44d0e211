package dense

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// writing is how a write kernel goes about it, and what faulty ones do otherwise.
type writing struct {
	reciprocal, reverse bool // x · (1/scale); last token first

	otherPool, multiply, swapScales, ignoreScales, scaleAll, noPadding, pageLost, truncate, tiesAway, wrap, neighbours bool
}

// write is the kernel of kv_write.
func write(w writing) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		slot, page := a.In("slot_mapping").Ints(), a.Int("page_size")
		var pool []int
		if a.Has("full_to_swa") && !w.otherPool {
			pool = a.In("full_to_swa").Ints()
		}
		out := bench.Results{}
		for _, half := range [][3]string{{"k", "k_cache", "k_scale"}, {"v", "v_cache", "v_scale"}} {
			x, o := a.In(half[0]), a.Fresh(half[1])
			fp8 := a.Out(half[1]).DType == bench.E4M3
			scale := float32(1)
			if fp8 && !w.ignoreScales || w.scaleAll {
				scale = float32(a.Num(half[2]))
				if w.swapScales {
					scale = float32(a.Num(map[string]string{"k_scale": "v_scale", "v_scale": "k_scale"}[half[2]]))
				}
			}
			width := 1
			for _, d := range x.Shape[1:] {
				width *= d
			}
			rows := len(o) / max(width, 1)
			for i := range slot {
				t := i
				if w.reverse {
					t = len(slot) - 1 - i
				}
				at := slot[t]
				if at >= 0 && pool != nil {
					at = pool[at]
				}
				switch {
				case at < 0 && w.noPadding:
					at = rows - 1 // -1 wraps to the last slot
				case at < 0:
					continue
				}
				if w.pageLost {
					at = at % page
				}
				at %= rows
				for c, v := range x.Row(t) {
					o[at*width+c] = w.code(float32(v), scale, fp8)
				}
				if w.neighbours && at+1 < rows {
					copy(o[(at+1)*width:], x.Row(t)[:min(4, width)])
				}
			}
			out[half[1]] = o
		}
		return out, nil
	}
}

func (w writing) code(v, scale float32, fp8 bool) float64 {
	y := v / scale
	switch {
	case w.multiply:
		y = v * scale
	case w.reciprocal:
		y = v * (1 / scale)
	}
	if !fp8 {
		return float64(y)
	}
	rounding := format.RN
	if w.truncate {
		rounding = format.RZ
	}
	if w.tiesAway { // the next larger magnitude is no tie any more
		y = math.Float32frombits(math.Float32bits(y) + 1)
	}
	if w.wrap && (y > 448 || y < -448) {
		return 0
	}
	return format.E4M3FN.RoundTo(float64(y), rounding, format.Saturate)
}

// tabling is how a page table is built, and what faulty builders do otherwise.
type tabling struct {
	walk bool // token by token in place of a stride

	noDivide, noStride, floor, lastZero, wrongRow, noWindow, windowLong, stale, fromStart bool
}

// buildTable is the kernel of page_table.
func buildTable(w tabling) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		tokens, pool, lens, indptr := a.In("req_to_token"), a.In("req_pool_indices").Ints(), a.In("seq_lens").Ints(),
			a.In("qo_indptr").Ints()
		page, window := a.Int("page_size"), a.Int("window_size")
		table, counts, last, slot := a.Fresh("page_table"), a.Fresh("kv_indptr"), a.Fresh("kv_last_page_len"),
			a.Fresh("slot_mapping")
		width := a.Out("page_table").Shape[1]
		counts[0] = 0
		for b, n := range lens {
			r := pool[b]
			if w.wrongRow {
				r = b
			}
			row := tokens.Row(r)
			pages := (n + page - 1) / page
			if w.floor {
				pages = n / page
			}
			for i := range width {
				id := -1.0
				if i < pages {
					id = w.page(row, i, page)
				} else if w.stale && i > 0 {
					id = table[b*width+i-1]
				}
				table[b*width+i] = id
			}
			counts[b+1] = counts[b] + float64(pages)
			last[b] = float64(n - max(pages-1, 0)*page)
			if w.lastZero && n > 0 {
				last[b] = float64(n % page)
			}
			q := indptr[b+1] - indptr[b]
			for i := range q {
				j := n - q + i
				if w.fromStart {
					j = i
				}
				left := window
				if w.windowLong {
					left++
				}
				slot[indptr[b]+i] = row[j]
				if window > 0 && !w.noWindow && j < n-left {
					slot[indptr[b]+i] = -1
				}
			}
		}
		return bench.Results{"page_table": table, "kv_indptr": counts, "kv_last_page_len": last, "slot_mapping": slot}, nil
	}
}

func (w tabling) page(row []float64, i, page int) float64 {
	at := i * page
	if w.noStride {
		at = i
	}
	if w.walk {
		id := 0
		for j := 0; j <= at; j++ {
			id = int(row[j]) / page
		}
		return float64(id)
	}
	if w.noDivide {
		return row[at]
	}
	return float64(int(row[at]) / page)
}

// masking builds a mask from ranges: from and to of a query at a position.
func masking(span func(l *launch, p, n, q int) (lo, hi int), byKey bool) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		l := &launch{
			indptr: a.In("qo_indptr").Ints(),
			lens:   a.In("seq_lens").Ints(),
			causal: a.Flag("causal"),
			left:   a.Int("window_left"),
			right:  a.Int("window_right"),
		}
		mask, width := a.Fresh("mask"), a.Out("mask").Shape[1]
		for i := range mask {
			mask[i] = 0
		}
		for b, n := range l.lens {
			q := l.indptr[b+1] - l.indptr[b]
			for i := range q {
				lo, hi := span(l, l.at(b, i), n, q)
				row := mask[(l.indptr[b]+i)*width : (l.indptr[b]+i+1)*width]
				for j := range row {
					if byKey {
						j = width - 1 - j
					}
					if j >= lo && j < hi {
						row[j] = 1
					}
				}
			}
		}
		return bench.Results{"mask": mask}, nil
	}
}

// visible is the range of a correct mask.
func visible(l *launch, p, n, _ int) (lo, hi int) {
	lo, hi = l.window(p, n, l.left, l.right)
	return lo, min(hi, n)
}
