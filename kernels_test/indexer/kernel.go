package indexer

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// style is how a correct kernel computes a logit in fp32.
type style struct {
	dot   dotter
	heads bench.Summing
	fold  fold // where the key's scale is multiplied in
	// what is rounded to bf16: the scaled key, dot products, terms, the sum over heads
	keyBF16, dotBF16, termBF16, sumBF16 bool
	tile                                int  // keys a tile, 0 for all
	backwards                           bool // last tile first
}

// fold says where the scale of a key goes.
type fold int

const (
	foldSum  fold = iota // after the sum over heads (V3.2's demo)
	foldTerm             // into every term
	foldKey              // into the key, before the dot product
	foldDot              // into the dot product, before relu
	foldHalf             // after the sums of two halves of the heads, which are added then (DeepGEMM's lanes)
)

// launch is a call as a kernel sees it: rows of queries, keys by physical row, and which of them a query scores.
type launch struct {
	q, w       [][]float32 // [T][H·D], [T][H]
	heads, dim int
	keys       [][]float32
	scale      []float32
	lo, hi     []int // keys of row t: lo <= j < hi
	at         func(t, j int) int
	column     func(t, j int) int
	cols       int
	clean      bool

	// what faulty kernels do otherwise
	relu   func(x float32) float32
	whole  func(x float32) float32 // after the sum over heads
	weight func(t, h int) float32
	fill   float64
	keyed  func(t, j int) bool // keys that are scored at all
}

// edit changes a launch before it runs.
type edit func(a bench.Args, l *launch)

func relu(x float32) float32 {
	if x < 0 {
		return 0
	}
	return x
}

func same(x float32) float32 { return x }

// run is the kernel on a launch.
func run(a bench.Args, l *launch, st style, edits []edit) (bench.Results, error) {
	for _, e := range edits {
		e(a, l)
	}
	logits := a.Fresh("logits")
	for t := range l.q {
		if n := l.hi[t] - l.lo[t]; n > 0 && l.column(t, l.hi[t]-1) >= l.cols {
			return nil, fmt.Errorf("query %d sees keys [%d, %d), the result has %d columns", t, l.lo[t], l.hi[t], l.cols)
		}
		row := logits[t*l.cols : (t+1)*l.cols]
		if l.clean {
			for i := range row {
				row[i] = l.fill
			}
		}
		for _, j := range walk(l.lo[t], l.hi[t], st) {
			if l.keyed(t, j) {
				row[l.column(t, j)] = float64(l.logit(t, l.at(t, j), st))
			}
		}
	}
	return bench.Results{"logits": logits}, nil
}

// walk lists the keys of a row tile by tile.
func walk(lo, hi int, st style) []int {
	tile := st.tile
	if tile == 0 {
		tile = max(hi-lo, 1)
	}
	out := make([]int, 0, max(hi-lo, 0))
	tiles := (hi - lo + tile - 1) / tile
	for i := range tiles {
		at := i
		if st.backwards {
			at = tiles - 1 - i
		}
		for j := lo + at*tile; j < min(lo+(at+1)*tile, hi); j++ {
			out = append(out, j)
		}
	}
	return out
}

// logit is one logit of query row t and physical key row at.
func (l *launch) logit(t, at int, st style) float32 {
	k, s := l.keys[at], l.scale[at]
	if st.fold == foldKey || st.keyBF16 {
		scaled := make([]float32, len(k))
		for i, x := range k {
			if scaled[i] = x * s; st.keyBF16 {
				scaled[i] = bf16(scaled[i])
			}
		}
		k, s = scaled, 1
	}
	var buffer [64]float32
	terms := buffer[:0]
	for h := range l.heads {
		dot := st.dot(l.q[t][h*l.dim:(h+1)*l.dim], k)
		if st.fold == foldDot {
			dot *= s
		}
		if st.dotBF16 {
			dot = bf16(dot)
		}
		term := l.relu(dot) * l.weight(t, h)
		if st.fold == foldTerm {
			term *= s
		}
		if st.termBF16 {
			term = bf16(term)
		}
		terms = append(terms, term)
	}
	var sum float32
	switch st.fold {
	case foldHalf:
		n := len(terms) / 2
		sum = float32(l.whole(st.heads(terms[:n]))*s) + st.heads(terms[n:])*s
	case foldSum:
		sum = l.whole(st.heads(terms)) * s
	default:
		sum = l.whole(st.heads(terms))
	}
	if st.sumBF16 {
		sum = bf16(sum)
	}
	return sum
}

func (l *launch) defaults() *launch {
	l.relu, l.whole, l.fill = relu, same, math.Inf(-1)
	l.weight = func(t, h int) float32 { return l.w[t][h] }
	l.keyed = func(int, int) bool { return true }
	return l
}

// rows are the rows of a tensor's first axes as fp32.
func rows(t bench.Tensor, n int) [][]float32 {
	out := make([][]float32, n)
	if n == 0 {
		return out
	}
	width := len(t.Data) / n
	for i := range out {
		out[i] = narrow(t.Data[i*width : (i+1)*width])
	}
	return out
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// raggedKernel is indexer_logits.
func raggedKernel(st style, edits ...edit) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		q, k := a.In("q"), a.In("k")
		l := (&launch{
			q: rows(q, q.Dim(0)), w: rows(a.In("weights"), q.Dim(0)), heads: q.Dim(1), dim: q.Dim(2), keys: rows(k, k.Dim(0)),
			lo: a.In("start").Ints(), hi: a.In("end").Ints(), cols: a.Out("logits").Shape[1], clean: a.Flag("clean_logits"),
			at: func(_, j int) int { return j }, column: func(_, j int) int { return j },
		}).defaults()
		if a.Int("max_seqlen_k") > 0 {
			l.column = func(t, j int) int { return j - l.lo[t] }
		}
		if l.scale = narrow(a.In("ks").Data); !a.Has("ks") {
			l.scale = ones(k.Dim(0))
		}
		return run(a, l, st, edits)
	}
}

func ones(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// pagedKernel is indexer_logits_paged on pages read by a codec.
func pagedKernel(st style, c codec, edits ...edit) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		q, table, page := a.In("q"), a.In("block_table"), a.Int("page_size")
		n, t := q.Dim(1), q.Dim(0)*q.Dim(1)
		entries, width := table.Ints(), table.Dim(1)
		l := (&launch{
			q: rows(q, t), w: rows(a.In("weights"), t), heads: q.Dim(2), dim: q.Dim(3),
			lo: make([]int, t), hi: a.In("context_lens").Ints(), cols: a.Out("logits").Shape[1], clean: a.Flag("clean_logits"),
			at:     func(t, j int) int { return entries[t/n*width+j/page]*page + j%page },
			column: func(_, j int) int { return j },
		}).defaults()
		l.keys, l.scale = c.pool(a.In("pages"), a.Word("page_format"), page, q.Dim(3))
		return run(a, l, st, edits)
	}
}
