package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// yarnArgs are the attributes of the stretch.
type yarnArgs struct{ base, dims, original, fast, slow float64 }

// pair is the pair that makes so many turns over the trained context, fractional.
func (y yarnArgs) pair(turns float64) float64 {
	return y.dims * math.Log(y.original/(2*math.Pi*turns)) / (2 * math.Log(y.base))
}

// span is the range of pairs over which frequencies are blended.
func (y yarnArgs) span() (low, high float64) {
	return y.cut(math.Floor(y.pair(y.fast)), math.Ceil(y.pair(y.slow)))
}

// cut is a range of pairs cut off at rotary_dim - 1.
func (y yarnArgs) cut(low, high float64) (float64, float64) { return max(low, 0), min(high, y.dims-1) }

// table is the rotary table as steps, in the order in which they run.
type table struct {
	power     func(base, dims float64, i int) float64
	span      func(y yarnArgs) (low, high float64)
	blend     func(theta, factor, ramp float64) float64
	store     func(frequency float64) float64
	amplitude func(a bench.Attrs) float64
	angle     func(position int, frequency float64, kind string) float64 // kind is the call's attribute
	place     func(i, pairs int) (cos, sin int)                          // element of a row
}

// correctTable is the operator as it should be.
func correctTable() table {
	return table{
		power:     func(base, dims float64, i int) float64 { return math.Pow(base, -2*float64(i)/dims) },
		span:      yarnArgs.span,
		blend:     blended,
		store:     func(frequency float64) float64 { return frequency },
		amplitude: amplitude,
		angle:     angleOfKind,
		place:     func(i, pairs int) (cos, sin int) { return i, pairs + i },
	}
}

func blended(theta, factor, ramp float64) float64 { return theta*(1-ramp) + theta/factor*ramp }

// amplitude multiplies cosines and sines.
func amplitude(a bench.Attrs) float64 {
	if a.Num("original_max_position") > 0 && a.Num("factor") > 1 {
		return 0.1*a.Num("mscale")*math.Log(a.Num("factor")) + 1
	}
	return 1
}

// frequency is the stretched frequency of pair i in float64.
func (k table) frequency(a bench.Attrs, i int) float64 {
	y := yarnArgs{
		a.Num("rope_theta"), a.Num("rotary_dim"), a.Num("original_max_position"), a.Num("beta_fast"), a.Num("beta_slow"),
	}
	theta := k.power(y.base, y.dims, i)
	if y.original == 0 {
		return theta
	}
	low, high := k.span(y)
	width := high - low
	if width == 0 {
		width = 0.001
	}
	return k.blend(theta, a.Num("factor"), max(0, min(1, (float64(i)-low)/width)))
}

func (k table) run(a bench.Args) (bench.Results, error) {
	positions, n := a.In("positions").Ints(), a.Int("rotary_dim")/2
	out := make([]float64, len(positions)*2*n)
	m := float32(k.amplitude(a.Attrs))
	for i := range n {
		f := k.store(k.frequency(a.Attrs, i))
		c, s := k.place(i, n)
		for t, position := range positions {
			sin, cos := math.Sincos(k.angle(position, f, a.Word("angle")))
			out[t*2*n+c], out[t*2*n+s] = float64(float32(cos)*m), float64(float32(sin)*m)
		}
	}
	return bench.Results{"cos_sin": out}, nil
}

// Options that a contract allows.

func tableQuotient(k *table) {
	k.power = func(base, dims float64, i int) float64 { return 1 / math.Pow(base, 2*float64(i)/dims) }
}

// byDifference blends by what a frequency loses.
func byDifference(k *table) {
	k.blend = func(theta, factor, ramp float64) float64 { return theta - theta*ramp*(1-1/factor) }
}

// inFloat64 takes the angle in float64, whatever is declared.
func inFloat64(k *table) { k.angle = angleFloat64 }
