package oracle

import (
	"math"
	"runtime"
	"sync"
)

// Mat is a dense row-major matrix in float64: element (i, j) is Data[i*Cols+j].
type Mat struct {
	Rows, Cols int
	Data       []float64
}

// NewMat returns a zero matrix [rows, cols].
func NewMat(rows, cols int) Mat {
	return Mat{Rows: rows, Cols: cols, Data: make([]float64, rows*cols)}
}

// Row is row i, sharing memory; its capacity ends with the row.
func (m Mat) Row(i int) []float64 {
	return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols]
}

// Slice is rows [from, to), sharing memory; appending to it never writes into the rows after it.
func (m Mat) Slice(from, to int) Mat {
	return Mat{Rows: to - from, Cols: m.Cols, Data: m.Data[from*m.Cols : to*m.Cols : to*m.Cols]}
}

// Clone is a deep copy.
func (m Mat) Clone() Mat {
	return Mat{Rows: m.Rows, Cols: m.Cols, Data: append([]float64(nil), m.Data...)}
}

// Append returns m with the rows of n below it. As with the built-in append, spare capacity of m
// is used, so only the owner of the newest value may append to it.
func (m Mat) Append(n Mat) Mat {
	cols := m.Cols
	if m.Rows == 0 {
		cols = n.Cols
	}
	return Mat{Rows: m.Rows + n.Rows, Cols: cols, Data: append(m.Data, n.Data...)}
}

// MaxAbs is the largest magnitude in m, 0 when m is empty, NaN when an element is NaN.
func (m Mat) MaxAbs() float64 {
	largest := 0.0
	for _, v := range m.Data {
		largest = math.Max(largest, math.Abs(v))
	}
	return largest
}

// parallel calls body on contiguous ranges that cover [0, n), on as many goroutines as there are
// processors. Rows are independent, so the split never changes a result. small is the range below
// which starting goroutines costs more than it saves.
func parallel(n, small int, body func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), n/max(small, 1))
	if workers <= 1 {
		body(0, n)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { body(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
}
