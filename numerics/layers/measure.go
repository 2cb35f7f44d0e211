package layers

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
)

// Layer is one step of a stack: the state [rows, width] after layer l, counted from 0, given the state before it. It
// must not change x or keep it, and must be safe for concurrent use.
type Layer func(l int, x []float64) ([]float64, error)

// Plan says what stack to measure.
type Plan struct {
	Depth, Rows int
	Start       []float64 // [rows, width]: the state before the first layer
	// size of the probe against the state; 0 is 2^-20, between float64's rounding and the stack's curvature
	Probe float64
	Seed  uint64 // of the probe's direction
}

// Measure runs the exact stack and every candidate layer by layer, all at the same depth at the same time, so that
// weights made on demand are made once and no state is kept longer than a layer. The reports are in the order of the
// candidates and do not depend on the number of processors.
func (p Plan) Measure(exact Layer, candidates ...Layer) ([]Result, error) {
	if p.Depth < 1 || p.Rows < 1 || len(p.Start) == 0 || len(p.Start)%p.Rows != 0 {
		return nil, fmt.Errorf("a plan of %d layers with a start of %d values in %d rows: want at least 1 layer and full "+
			"rows", p.Depth, len(p.Start), p.Rows)
	}
	if exact == nil || len(candidates) == 0 {
		return nil, errors.New("measuring a stack needs an exact layer and at least one candidate")
	}
	golden, probed := p.Start, Perturb(p.Start, p.Rows, p.probe(), p.Seed)
	free := make([][]float64, len(candidates))
	reports := make([]Result, len(candidates))
	for i := range reports {
		free[i] = p.Start
		reports[i] = Result{Local: newCurve(p.Rows), Free: newCurve(p.Rows)}
	}
	for l := range p.Depth {
		next, err := exact(l, golden)
		if err != nil {
			return nil, fmt.Errorf("layer %d of the exact stack: %w", l+1, err)
		}
		nextProbed, err := exact(l, probed)
		if err != nil {
			return nil, fmt.Errorf("layer %d of the probed stack: %w", l+1, err)
		}
		gain, err := Gains(p.Rows, golden, probed, [][]float64{next}, [][]float64{nextProbed})
		if err != nil {
			return nil, err
		}
		err = each(len(candidates), func(i int) error {
			r := &reports[i]
			r.Gain = append(r.Gain, gain[0])
			local, err := candidates[i](l, golden)
			if err != nil {
				return fmt.Errorf("layer %d of candidate %d: %w", l+1, i, err)
			}
			if free[i], err = candidates[i](l, free[i]); err != nil {
				return fmt.Errorf("layer %d of candidate %d, free-running: %w", l+1, i, err)
			}
			return errors.Join(r.Local.add(local, next), r.Free.add(free[i], next))
		})
		if err != nil {
			return nil, err
		}
		golden, probed = next, resized(next, nextProbed, p.probe())
	}
	return reports, nil
}

func (p Plan) probe() float64 {
	if p.Probe == 0 {
		return 0x1p-20
	}
	return p.Probe
}

// resized returns base plus the difference of probed from it, scaled to size times base: the direction goes on through
// the stack, while its length neither drowns in float64's rounding nor leaves what is linear (Benettin et al.,
// Meccanica 15, 1980).
func resized(base, probed []float64, size float64) []float64 {
	var d2, b2 float64
	for i, v := range base {
		d2, b2 = d2+(probed[i]-v)*(probed[i]-v), b2+v*v
	}
	scale := size * math.Sqrt(b2/d2)
	out := make([]float64, len(base))
	for i, v := range base {
		out[i] = v + scale*(probed[i]-v)
	}
	return out
}

// Perturb returns x [rows, width] with a random direction added to every row, size times as long as the row.
func Perturb(x []float64, rows int, size float64, seed uint64) []float64 {
	out := append([]float64(nil), x...)
	if rows < 1 {
		return out
	}
	width := len(x) / rows
	rng := rand.New(rand.NewPCG(seed, 0x70726f6265)) // "probe"
	for r := range rows {
		row := x[r*width : (r+1)*width]
		direction := make([]float64, width)
		var d2, x2 float64
		for i, v := range row {
			direction[i] = rng.NormFloat64()
			d2, x2 = d2+direction[i]*direction[i], x2+v*v
		}
		for i, d := range direction {
			out[r*width+i] += d * size * math.Sqrt(x2/d2)
		}
	}
	return out
}

// each calls body for 0 to n-1 on as many goroutines as there are processors.
func each(n int, body func(i int) error) error {
	errs := make([]error, n)
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				errs[i] = body(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
