package llama

import (
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/assay-suite/assay/oracle"
)

// block is how many queries of a head are scored with one matrix product.
const block = 64

// attention is causal attention over the cache, head h on key head h·G div H with scale 1/sqrt(d): q [T, H·d]
// stands at positions start to start+T-1, and the cache ends with the last of them. Result [T, H·d]. It is
// oracle.GQA on blocks of queries.
func (m *Model) attention(q oracle.Mat, c cache, start int) oracle.Mat {
	heads := m.Config.Heads
	out := oracle.NewMat(q.Rows, q.Cols)
	next := make(chan [2]int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), heads) {
		wg.Go(func() {
			for job := range next {
				m.attend(out, q, c, start, job[0], job[1])
			}
		})
	}
	for from := 0; from < q.Rows; from += block {
		for h := range heads {
			next <- [2]int{h, from}
		}
	}
	close(next)
	wg.Wait()
	return out
}

// attend fills head h of the rows from and after, one block of them.
func (m *Model) attend(out, q oracle.Mat, c cache, start, h, from int) {
	d, g := m.Config.HeadDim, h*m.Config.KVHeads/m.Config.Heads
	rows := min(block, q.Rows-from)
	visible := start + from + rows // keys that the block's last query sees
	k, v := c.k[g].Slice(0, visible), c.v[g].Slice(0, visible)
	z := oracle.NewMat(rows, visible)
	part := func(x oracle.Mat) blas64.General {
		return blas64.General{Rows: rows, Cols: d, Stride: x.Cols, Data: x.Data[from*x.Cols+h*d:]}
	}
	whole := func(x oracle.Mat) blas64.General {
		return blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: x.Data}
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1/math.Sqrt(float64(d)), part(q), whole(k), 0, whole(z))
	for t := range rows {
		row := z.Row(t)
		softmax(row[:visible-rows+t+1])
		clear(row[visible-rows+t+1:])
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, whole(z), whole(v), 0, part(out))
}

func softmax(z []float64) {
	largest, total := math.Inf(-1), 0.0
	for _, v := range z {
		largest = math.Max(largest, v)
	}
	for i, v := range z {
		z[i] = math.Exp(v - largest)
		total += z[i]
	}
	for i := range z {
		z[i] /= total
	}
}
