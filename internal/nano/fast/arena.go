package fast

import "github.com/assay-suite/assay/oracle"

// arena is memory for results in two halves, which layers take in turn: what a layer leaves to the next outlives it.
type arena struct {
	halves [2]half
	now    int
}

// half hands out its block front to back; memory has any content.
type half struct {
	block []float64
	used  int
}

func (a *arena) flip() {
	a.now = 1 - a.now
	a.halves[a.now].used = 0
}

func (h *half) take(n int) []float64 {
	if h.used+n > len(h.block) { // what was handed out stays with its users
		h.block, h.used = make([]float64, max(2*len(h.block), n, 1<<16)), 0
	}
	h.used += n
	return h.block[h.used-n : h.used : h.used]
}

// mat is a matrix for a result; every element is to be written.
func (s *session) mat(rows, cols int) oracle.Mat {
	if s.memory == nil {
		return oracle.NewMat(rows, cols)
	}
	return oracle.Mat{Rows: rows, Cols: cols, Data: s.memory.halves[s.memory.now].take(rows * cols)}
}
