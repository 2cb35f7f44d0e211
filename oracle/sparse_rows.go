package oracle

import "fmt"

// ExtendRequest is one request of a chunked prefill: its context before and with this chunk, and
// where its gathered rows lie.
type ExtendRequest struct {
	SeqLen, Extend int // tokens in all, and of them in this chunk (the last ones)
	// WindowBase is the row of the first gathered window row, which holds position SeqLen - gathered with
	// gathered = min(SeqLen, Extend+window-1). CompressedBase is the row of compressed row 0.
	WindowBase, CompressedBase int
}

// ExtendRows builds the lists of sparse attention for a chunk, as SGLang packs them: for every query,
// at absolute position p, the selected compressed rows, then its window, then -1:
//
//	selected  min(floor((p+1)/ratio), K) entries of the selection, moved by CompressedBase; -1 stays -1
//	window    min(p+1, window) rows, the last of them the query's own
//
// selected [queries]: for the requests' queries in order, at least that many logical rows each, K the
// most that are taken. ratio 0 is a layer without compressed rows. Every list has K+window entries,
// rounded up to a multiple of align. It fails on lengths that do not fit and on a selection that is too
// short or out of sight.
//
// Source: SGLang sparse_prefill_utils.py and sparse_prefill_kernels.py.
func ExtendRows(requests []ExtendRequest, selected [][]int, k, ratio, window, align int) ([][]int, error) {
	if k < 0 || ratio < 0 || window < 1 || align < 1 {
		return nil, fmt.Errorf("extend rows: k %d, ratio %d, window %d, align %d", k, ratio, window, align)
	}
	width := (k + window + align - 1) / align * align
	var out [][]int
	for i, r := range requests {
		if r.Extend < 0 || r.Extend > r.SeqLen {
			return nil, fmt.Errorf("extend rows: request %d extends by %d of %d tokens", i, r.Extend, r.SeqLen)
		}
		gatherStart := r.SeqLen - min(r.SeqLen, r.Extend+window-1)
		for p := r.SeqLen - r.Extend; p < r.SeqLen; p++ {
			row := make([]int, 0, width)
			if ratio > 0 {
				t, n := len(out), min(Visible(p, ratio), k)
				if t >= len(selected) || len(selected[t]) < n {
					return nil, fmt.Errorf("extend rows: query %d at position %d of request %d needs a selection of %d rows", t, p, i,
						n)
				}
				for _, s := range selected[t][:n] {
					if s >= Visible(p, ratio) || s < -1 {
						return nil, fmt.Errorf("extend rows: position %d of request %d selects compressed row %d of %d visible ones", p,
							i, s, Visible(p, ratio))
					}
					if s >= 0 {
						s += r.CompressedBase
					}
					row = append(row, s)
				}
			}
			for q := max(0, p-window+1); q <= p; q++ {
				row = append(row, r.WindowBase+q-gatherStart)
			}
			for len(row) < width {
				row = append(row, -1)
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// RingSlots are the slots of positions in V4's decode window, a ring of window rows: p mod window. The
// row of position p overwrites that of p-window, which has just left the window.
//
// Source: V4 inference/model.py Attention, decode.
func RingSlots(positions []int, window int) ([]int, error) {
	out := make([]int, len(positions))
	for i, p := range positions {
		if window < 1 || p < 0 {
			return nil, fmt.Errorf("ring: position %d in a window of %d", p, window)
		}
		out[i] = p % window
	}
	return out, nil
}
