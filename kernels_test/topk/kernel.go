package topk

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// row is what a selection works on: the scores of one query as the kernel reads them, of which n are visible.
type row struct {
	scores []float32
	n, k   int
	high   bool // ties go to the higher index
}

// chooser picks the k best of n > k keys, in any order.
type chooser func(r row) []int

// quirks are what a faulty kernel does otherwise; the zero value is a correct one.
type quirks struct {
	length func(lengths []int, t, width int) int // keys that query t is taken to see
	short  func(r row) ([]int, bool)             // rows of at most k keys
	// added to the -1 of unused slots; NaN leaves them alone
	tail  float64
	pages func(table bench.Tensor, request []int, t, key, pageSize int) int // key to row of the cache
}

// kernelOf is the operator around a selection: short rows, tail, and the transform to pages where there is a table.
func kernelOf(choose chooser, q quirks) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		scores, lengths, k := a.In("scores"), a.In("lengths").Ints(), a.Int("top_k")
		out, width := a.Fresh("indices"), scores.Dim(1)
		table, request := a.In("block_table"), a.In("request").Ints()
		transform := pageOf
		if q.pages != nil {
			transform = q.pages
		}
		for t := range lengths {
			r := row{single(scores.Row(t)), lengths[t], k, a.Word("tie_break") == highest}
			if q.length != nil {
				r.n = q.length(lengths, t, width)
			}
			if r.n < 0 || r.n > width {
				return nil, fmt.Errorf("query %d has length %d in a row of %d scores", t, r.n, width)
			}
			for i := range k {
				if out[t*k+i] = -1 + q.tail; math.IsNaN(q.tail) {
					out[t*k+i] = a.Prefill("indices")
				}
			}
			for i, s := range r.choose(choose, q) {
				if a.Has("block_table") && s >= 0 {
					s = transform(table, request, t, s, a.Int("page_size"))
				}
				out[t*k+i] = float64(s)
			}
		}
		return bench.Results{"indices": out}, nil
	}
}

func (r row) choose(choose chooser, q quirks) []int {
	if r.n > r.k {
		return choose(r)
	}
	if q.short != nil {
		if chosen, ok := q.short(r); ok {
			return chosen
		}
	}
	return first(r.n)
}

// pageOf is the row of the cache by shifts and masks.
func pageOf(table bench.Tensor, request []int, t, key, size int) int {
	b := bits.TrailingZeros(uint(size))
	return int(table.Row(request[t])[key>>b])<<b | key&(size-1)
}

func first(n int) []int {
	out := make([]int, max(n, 0))
	for i := range out {
		out[i] = i
	}
	return out
}

func single(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// key is a score as an unsigned number of the same order: all bits flipped where it is negative, else the sign bit set.
// Both zeros have one key.
func key(v float32) uint32 {
	if v == 0 {
		return 1 << 31
	}
	u := math.Float32bits(v)
	if u>>31 == 1 {
		return ^u
	}
	return u | 1<<31
}

// word is key and index in one number whose order is the order of choice.
func (r row) word(i int) uint64 {
	low := ^uint32(i)
	if r.high {
		low = uint32(i)
	}
	return uint64(key(r.scores[i]))<<32 | uint64(low)
}

// index is the index in a word.
func (r row) index(w uint64) int {
	if r.high {
		return int(uint32(w))
	}
	return int(^uint32(w))
}

func (r row) words() []uint64 {
	out := make([]uint64, r.n)
	for i := range out {
		out[i] = r.word(i)
	}
	return out
}

func (r row) indices(words []uint64) []int {
	out := make([]int, len(words))
	for i, w := range words {
		out[i] = r.index(w)
	}
	return out
}
