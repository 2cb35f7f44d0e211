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

// kernel is the operator in steps.
type kernel struct {
	length func(lengths []int, t, width int) int // keys that query t sees
	choose chooser                               // of rows with more keys than slots
	short  chooser                               // of the others
	unused func(prefill float64) float64         // what a slot without a key holds
	// page is the row of the cache that a key lies in, where the call has a page table.
	page func(table bench.Tensor, request []int, t, key, pageSize int) int
}

// correct sorts each row; changes make it another correct kernel, or a faulty one.
func correct(changes ...func(k *kernel)) kernel {
	k := kernel{
		length: func(lengths []int, t, _ int) int { return lengths[t] },
		choose: bySort,
		short:  func(r row) []int { return first(r.n) },
		unused: func(float64) float64 { return -1 },
		page:   pageOf,
	}
	for _, change := range changes {
		change(&k)
	}
	return k
}

// candidate runs the kernel for both operators.
func (k kernel) candidate(name string) bench.Candidate {
	return bench.FromKernels(name, map[string]bench.Kernel{opTopK: k.run, opPages: k.run})
}

func (k kernel) run(a bench.Args) (bench.Results, error) {
	scores, lengths, slots := a.In("scores"), a.In("lengths").Ints(), a.Int("top_k")
	table, request := a.In("block_table"), a.In("request").Ints()
	out, width := a.Fresh("indices"), scores.Dim(1)
	for i := range out {
		out[i] = k.unused(out[i])
	}
	for t := range lengths {
		r := row{bench.Float32s(scores.Row(t)), k.length(lengths, t, width), slots, a.Word("tie_break") == highest}
		if r.n < 0 || r.n > width {
			return nil, fmt.Errorf("query %d has length %d in a row of %d scores", t, r.n, width)
		}
		choose := k.choose
		if r.n <= r.k {
			choose = k.short
		}
		for i, s := range choose(r) {
			if a.Has("block_table") && s >= 0 {
				s = k.page(table, request, t, s, a.Int("page_size"))
			}
			out[t*slots+i] = float64(s)
		}
	}
	return bench.Results{"indices": out}, nil
}

// pageOf is the row of the cache by shifts and masks.
func pageOf(table bench.Tensor, request []int, t, key, size int) int {
	b := bits.TrailingZeros(uint(size))
	return int(table.Row(request[t])[key>>b])<<b | key&(size-1)
}

// first are keys 0 .. n-1.
func first(n int) []int { return bench.Span(0, n) }

// key is a score as an unsigned number of the same order. Both zeros have one key.
func key(v float32) uint32 {
	if v == 0 {
		return ordered(0)
	}
	return ordered(v)
}

// ordered are the bits of a score as an unsigned number of the same order, -0 below +0: all of them flipped where it is
// negative, else the sign bit set.
func ordered(v float32) uint32 {
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
