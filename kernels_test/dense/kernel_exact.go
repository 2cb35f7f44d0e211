package dense

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics/format"
)

// inOrder and fromTheEnd are orders in which a kernel goes through n things.
func inOrder(i, _ int) int { return i }

func fromTheEnd(i, n int) int { return n - 1 - i }

// writer is the kernel of kv_write, as steps.
type writer struct {
	token  func(i, n int) int                                // the i-th token to be written
	pool   func(a bench.Args) []int                          // full_to_swa, nil where slots are its own
	row    func(slot, rows, page int) (row int, ok bool)     // where a slot lies; false: nowhere
	scale  func(a bench.Args, half string, fp8 bool) float32 // half is k or v
	divide func(x, scale float32) float32
	code   func(y float32) float64 // y in e4m3
	store  func(cache []float64, row int, codes, x []float64)
}

func newWriter() writer {
	return writer{
		token: inOrder,
		pool: func(a bench.Args) []int {
			if !a.Has("full_to_swa") {
				return nil
			}
			return a.In("full_to_swa").Ints()
		},
		row: ownRow,
		scale: func(a bench.Args, half string, fp8 bool) float32 {
			if !fp8 {
				return 1
			}
			return float32(a.Num(half + "_scale"))
		},
		divide: func(x, scale float32) float32 { return x / scale },
		code:   func(y float32) float64 { return format.E4M3FN.RoundTo(float64(y), format.RN, format.Saturate) },
		store:  func(cache []float64, row int, codes, _ []float64) { copy(cache[row*len(codes):], codes) },
	}
}

// ownRow is the row of a slot; a padding token has slot -1.
func ownRow(slot, rows, _ int) (row int, ok bool) { return slot % rows, slot >= 0 }

func (w writer) write(a bench.Args) (bench.Results, error) {
	slots, page, pool := a.In("slot_mapping").Ints(), a.Int("page_size"), w.pool(a)
	out := bench.Results{}
	for _, half := range []string{"k", "v"} {
		name := half + "_cache"
		x, o := a.In(half), a.Fresh(name)
		fp8 := a.Out(name).DType == bench.E4M3
		scale := w.scale(a, half, fp8)
		codes := make([]float64, bench.View{Shape: x.Shape[1:]}.Len())
		rows := len(o) / max(len(codes), 1)
		for i := range slots {
			t := w.token(i, len(slots))
			slot := slots[t]
			if slot >= 0 && pool != nil {
				slot = pool[slot]
			}
			row, ok := w.row(slot, rows, page)
			if !ok {
				continue
			}
			for c, v := range x.Row(t) {
				y := w.divide(float32(v), scale)
				codes[c] = float64(y)
				if fp8 {
					codes[c] = w.code(y)
				}
			}
			w.store(o, row, codes, x.Row(t))
		}
		out[name] = o
	}
	return out, nil
}

// tabler is the kernel of page_table, as steps.
type tabler struct {
	row      func(pools []int, b int) int             // of req_to_token
	pages    func(n, page int) int                    // of n tokens
	entry    func(row []float64, i, page int) float64 // page i
	beyond   func(entries []float64, i int) float64   // an entry behind the last page
	last     func(n, pages, page int) int             // tokens of the last page
	position func(i, q, n int) int                    // of new token i of q, of n in all
	stored   func(position, n, window int) bool       // whether a new token has a slot
}

func newTabler() tabler {
	return tabler{
		row:      func(pools []int, b int) int { return pools[b] },
		pages:    func(n, page int) int { return (n + page - 1) / page },
		entry:    func(row []float64, i, page int) float64 { return float64(int(row[i*page]) / page) },
		beyond:   func([]float64, int) float64 { return -1 },
		last:     func(n, pages, page int) int { return n - max(pages-1, 0)*page },
		position: func(i, q, n int) int { return n - q + i },
		stored:   func(position, n, window int) bool { return window <= 0 || position >= n-window },
	}
}

func (w tabler) build(a bench.Args) (bench.Results, error) {
	tokens, pools, lens, indptr := a.In("req_to_token"), a.In("req_pool_indices").Ints(), a.In("seq_lens").Ints(),
		a.In("qo_indptr").Ints()
	page, window := a.Int("page_size"), a.Int("window_size")
	table, counts, last, slots := a.Fresh("page_table"), a.Fresh("kv_indptr"), a.Fresh("kv_last_page_len"),
		a.Fresh("slot_mapping")
	width := a.Out("page_table").Shape[1]
	counts[0] = 0
	for b, n := range lens {
		row, pages, entries := tokens.Row(w.row(pools, b)), w.pages(n, page), table[b*width:(b+1)*width]
		for i := range entries {
			if i < pages {
				entries[i] = w.entry(row, i, page)
			} else {
				entries[i] = w.beyond(entries, i)
			}
		}
		counts[b+1] = counts[b] + float64(pages)
		last[b] = float64(w.last(n, pages, page))
		q := indptr[b+1] - indptr[b]
		for i := range q {
			j := w.position(i, q, n)
			slots[indptr[b]+i] = -1
			if w.stored(j, n, window) {
				slots[indptr[b]+i] = row[j]
			}
		}
	}
	return bench.Results{"page_table": table, "kv_indptr": counts, "kv_last_page_len": last, "slot_mapping": slots}, nil
}

// masker is the kernel of window_mask, as steps.
type masker struct {
	key  func(j, width int) int                    // the j-th column to be written
	span func(l *launch, p, n, q int) (lo, hi int) // keys that a query at position p sees, of n with q queries
}

func newMasker() masker { return masker{inOrder, visible} }

func (w masker) build(a bench.Args) (bench.Results, error) {
	l := &launch{
		indptr: a.In("qo_indptr").Ints(),
		lens:   a.In("seq_lens").Ints(),
		causal: a.Flag("causal"),
		left:   a.Int("window_left"),
		right:  a.Int("window_right"),
	}
	mask, width := a.Fresh("mask"), a.Out("mask").Shape[1]
	clear(mask)
	for b, n := range l.lens {
		q := l.indptr[b+1] - l.indptr[b]
		for i := range q {
			lo, hi := w.span(l, l.at(b, i), n, q)
			row := mask[(l.indptr[b]+i)*width : (l.indptr[b]+i+1)*width]
			for j := range row {
				if j = w.key(j, width); j >= lo && j < hi {
					row[j] = 1
				}
			}
		}
	}
	return bench.Results{"mask": mask}, nil
}

// visible is the range of a correct mask.
func visible(l *launch, p, n, _ int) (lo, hi int) {
	lo, hi = l.window(p, n, l.left, l.right)
	return lo, min(hi, n)
}
