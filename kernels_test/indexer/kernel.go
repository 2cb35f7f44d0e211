package indexer

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// kernel computes logits in steps.
type kernel struct {
	dotFP8, dotBF16 bench.Dot[float32] // of a query head with a key, by the dtype of the queries
	heads           bench.Summing
	walk            func(lo, hi int) []int // keys of a query, in the order in which they are scored

	// Where the scale of a key is multiplied in: each step returns what is left of it for the next ones.
	key    func(k []float32, s float32) (scaled []float32, left float32)
	onDot  func(dot, s float32) (scaled, left float32) // before relu
	onTerm func(term, s float32) (scaled, left float32)
	total  func(k kernel, l *launch, terms []float32, s float32) float32

	roundDot, roundTerm, roundSum func(v float32) float32

	codec codec
	edits []edit
}

// change makes a kernel another correct one, or a faulty one.
type change = func(k *kernel)

// correct multiplies a key's scale in after the sum over heads (V3.2's demo).
func correct(changes ...change) kernel {
	unscaled := func(v, s float32) (scaled, left float32) { return v, s }
	k := kernel{
		heads:  bench.Sequential,
		walk:   bench.Span,
		key:    func(k []float32, s float32) ([]float32, float32) { return k, s },
		onDot:  unscaled,
		onTerm: unscaled,
		total: func(k kernel, l *launch, terms []float32, s float32) float32 {
			return l.whole(k.heads(terms)) * s
		},
		roundDot:  same,
		roundTerm: same,
		roundSum:  same,
		codec:     correctCodec(),
	}
	dots(bench.DotSequential[float32])(&k)
	for _, c := range changes {
		c(&k)
	}
	return k
}

// following is what a contract asks for to the letter.
func following(contract string) change {
	return func(k *kernel) {
		switch contract {
		case "fp32-bitwise":
			dots(dotFour)(k)
		case "hopper-fp8":
			k.dotFP8 = bench.DotUnder[float32](numerics.HopperFP8(0))
			k.dotBF16 = bench.DotUnder[float32](numerics.HopperBF16())
		case "bf16-dot":
			keysInBF16(k)
			k.roundDot = bench.AsBF16
		case "v4-reference":
			keysInBF16(k)
			k.roundDot, k.roundTerm, k.roundSum = bench.AsBF16, bench.AsBF16, bench.AsBF16
		}
	}
}

// dots computes all dot products in one way.
func dots(d bench.Dot[float32]) change { return func(k *kernel) { k.dotFP8, k.dotBF16 = d, d } }

// scaledKeys multiplies the scale into the key, and rounds.
func scaledKeys(round func(float32) float32) change {
	return func(k *kernel) {
		k.key = func(k []float32, s float32) ([]float32, float32) {
			out := make([]float32, len(k))
			for i, x := range k {
				out[i] = round(x * s)
			}
			return out, 1
		}
	}
}

func keysInBF16(k *kernel) { scaledKeys(bench.AsBF16)(k) }

// scaled is a step that multiplies what is left of the scale in.
func scaled(v, s float32) (out, left float32) { return v * s, 1 }

// launch is a call as a kernel sees it: rows of queries, keys by physical row, and which of them a query scores.
type launch struct {
	q, w       [][]float32 // [T][H·D], [T][H]
	heads, dim int
	keys       [][]float32
	scale      []float32
	dot        bench.Dot[float32]
	lo, hi     []int // keys of row t: lo <= j < hi
	at         func(t, j int) int
	column     func(t, j int) int
	cols       int
	clean      bool

	relu   func(x float32) float32
	whole  func(x float32) float32 // the sum over heads
	weight func(t, h int) float32
	fill   float64             // of keys that a query does not see
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

// run computes the logits of a launch.
func (k kernel) run(a bench.Args, l *launch) (bench.Results, error) {
	l.relu, l.whole, l.fill = relu, same, math.Inf(-1)
	l.weight = func(t, h int) float32 { return l.w[t][h] }
	l.keyed = func(int, int) bool { return true }
	if l.dot = k.dotBF16; a.DType("q") == bench.E4M3 {
		l.dot = k.dotFP8
	}
	for _, e := range k.edits {
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
		for _, j := range k.walk(l.lo[t], l.hi[t]) {
			if l.keyed(t, j) {
				row[l.column(t, j)] = float64(k.logit(l, t, l.at(t, j)))
			}
		}
	}
	return bench.Results{"logits": logits}, nil
}

// logit is one logit of query row t and physical key row at.
func (k kernel) logit(l *launch, t, at int) float32 {
	key, s := k.key(l.keys[at], l.scale[at])
	var buffer [64]float32
	terms, left := buffer[:0], s
	for h := range l.heads {
		var dot, term float32
		dot, left = k.onDot(l.dot(l.q[t][h*l.dim:(h+1)*l.dim], key), s)
		term, left = k.onTerm(l.relu(k.roundDot(dot))*l.weight(t, h), left)
		terms = append(terms, k.roundTerm(term))
	}
	return k.roundSum(k.total(k, l, terms, left))
}

// kernels are both forms of the logits.
func (k kernel) kernels() map[string]bench.Kernel {
	return map[string]bench.Kernel{raggedOp: k.ragged, pagedOp: k.paged}
}

// ragged is indexer_logits.
func (k kernel) ragged(a bench.Args) (bench.Results, error) {
	q, keys := a.In("q"), a.In("k")
	l := &launch{
		q: rows(q, q.Dim(0)), w: rows(a.In("weights"), q.Dim(0)), heads: q.Dim(1), dim: q.Dim(2),
		keys: rows(keys, keys.Dim(0)), scale: bench.Float32s(a.In("ks").Data),
		lo: a.In("start").Ints(), hi: a.In("end").Ints(), cols: a.Out("logits").Shape[1], clean: a.Flag("clean_logits"),
		at: func(_, j int) int { return j }, column: func(_, j int) int { return j },
	}
	if a.Int("max_seqlen_k") > 0 {
		l.column = func(t, j int) int { return j - l.lo[t] }
	}
	if !a.Has("ks") {
		l.scale = make([]float32, keys.Dim(0))
		for i := range l.scale {
			l.scale[i] = 1
		}
	}
	return k.run(a, l)
}

// paged is indexer_logits_paged.
func (k kernel) paged(a bench.Args) (bench.Results, error) {
	q, table, page := a.In("q"), a.In("block_table"), a.Int("page_size")
	n, t := q.Dim(1), q.Dim(0)*q.Dim(1)
	entries, width := table.Ints(), table.Dim(1)
	l := &launch{
		q: rows(q, t), w: rows(a.In("weights"), t), heads: q.Dim(2), dim: q.Dim(3),
		lo: make([]int, t), hi: a.In("context_lens").Ints(), cols: a.Out("logits").Shape[1], clean: a.Flag("clean_logits"),
		at:     func(t, j int) int { return entries[t/n*width+j/page]*page + j%page },
		column: func(_, j int) int { return j },
	}
	l.keys, l.scale = k.codec.pool(a.In("pages"), a.Word("page_format"), page, q.Dim(3))
	return k.run(a, l)
}

// rows are the rows of a tensor's first axes as fp32.
func rows(t bench.Tensor, n int) [][]float32 {
	out := make([][]float32, n)
	if n == 0 {
		return out
	}
	width := len(t.Data) / n
	for i := range out {
		out[i] = bench.Float32s(t.Data[i*width : (i+1)*width])
	}
	return out
}
