package checkpoint

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How much of a tensor the distribution checks read: inner channels of an expert, and columns of each.
const (
	channels = 256
	breadth  = 1024
)

// profile is what is kept of the decoded corners of an expert: logarithms of norms over its first inner
// channels i.
type profile struct {
	stem       string // "layers.1.ffn.experts.3."
	w1, w2, w3 weight
	gate, up   []float64 // log2 of the norms of the rows of w1 and of w3
	down       []float64 // log2 of the norms of the columns of w2
	size       [3]float64
	order      [3]float64 // z of the nibble order of w1, w2, w3; 0 where it is not tested
}

// profiles reads the experts, routed and shared. They are independent, so that each processor takes one.
func (p *patient) profiles(ctx context.Context, progress func(Progress)) ([]*profile, error) {
	var all []*profile
	for _, t := range p.tensors {
		stem, ok := strings.CutSuffix(t.canon, "w1.weight")
		if !ok || !strings.Contains(stem, ".ffn.") {
			continue
		}
		e := &profile{stem: stem}
		var ok1, ok2, ok3 bool
		e.w1, ok1 = p.weightIn(t)
		e.w2, ok2 = p.weightIn(p.byCanon[stem+"w2.weight"])
		e.w3, ok3 = p.weightIn(p.byCanon[stem+"w3.weight"])
		if ok1 && ok2 && ok3 && e.w1.rows == e.w3.rows && e.w1.cols == e.w3.cols && e.w2.cols == e.w1.rows {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *profile) int { return strings.Compare(a.stem, b.stem) })
	var next, done atomic.Int64
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	started := time.Now()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(all) {
					return
				}
				err := ctx.Err()
				if err == nil {
					err = p.fill(all[i])
				}
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				stop := failed != nil
				if !stop {
					tell(progress, "distribution", done.Add(1), int64(len(all)), started)
				}
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wg.Wait()
	return all, failed
}

func (p *patient) fill(e *profile) error {
	w1, err := e.w1.corner(channels, breadth)
	if err != nil {
		return err
	}
	w3, err := e.w3.corner(channels, breadth)
	if err != nil {
		return err
	}
	w2, err := e.w2.corner(breadth, channels)
	if err != nil {
		return err
	}
	n := min(w1.rows, w3.rows, w2.cols)
	e.gate, e.up, e.down = rowNorms(w1)[:n], rowNorms(w3)[:n], columnNorms(w2)[:n]
	for i, m := range []matrix{w1, w2, w3} {
		e.size[i] = logRMS(m)
	}
	return p.orders(e, w1, w3)
}

// tiny keeps the logarithm of a dead channel finite: 2^-160 is below the square of anything stored.
const tiny = 0x1p-320

func rowNorms(m matrix) []float64 {
	out := make([]float64, m.rows)
	for r := range out {
		s := tiny
		for _, v := range m.row(r) {
			s += v * v
		}
		out[r] = math.Log2(s) / 2
	}
	return out
}

func columnNorms(m matrix) []float64 {
	out := make([]float64, m.cols)
	for r := range m.rows {
		for c, v := range m.row(r) {
			out[c] += v * v
		}
	}
	for c, s := range out {
		out[c] = math.Log2(s+tiny) / 2
	}
	return out
}

// logRMS is log2 of the root mean square.
func logRMS(m matrix) float64 {
	s := tiny
	for _, v := range m.data {
		s += v * v
	}
	return math.Log2(s/float64(max(1, len(m.data)))) / 2
}

func differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// gaps is the difference within each pair of neighbours 2j, 2j+1: what a swapped nibble order negates.
func gaps(a []float64) []float64 {
	out := make([]float64, len(a)/2)
	for j := range out {
		out[j] = a[2*j] - a[2*j+1]
	}
	return out
}
