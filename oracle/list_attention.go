package oracle

import "math"

// RowList is one cache and the rows of it that every query attends to.
type RowList struct {
	Rows    Mat     // [S, D]: a flat or a paged cache (Paged.Rows)
	Indices [][]int // [T]: rows; an index below 0 or from S on is no row and is skipped
	Lengths []int   // [T]: entries of Indices that count (topk_length), nil for all
}

// ListAttentionInput is sparse attention over explicit lists of rows: V4's window and compressed
// caches, each with its own list, or V3.2's one list of 2,048 latent rows.
type ListAttentionInput struct {
	Q      Mat // [T, H·D]
	Heads  int
	Lists  []RowList
	Values int       // leading channels of a row that are its value (V3.2: 512 of 576), 0 for all
	Sink   []float64 // [H], nil for none
	Scale  float64
}

// ListAttention attends over the concatenated lists. Results: the output [T, H·Values], the log-sum-exp of the scaled
// scores without the sink in the given form [T, H], and the largest scaled score [T, H], -Inf where there is no row. A
// duplicate row counts as often as it is listed. A query without any row gives 0 whatever the sink; a NaN in a listed
// row reaches the results of its queries alone. Rows that no list names are never read.
//
// Source: FlashMLA tests/ref.py and flash_mla_interface.py.
func ListAttention(in ListAttentionInput, form LSEForm) (o, lse, top Mat) {
	state, best := in.attend(0, 1)
	merged := merge([]PartialState{state}, in.Sink, form)
	o = Mat{Rows: in.Q.Rows, Cols: in.Heads * state.O.Cols, Data: merged.O.Data}
	return o, Mat{Rows: in.Q.Rows, Cols: in.Heads, Data: merged.LSE}, best
}

// ListSplits cuts the entries of every query, all lists in a row, into equal contiguous parts and
// attends to each on its own: part i holds entries [i·n/parts, (i+1)·n/parts), so a cut may run
// through a list or be empty. States are without the sink, in natural logarithms.
func ListSplits(in ListAttentionInput, parts int) []PartialState {
	out := make([]PartialState, parts)
	for i := range out {
		out[i], _ = in.attend(i, parts)
	}
	return out
}

// attend is part i of parts. The state's rows are t·H+h.
func (in ListAttentionInput) attend(i, parts int) (PartialState, Mat) {
	width := in.Q.Cols / in.Heads
	values := in.Values
	if values == 0 {
		values = width
	}
	s := PartialState{O: NewMat(in.Q.Rows*in.Heads, values), LSE: make([]float64, in.Q.Rows*in.Heads)}
	top := NewMat(in.Q.Rows, in.Heads)
	parallel(in.Q.Rows, 4, func(from, to int) {
		for t := from; t < to; t++ {
			entries := in.entries(t)
			var rows [][]float64
			for _, row := range entries[i*len(entries)/parts : (i+1)*len(entries)/parts] {
				if row != nil {
					rows = append(rows, row)
				}
			}
			z := make([]float64, len(rows))
			for h := range in.Heads {
				q := in.Q.Row(t)[h*width : (h+1)*width]
				best := math.Inf(-1)
				for r, row := range rows {
					z[r] = in.Scale * dot(q, row)
					best = math.Max(best, z[r])
				}
				n := t*in.Heads + h
				top.Data[n], s.LSE[n] = best, LogSumExp(z, LSEForm{})
				for r, row := range rows {
					if !math.IsInf(z[r], -1) {
						axpy(math.Exp(z[r]-s.LSE[n]), row[:values], s.O.Row(n))
					}
				}
			}
		}
	})
	return s, top
}

// entries are the listed rows of query t, nil for an entry that is no row.
func (in ListAttentionInput) entries(t int) [][]float64 {
	var out [][]float64
	for _, l := range in.Lists {
		n := len(l.Indices[t])
		if l.Lengths != nil {
			n = min(n, l.Lengths[t])
		}
		for _, s := range l.Indices[t][:n] {
			if s < 0 || s >= l.Rows.Rows {
				out = append(out, nil)
			} else {
				out = append(out, l.Rows.Row(s))
			}
		}
	}
	return out
}

// Lists is the same attention as explicit lists: the window first, then the selection.
func (in AttentionInput) Lists() ListAttentionInput {
	window := RowList{Rows: in.Window, Indices: make([][]int, in.Q.Rows)}
	for t := range in.Q.Rows {
		first, last := in.windowRows(t)
		for i := first; i < last; i++ {
			window.Indices[t] = append(window.Indices[t], i)
		}
	}
	lists := []RowList{window}
	if in.Selected != nil {
		lists = append(lists, RowList{Rows: in.Compressed, Indices: in.Selected})
	}
	return ListAttentionInput{Q: in.Q, Heads: len(in.Sink), Lists: lists, Sink: in.Sink, Scale: in.Scale}
}
