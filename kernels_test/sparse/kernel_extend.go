package sparse

import "github.com/assay-suite/assay/kernels_test/bench"

// extendFaults are what a faulty builder of lists does otherwise; the zero value is correct.
type extendFaults struct {
	windowOff     int  // the window has that many rows more
	visibleOff    int  // the causal bound of compressed rows counts that many tokens more: floor((p+1+off)/ratio)
	gatherOff     int  // the first gathered row is taken to hold an earlier position
	rebasedMinus  bool // -1 is moved by compressed_base
	zeroPadding   bool
	paddedLength  bool // topk_length is the list's width
	noBase        bool
	allSelected   bool // min(visible, top_k) is not taken
	chunkPosition bool // positions count from the chunk's first token
	lengthBySlot  bool // topk_length counts valid selected rows
}

// extendKernel is extend_rows; backwards builds each list from its end, which changes nothing.
func extendKernel(f extendFaults, backwards bool) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		seq, extend := a.In("seq_len").Ints(), a.In("extend_len").Ints()
		windowBase, compressedBase := a.In("window_base").Ints(), a.In("compressed_base").Ints()
		selected := a.In("selected")
		k, ratio, window := a.Int("top_k"), a.Int("ratio"), a.Int("window_size")
		out, lengths := a.Fresh("indices"), a.Fresh("topk_length")
		width := 0
		if len(lengths) > 0 {
			width = len(out) / len(lengths)
		}
		t := 0
		for b := range seq {
			start := seq[b] - min(seq[b], extend[b]+window-1) - f.gatherOff
			for i := range extend[b] {
				p := seq[b] - extend[b] + i
				visible := 0
				if f.chunkPosition {
					p = i
				}
				if ratio > 0 {
					visible = min((p+1+f.visibleOff)/ratio, k)
				}
				if f.allSelected {
					visible = k
				}
				row := out[t*width : (t+1)*width]
				n, valid := 0, 0
				for _, s := range selected.Row(t)[:min(visible, selected.Dim(1))] {
					if s >= 0 || f.rebasedMinus {
						if !f.noBase {
							s += float64(compressedBase[b])
						}
						valid++
					}
					row[n] = s
					n++
				}
				rows := min(p+1, window+f.windowOff)
				for j := range rows {
					at := j
					if backwards {
						at = rows - 1 - j
					}
					if n+at < width {
						row[n+at] = float64(windowBase[b] + p - rows + 1 + at - start)
					}
				}
				n, valid = min(n+rows, width), valid+rows
				for j := n; j < width; j++ {
					if row[j] = -1; f.zeroPadding {
						row[j] = 0
					}
				}
				lengths[t] = float64(n)
				if f.paddedLength {
					lengths[t] = float64(width)
				}
				if f.lengthBySlot {
					lengths[t] = float64(valid)
				}
				t++
			}
		}
		return bench.Results{"indices": out, "topk_length": lengths}, nil
	}
}
