package sparse

import "github.com/assay-suite/assay/kernels_test/bench"

// lister is extend_rows as steps.
type lister struct {
	first    func(seq, extend, window int) int // position of the first gathered window row
	position func(seq, extend, i int) int      // of the chunk's token i
	visible  func(p, ratio, k int) int         // compressed rows that are taken
	rebase   func(selected, base float64) float64
	window   func(p, size int) int // rows of the window
	order    func(i, n int) int    // the i-th of n window rows to be written
	padding  float64
	length   func(entries, valid, width int) int // valid are entries without -1
}

func newLister() lister {
	return lister{
		first:    func(seq, extend, window int) int { return seq - min(seq, extend+window-1) },
		position: func(seq, extend, i int) int { return seq - extend + i },
		visible: func(p, ratio, k int) int {
			if ratio == 0 {
				return 0
			}
			return min((p+1)/ratio, k)
		},
		rebase: func(selected, base float64) float64 {
			if selected < 0 {
				return selected
			}
			return selected + base
		},
		window:  func(p, size int) int { return min(p+1, size) },
		order:   func(i, _ int) int { return i },
		padding: -1,
		length:  func(entries, _, _ int) int { return entries },
	}
}

func (k lister) run(a bench.Args) (bench.Results, error) {
	seq, extend := a.In("seq_len").Ints(), a.In("extend_len").Ints()
	windowBase, compressedBase := a.In("window_base").Ints(), a.In("compressed_base").Data
	selected := a.In("selected")
	topK, ratio, window := a.Int("top_k"), a.Int("ratio"), a.Int("window_size")
	out, lengths := a.Fresh("indices"), a.Fresh("topk_length")
	width := 0
	if len(lengths) > 0 {
		width = len(out) / len(lengths)
	}
	t := 0
	for b := range seq {
		first := k.first(seq[b], extend[b], window)
		for i := range extend[b] {
			p := k.position(seq[b], extend[b], i)
			row := out[t*width : (t+1)*width]
			n, valid := 0, 0
			for _, s := range selected.Row(t)[:min(k.visible(p, ratio, topK), selected.Dim(1))] {
				if s >= 0 {
					valid++
				}
				row[n] = k.rebase(s, compressedBase[b])
				n++
			}
			rows := k.window(p, window)
			for j := range rows {
				if j = k.order(j, rows); n+j < width {
					row[n+j] = float64(windowBase[b] + p - rows + 1 + j - first)
				}
			}
			n, valid = min(n+rows, width), valid+rows
			for j := n; j < width; j++ {
				row[j] = k.padding
			}
			lengths[t] = float64(k.length(n, valid, width))
			t++
		}
	}
	return bench.Results{"indices": out, "topk_length": lengths}, nil
}

func (k lister) candidate(name string) bench.Candidate {
	return bench.FromKernel(name, opExtendRows, k.run)
}
