package fast

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/assay-suite/assay/oracle"
)

// group is how many rows the matrix kernel takes at once; tiles are multiples of it.
const group = 6

// largestTile keeps the operands of a tile in the first caches.
const largestTile = 8 * group

// scratch is one worker's memory: fp32 operands and results of a tile. Slices are kept between tiles and calls.
type scratch struct {
	a, c, d, e, g []float32
	idx           []int32
	f             []float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// floats returns n values of a kept buffer, of any content.
func floats(buf *[]float32, n int) []float32 {
	if cap(*buf) < n {
		*buf = make([]float32, n+n/2)
	}
	return (*buf)[:n]
}

// tiles calls body for tiles of rows that cover [0, n), on as many goroutines as there are processors: the caller's and
// helpers, which take the next tile when they are done with one. Rows are independent, so neither the size of a tile
// nor who takes it changes a result.
func tiles(n int, body func(s *scratch, from, to int)) {
	workers := runtime.GOMAXPROCS(0)
	if n <= group || workers == 1 {
		s, _ := scratches.Get().(*scratch)
		for from := 0; from < n; from += largestTile {
			body(s, from, min(from+largestTile, n))
		}
		scratches.Put(s)
		return
	}
	size := min(largestTile, roundUp(max(n/(4*workers), 1), group))
	var next atomic.Int64
	work := func() {
		s, _ := scratches.Get().(*scratch)
		for {
			from := int(next.Add(1)-1) * size
			if from >= n {
				break
			}
			body(s, from, min(from+size, n))
		}
		scratches.Put(s)
	}
	var wg sync.WaitGroup
	for range min(workers, (n+size-1)/size) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// narrow converts to fp32, rounding to nearest even.
func narrow(dst []float32, src []float64) {
	n := 0
	if simd {
		if n = len(src) &^ 7; n > 0 {
			narrowAVX2(&dst[0], &src[0], n)
		}
	}
	for i := n; i < len(src); i++ {
		dst[i] = float32(src[i])
	}
}

// widen converts to float64, exactly.
func widen(dst []float64, src []float32) {
	n := 0
	if simd {
		if n = len(dst) &^ 7; n > 0 {
			widenAVX2(&dst[0], &src[0], n)
		}
	}
	for i := n; i < len(dst); i++ {
		dst[i] = float64(src[i])
	}
}

// rowsOf converts rows [from, to) of x to fp32, with rows of zeros up to a multiple of group.
func (s *scratch) rowsOf(x oracle.Mat, from, to int) []float32 {
	n := (to - from) * x.Cols
	a := floats(&s.a, padded(to-from)*x.Cols)
	narrow(a[:n], x.Data[from*x.Cols:to*x.Cols])
	clear(a[n:])
	return a
}

// padded is how many rows a matrix product of n rows reads and writes: one alone, else whole groups.
func padded(n int) int {
	if n == 1 {
		return 1
	}
	return roundUp(n, group)
}
