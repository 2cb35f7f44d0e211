// Package inside runs a candidate's kernels inside a model: nano-v4 with single operators answered by a worker, so that
// a report can say "your indexer keeps 40 of 40 needles".
//
// Kernels are written for the sizes of V4-Flash and refuse others, so that nano-v4's operands can be embedded into
// those sizes (embed.go): zero channels, heads that weigh nothing, sinks of -Inf, lists filled with -1. The operator on
// the embedded operands gives the operator on the original ones, exactly but for rounding.
//
// Claimed: recall and margins with these kernels in place of the oracles, on nano-v4. Not claimed: what a larger model
// would lose; nano-v4 recalls through its compressed rows alone.
package inside

import (
	"math"

	"github.com/assay-suite/assay/oracle"
)

// Sizes are what operands are embedded into; a zero field keeps the operand's own size.
type Sizes struct {
	Heads, HeadDim       int // attention
	IndexHeads, IndexDim int // indexer
	Width                int // channels of a stream
	TopK, Window         int // entries of the two lists, at least what they hold
}

// Flash are V4-Flash's sizes (config.json: 64 heads of 512, 64 index heads of 128, 4,096 channels, top-k 512, window
// 128).
func Flash() Sizes {
	return Sizes{Heads: 64, HeadDim: 512, IndexHeads: 64, IndexDim: 128, Width: 4096, TopK: 512, Window: 128}
}

// pad puts heads of some width into more and wider ones: channels at the end of each head, where V4's rotated ones are.
func pad(m oracle.Mat, width, heads, dim int) oracle.Mat {
	out := oracle.NewMat(m.Rows, heads*dim)
	for t := range m.Rows {
		for h := range m.Cols / max(width, 1) {
			copy(out.Row(t)[h*dim+dim-width:(h+1)*dim], m.Row(t)[h*width:(h+1)*width])
		}
	}
	return out
}

// unpad takes the first n heads back.
func unpad(m oracle.Mat, width, n, dim int) oracle.Mat {
	out := oracle.NewMat(m.Rows, n*width)
	for t := range m.Rows {
		for h := range n {
			copy(out.Row(t)[h*width:(h+1)*width], m.Row(t)[h*dim+dim-width:(h+1)*dim])
		}
	}
	return out
}

func atLeast(size, own int) int { return max(size, own) }

// indexer is the embedding of the indexer's operands: heads that weigh 0, channels that are 0.
func (s Sizes) indexer(q, k, w oracle.Mat) (q2, k2, w2 oracle.Mat) {
	heads, dim := atLeast(s.IndexHeads, w.Cols), atLeast(s.IndexDim, k.Cols)
	return pad(q, k.Cols, heads, dim), pad(k, k.Cols, 1, dim), widen(w, heads)
}

// widen adds zero columns.
func widen(m oracle.Mat, cols int) oracle.Mat {
	out := oracle.NewMat(m.Rows, cols)
	for t := range m.Rows {
		copy(out.Row(t), m.Row(t))
	}
	return out
}

// attention is the embedding of attention: zero channels before the rotated ones, further heads without queries, whose
// sink is -Inf. The scale stays the original's.
func (s Sizes) attention(in oracle.AttentionInput) (out oracle.AttentionInput, width, heads int) {
	width, heads = in.Window.Cols, len(in.Sink)
	dim, all := atLeast(s.HeadDim, width), atLeast(s.Heads, heads)
	out = in
	out.Q, out.Window, out.Compressed = pad(in.Q, width, all, dim), pad(in.Window, width, 1, dim), oracle.NewMat(0, dim)
	if in.Compressed.Rows > 0 {
		out.Compressed = pad(in.Compressed, width, 1, dim)
	}
	out.Sink = make([]float64, all)
	for h := range out.Sink {
		if out.Sink[h] = math.Inf(-1); h < heads {
			out.Sink[h] = in.Sink[h]
		}
	}
	return out, width, heads
}

// lists are both lists of every query, filled with -1: window rows, then compressed ones.
func (s Sizes) lists(in oracle.AttentionInput) (window, extra [][]int) {
	most, far := 0, 0
	for t, p := range in.Positions {
		from := max(0, p-in.WindowSize+1, in.WindowStart)
		list := make([]int, 0, p-from+1)
		for pos := from; pos <= p; pos++ {
			list = append(list, pos-in.WindowStart)
		}
		window = append(window, list)
		var chosen []int
		if in.Selected != nil {
			chosen = in.Selected[t]
		}
		extra = append(extra, chosen)
		most, far = max(most, len(list)), max(far, len(chosen))
	}
	return filled(window, atLeast(s.Window, most)), filled(extra, atLeast(s.TopK, far))
}

func filled(lists [][]int, n int) [][]int {
	out := make([][]int, len(lists))
	for t, l := range lists {
		out[t] = make([]int, n)
		for i := range out[t] {
			if out[t][i] = -1; i < len(l) {
				out[t][i] = l[i]
			}
		}
	}
	return out
}

// collapse is the embedding of a hyper-connection: zero channels in every stream. The norm's mean then runs over more
// of them, so fn shrinks by the root of the ratio and its eps by the ratio; both cancel.
func (s Sizes) collapse(x, fn oracle.Mat, cfg oracle.HCConfig) (x2, fn2 oracle.Mat, cfg2 oracle.HCConfig, width int) {
	width = x.Cols / cfg.Streams
	wide := atLeast(s.Width, width)
	ratio := float64(wide) / float64(width)
	x2, fn2 = pad(x, width, cfg.Streams, wide), pad(fn, width, cfg.Streams, wide)
	for i := range fn2.Data {
		fn2.Data[i] /= math.Sqrt(ratio)
	}
	cfg.NormEps /= ratio
	return x2, fn2, cfg, width
}
