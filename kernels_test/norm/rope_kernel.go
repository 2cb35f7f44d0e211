package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// ropeOptions are what a kernel does otherwise: the first line changes no more than a contract allows, the rest are
// faults.
type ropeOptions struct {
	fma, quotient, exact bool

	otherPairing, otherEnd, oneHead, restZero, lastPairLost  bool
	positionOff                                              int
	byIndex, shortPosition, forward, backward, twice         bool
	otherTheta                                               float64
	thetaByWidth, frequencyBF16, tableBF16, angle32, angle64 bool
	cacheSwapped, cacheNeighbours                            bool
}

// pairAngle is the angle of pair i, as the call asks for it.
func (o ropeOptions) pairAngle(r turning, angle string, position, i, dims int) float64 {
	theta := r.theta
	if o.otherTheta != 0 {
		theta = o.otherTheta
	}
	freq := math.Pow(theta, -2*float64(i)/float64(dims))
	if o.quotient {
		freq = 1 / math.Pow(theta, 2*float64(i)/float64(dims))
	}
	if r.freq != nil {
		freq = r.freq[i]
	}
	if o.frequencyBF16 {
		freq = float64(bench.AsBF16(float32(freq)))
	}
	if angle == "float64" && !o.angle32 || o.angle64 {
		return float64(position) * freq
	}
	f := float32(freq)
	if o.quotient && r.freq == nil {
		f = 1 / float32(math.Pow(theta, float64(float32(2*i)/float32(dims))))
	}
	return float64(float32(position) * f)
}

// position of token t as the kernel takes it.
func (o ropeOptions) position(positions []int, t int) int {
	p := positions[t] + o.positionOff
	if o.byIndex {
		p = t
	}
	if o.shortPosition {
		p = int(int16(p))
	}
	return max(p, 0)
}

// cosSin of pair i for a token.
func (o ropeOptions) cosSin(r turning, angle string, position, i, width int) (cos, sin float64) {
	dims := 2 * r.pairs
	if o.thetaByWidth {
		dims = width
	}
	switch {
	case r.cache.Data == nil:
		sin, cos = math.Sincos(o.pairAngle(r, angle, position, i, dims))
	case o.cacheNeighbours:
		row := r.cache.Row(min(position, r.cache.Dim(0)-1))
		cos, sin = row[2*i], row[2*i+1]
	default:
		row := r.cache.Row(min(position, r.cache.Dim(0)-1))
		cos, sin = row[i], row[r.pairs+i]
	}
	if o.cacheSwapped && r.cache.Data != nil {
		cos, sin = sin, cos
	}
	if o.tableBF16 {
		cos, sin = float64(bench.AsBF16(float32(cos))), float64(bench.AsBF16(float32(sin)))
	}
	if r.inverse && !o.forward || o.backward && !r.inverse {
		sin = -sin
	}
	return cos, sin
}

// turn is one pair in fp32.
func (o ropeOptions) turn(u, v, cos, sin float64) (y1, y2 float64) {
	if o.exact {
		return u*cos - v*sin, u*sin + v*cos
	}
	a, b, c, s := float32(u), float32(v), float32(cos), float32(sin)
	if o.fma {
		return float64(float32(float64(a)*float64(c) - float64(float32(b*s)))),
			float64(float32(float64(a)*float64(s) + float64(float32(b*c))))
	}
	return float64(float32(a*c) - float32(b*s)), float64(float32(a*s) + float32(b*c))
}

// ropeWith is the rotation with the angle that the call asks for.
func ropeWith(o ropeOptions) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		x, positions := a.In("x"), a.In("positions").Ints()
		r := turning{
			a.Int("rotary_dim") / 2, a.Int("rotary_offset"), a.Word("pairing") == "half", a.Flag("inverse"),
			a.Num("rope_theta"), a.In("inv_freq").Data, a.In("cos_sin_cache"),
		}
		h, d := x.Dim(1), x.Dim(2)
		r.half = r.half != o.otherPairing
		if o.otherEnd {
			r.offset = d - 2*r.pairs - r.offset
		}
		y := append([]float64{}, x.Data...)
		if o.restZero {
			for i := range y {
				if c := i % d; c < r.offset || c >= r.offset+2*r.pairs {
					y[i] = 0
				}
			}
		}
		pairs := r.pairs
		if o.lastPairLost {
			pairs--
		}
		rounds := 1
		if o.twice {
			rounds = 2
		}
		for t := range positions {
			p := o.position(positions, t)
			for i := range pairs {
				first, second := r.channels(i)
				cos, sin := o.cosSin(r, a.Word("angle"), p, i, d)
				for head := range h {
					if o.oneHead && head > 0 {
						break
					}
					at := (t*h + head) * d
					for range rounds {
						y[at+first], y[at+second] = o.turn(y[at+first], y[at+second], cos, sin)
					}
				}
			}
		}
		return bench.Results{"y": y}, nil
	}
}

