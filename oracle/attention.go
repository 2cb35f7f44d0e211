package oracle

import "math"

// AttentionInput is one layer's attention over the sliding window and the compressed rows. Key and
// value are the same row (V4's shared latent), all rows are already rotated.
type AttentionInput struct {
	Q         Mat   // [T, H·D], rotated
	Positions []int // [T], absolute

	Window      Mat // [R, D]: raw rows of consecutive positions
	WindowStart int // absolute position of Window's first row
	WindowSize  int // rows a query sees: positions max(0, p-WindowSize+1) .. p

	Compressed Mat     // [S, D]
	Selected   [][]int // [T]: indices of compressed rows, e.g. the indexer's selection; nil = none

	Sink  []float64 // [H]: enters the denominator only, not scaled
	Scale float64   // D^-½
}

// Attention computes, per query and head over the rows i of window and selection:
//
//	z_i = scale <q, kv_i>    m = max_i z_i
//	o   = sum_i exp(z_i - m) kv_i / (sum_i exp(z_i - m) + exp(sink - m))
//
// Result [T, H·D]. A query with no row at all gives 0 whatever the sink (FlashMLA tests/ref.py).
//
// Source: V4 inference/kernel.py sparse_attn.
func Attention(in AttentionInput) Mat {
	out := NewMat(in.Q.Rows, in.Q.Cols)
	in.each(func(t, h int, rows [][]float64, p []float64) {
		width := len(rows[0])
		o := out.Row(t)[h*width : (h+1)*width]
		for i, row := range rows {
			axpy(p[i], row, o)
		}
	})
	return out
}

// AttentionWeights is the probability of every row in Attention: [H·T, R+S], row h·T+t, window rows
// first, 0 where the query does not look. The sink's share is missing from each row's sum.
func AttentionWeights(in AttentionInput) Mat {
	heads := len(in.Sink)
	out := NewMat(heads*in.Q.Rows, in.Window.Rows+in.Compressed.Rows)
	in.each(func(t, h int, _ [][]float64, p []float64) {
		first, last := in.windowRows(t)
		row := out.Row(h*in.Q.Rows + t)
		copy(row[first:last], p)
		if in.Selected != nil {
			for i, s := range in.Selected[t] {
				row[in.Window.Rows+s] = p[last-first+i]
			}
		}
	})
	return out
}

// windowRows is the range of Window rows that query t sees.
func (in AttentionInput) windowRows(t int) (first, last int) {
	last = in.Positions[t] - in.WindowStart + 1
	return max(0, last-in.WindowSize), last
}

// each calls body once per query and head with the rows it attends to and their probabilities.
func (in AttentionInput) each(body func(t, h int, rows [][]float64, p []float64)) {
	heads := len(in.Sink)
	width := in.Q.Cols / heads
	parallel(in.Q.Rows, 4, func(from, to int) {
		var rows [][]float64
		var p []float64
		for t := from; t < to; t++ {
			rows = rows[:0]
			first, last := in.windowRows(t)
			for i := first; i < last; i++ {
				rows = append(rows, in.Window.Row(i))
			}
			if in.Selected != nil {
				for _, s := range in.Selected[t] {
					rows = append(rows, in.Compressed.Row(s))
				}
			}
			if len(rows) == 0 {
				continue
			}
			for h := range heads {
				q := in.Q.Row(t)[h*width : (h+1)*width]
				p = p[:0]
				top := math.Inf(-1)
				for _, row := range rows {
					z := in.Scale * dot(q, row)
					p = append(p, z)
					top = math.Max(top, z)
				}
				sum := math.Exp(in.Sink[h] - top)
				for i, z := range p {
					p[i] = math.Exp(z - top)
					sum += p[i]
				}
				for i := range p {
					p[i] /= sum
				}
				body(t, h, rows, p)
			}
		}
	})
}
