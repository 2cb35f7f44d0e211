package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// rotation is the rotary embedding as steps, in the order in which they run.
type rotation struct {
	power  func(r rotary, i int) float64                              // inverse frequency of pair i, by theta
	angle  func(position int, frequency float64, kind string) float64 // kind is the call's attribute
	read   func(row []float64, i, pairs int) (cos, sin float64)       // from a row of cos_sin_cache
	store  func(v float64) float64                                    // a cosine or sine as a table holds it
	skip   func(head, pair, pairs int) bool                           // leaves a pair as it is
	rotate func(u, v, cos, sin float64) (float64, float64)
	rest   func(x float64) float64 // a channel that is not rotated
}

// correctRotation is the operator as it should be.
func correctRotation() rotation {
	same := func(v float64) float64 { return v }
	return rotation{
		power:  func(r rotary, i int) float64 { return math.Pow(r.theta, -2*float64(i)/float64(2*r.pairs)) },
		angle:  angleOfKind,
		read:   func(row []float64, i, pairs int) (cos, sin float64) { return row[i], row[pairs+i] },
		store:  same,
		skip:   func(int, int, int) bool { return false },
		rotate: rotateFP32,
		rest:   same,
	}
}

// angleOfKind is position · frequency as the call asks for it: in float64, or of fp32 values and rounded to fp32.
func angleOfKind(position int, frequency float64, kind string) float64 {
	if kind == "float64" {
		return float64(position) * frequency
	}
	return angleFP32(position, frequency, kind)
}

func angleFP32(position int, frequency float64, _ string) float64 {
	return float64(float32(position) * float32(frequency))
}

func angleFloat64(position int, frequency float64, _ string) float64 {
	return float64(position) * frequency
}

func rotateFP32(u, v, cos, sin float64) (float64, float64) {
	a, b, c, s := float32(u), float32(v), float32(cos), float32(sin)
	return float64(float32(a*c) - float32(b*s)), float64(float32(a*s) + float32(b*c))
}

func (k rotation) run(a bench.Args) (bench.Results, error) {
	x, r := a.In("x"), rotaryOf(a.Attrs, a.In)
	h, d := x.Dim(1), x.Dim(2)
	y := append([]float64{}, x.Data...)
	for i, v := range y {
		if c := i % d; c < r.offset || c >= r.offset+2*r.pairs {
			y[i] = k.rest(v)
		}
	}
	for t, position := range a.In("positions").Ints() {
		for i := range r.pairs {
			first, second := r.channels(i)
			cos, sin := k.cosSin(r, position, i)
			for head := range h {
				at := (t*h + head) * d
				if k.skip(head, i, r.pairs) {
					continue
				}
				y[at+first], y[at+second] = k.rotate(y[at+first], y[at+second], cos, sin)
			}
		}
	}
	return bench.Results{"y": y}, nil
}

func (k rotation) cosSin(r rotary, position, i int) (cos, sin float64) {
	switch {
	case r.cache.Data != nil:
		cos, sin = k.read(r.cache.Row(position), i, r.pairs)
	case r.freq != nil:
		sin, cos = math.Sincos(k.angle(position, r.freq[i], r.angle))
	default:
		sin, cos = math.Sincos(k.angle(position, k.power(r, i), r.angle))
	}
	if cos, sin = k.store(cos), k.store(sin); r.inverse {
		sin = -sin
	}
	return cos, sin
}

// Options that a contract allows.

// fused rounds a product and the sum that it goes into once.
func fused(k *rotation) {
	k.rotate = func(u, v, cos, sin float64) (float64, float64) {
		a, b, c, s := float32(u), float32(v), float32(cos), float32(sin)
		return float64(float32(float64(a)*float64(c) - float64(float32(b*s)))),
			float64(float32(float64(a)*float64(s) + float64(float32(b*c))))
	}
}

// exactRotation rotates in float64.
func exactRotation(k *rotation) {
	k.rotate = func(u, v, cos, sin float64) (float64, float64) { return u*cos - v*sin, u*sin + v*cos }
}

// quotient computes a frequency as 1/theta^x, in the precision of the angle.
func quotient(k *rotation) {
	k.power = func(r rotary, i int) float64 {
		if r.angle == "float64" {
			return 1 / math.Pow(r.theta, 2*float64(i)/float64(2*r.pairs))
		}
		return float64(1 / float32(math.Pow(r.theta, float64(float32(2*i)/float32(2*r.pairs)))))
	}
}
