package served

import (
	"math"
	"math/rand/v2"

	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// site is a kind of value that is rounded; each has a factor of its own.
type site uint64

const (
	weight  site = iota
	result       // of an operator
	input        // of a quantised product
	row          // of the cache
	key          // of the index
	product      // the input of a product in fp32, so that its sums are redrawn as well
)

// gauge is the factors of a seed.
type gauge uint64

// factor is in [1, 2), and 1 for seed 0; n tells values of one kind apart.
func (g gauge) factor(s site, n int) float64 {
	if g == 0 {
		return 1
	}
	return 1 + rand.New(rand.NewPCG(uint64(g), uint64(s)<<32+uint64(n))).Float64()
}

// round rounds x in place, multiplied by c.
func round(x []float64, f format.Format, c float64) {
	if c == 1 {
		f.RoundSlice(x)
		return
	}
	for i := range x {
		x[i] *= c
	}
	f.RoundSlice(x)
	for i := range x {
		x[i] /= c
	}
}

// block is columns [from, from+width) of x quantised and decoded, multiplied by c, in place; NaN where the recipe does
// not fit, which New excludes. amax is the magnitude that a tensor scale is taken from.
func block(x oracle.Mat, from, width int, r format.Recipe, amax float32, c float64) {
	narrow := make([]float32, x.Rows*width)
	for t := range x.Rows {
		for i, v := range x.Row(t)[from : from+width] {
			narrow[t*width+i] = float32(v * c)
		}
	}
	wide, err := decoded(narrow, x.Rows, width, r, amax)
	for t := range x.Rows {
		for i := range width {
			if x.Row(t)[from+i] = math.NaN(); err == nil {
				x.Row(t)[from+i] = wide[t*width+i] / c
			}
		}
	}
}

// decoded is x [rows, cols] quantised and read back.
func decoded(x []float32, rows, cols int, r format.Recipe, amax float32) ([]float64, error) {
	q, err := r.QuantiseShared(x, rows, cols, amax)
	if err != nil {
		return nil, err
	}
	return r.Block.Decode(q)
}

// silu is the gate of an expert.
func silu(x float64) float64 { return x / (1 + math.Exp(-x)) }