// tableOptions are what a kernel for tables does otherwise: the first line is allowed, the rest are faults.
type tableOptions struct {
	quotient, blendByDifference, exact bool

	positionOff, noYaRN, allDivided, rampReversed, betasSwapped, noFloor, noAmplitude, amplitudeTwice, v4Amplitude bool
	sinFirst, neighbours, bf16, frequencyBF16, angle32, otherTheta, factorInverted, uncut, cutAtPairs              bool
}

// frequency is the stretched frequency of pair i in float64.
func (o tableOptions) frequency(a bench.Attrs, i int) float64 {
	base, dims, factor := a.Num("rope_theta"), a.Num("rotary_dim"), a.Num("factor")
	if o.otherTheta {
		base *= 0.25
	}
	theta := math.Pow(base, -2*float64(i)/dims)
	if o.quotient {
		theta = 1 / math.Pow(base, 2*float64(i)/dims)
	}
	original := a.Num("original_max_position")
	if original == 0 || o.noYaRN {
		return theta
	}
	if o.factorInverted {
		factor = 1 / factor
	}
	pair := func(turns float64) float64 {
		return dims * math.Log(original/(2*math.Pi*turns)) / (2 * math.Log(base))
	}
	fast, slow := a.Num("beta_fast"), a.Num("beta_slow")
	low, high := max(math.Floor(pair(fast)), 0), min(math.Ceil(pair(slow)), dims-1)
	switch {
	case o.betasSwapped:
		low, high = max(math.Floor(pair(slow)), 0), min(math.Ceil(pair(fast)), dims-1)
	case o.noFloor:
		low, high = max(pair(fast), 0), min(pair(slow), dims-1)
	}
	switch {
	case o.uncut:
		high = math.Ceil(pair(slow))
	case o.cutAtPairs:
		high = min(high, dims/2-1)
	}
	span := high - low
	if span == 0 {
		span = 0.001
	}
	ramp := max(0, min(1, (float64(i)-low)/span))
	if o.rampReversed {
		ramp = 1 - ramp
	}
	if o.allDivided {
		ramp = 1
	}
	if o.blendByDifference {
		return theta - theta*ramp*(1-1/factor)
	}
	return theta*(1-ramp) + theta/factor*ramp
}

// amplitude multiplies cosines and sines.
func (o tableOptions) amplitude(a bench.Attrs) float64 {
	m := 1.0
	factor, mscale := a.Num("factor"), a.Num("mscale")
	if o.v4Amplitude {
		mscale = 1
	}
	if a.Num("original_max_position") > 0 && factor > 1 && !o.noAmplitude {
		m = 0.1*mscale*math.Log(factor) + 1
	}
	if o.amplitudeTwice {
		m *= m
	}
	return m
}

// tableWith is the table with the angle that the call asks for.
func tableWith(o tableOptions) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		positions, n := a.In("positions").Ints(), a.Int("rotary_dim")/2
		out := make([]float64, len(positions)*2*n)
		m := float32(o.amplitude(a.Attrs))
		for i := range n {
			f := o.frequency(a.Attrs, i)
			if o.frequencyBF16 {
				f = float64(bench.AsBF16(float32(f)))
			}
			for t, p := range positions {
				if o.positionOff {
					p++
				}
				angle := float64(p) * f
				if a.Word("angle") == "fp32" && !o.exact || o.angle32 {
					angle = float64(float32(p) * float32(f))
				}
				sin, cos := math.Sincos(angle)
				c, s := float64(float32(cos)*m), float64(float32(sin)*m)
				if o.bf16 {
					c, s = float64(bench.AsBF16(float32(c))), float64(bench.AsBF16(float32(s)))
				}
				if o.sinFirst {
					c, s = s, c
				}
				first, second := t*2*n+i, t*2*n+n+i
				if o.neighbours {
					first, second = t*2*n+2*i, t*2*n+2*i+1
				}
				out[first], out[second] = c, s
			}
		}
		return bench.Results{"cos_sin": out}, nil
	}
}
