package norm

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func slug(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func blocks(n int) bench.Summing {
	return func(v []float32) float32 {
		var s float32
		for at := 0; at < len(v); at += n {
			s += bench.Sequential(v[at:min(at+n, len(v))])
		}
		return s
	}
}

// narrow adds with an accumulator of bf16.
func narrow(v []float32) float32 {
	var s float32
	for _, x := range v {
		s = bench.AsBF16(s + x)
	}
	return s
}

// rmsOptions are what a kernel does otherwise: the first line changes no more than a contract allows, the rest are
// faults.
type rmsOptions struct {
	weightFirst, divide, steps, roundSum, exact bool

	noEps, epsOutside, epsTwice                  bool
	halfLanes, wholeVectors, wholeToken, padded  bool
	noWeight, plusOne, headWeight                bool
	noResidual, residualStale, residualSecond    bool
	residualNormalised, roundedBefore, noDivisor bool
}

// rmsNormWith is the operator in fp32.
func rmsNormWith(sum bench.Summing, o rmsOptions) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		x, w := a.In("x"), a.In("weight").Data
		d := x.Dim(len(x.Shape) - 1)
		out := bench.Results{"y": make([]float64, len(x.Data))}
		in := make([]float32, len(x.Data))
		for i, v := range x.Data {
			in[i] = float32(v)
		}
		if a.Has("residual") {
			out["residual_out"] = o.add(in, a.In("residual").Data, a.Out("residual_out").DType)
		}
		group := d
		if o.wholeToken && len(x.Shape) == 3 {
			group = d * x.Shape[1]
		}
		for at := 0; at < len(in); at += group {
			row := in[at : at+group]
			scale := o.scale(row, sum, a.Num("norm_eps"))
			for i, v := range row {
				out["y"][at+i] = o.gain(v, scale, w, i%d, (at+i)/d)
			}
		}
		if o.residualNormalised && a.Has("residual") {
			out["residual_out"] = out["y"]
		}
		return out, nil
	}
}

// add adds the residual in place and returns what is stored of the sum.
func (o rmsOptions) add(in []float32, residual []float64, dtype string) []float64 {
	stored := make([]float64, len(in))
	for i, r := range residual {
		s := in[i] + float32(r)
		if stored[i] = float64(s); o.residualStale {
			stored[i] = float64(in[i])
		}
		if o.roundSum {
			s = float32(bench.Round(dtype, float64(s)))
		}
		if o.roundedBefore {
			s = bench.AsBF16(in[i]) + bench.AsBF16(float32(r))
		}
		if !o.noResidual {
			in[i] = s
		}
		if o.residualSecond {
			in[i] = s + float32(r)
		}
	}
	return stored
}

// scale is 1/sqrt(mean(x²) + eps).
func (o rmsOptions) scale(row []float32, sum bench.Summing, eps float64) float32 {
	squares := make([]float32, len(row))
	total := 0.0
	for i, v := range row {
		squares[i] = float32(v * v)
		total += float64(v) * float64(v)
		if o.steps {
			squares[i] = bench.AsBF16(squares[i])
		}
		if o.halfLanes && i%2 == 1 || o.wholeVectors && i >= len(row)/4*4 && len(row) >= 4 {
			squares[i] = 0
		}
	}
	if o.exact {
		return float32(1 / math.Sqrt(total/float64(len(row))+eps))
	}
	n := float32(len(row))
	if o.padded {
		n = float32((len(row) + 7) / 8 * 8)
	}
	if o.noDivisor {
		n = 1
	}
	mean := sum(squares) / n
	e := float32(eps)
	switch {
	case o.steps:
		return bench.AsBF16(1 / float32(math.Sqrt(float64(bench.AsBF16(bench.AsBF16(mean)+e)))))
	case o.noEps:
		e = 0
	case o.epsTwice:
		e += e
	case o.epsOutside:
		return 1 / (float32(math.Sqrt(float64(mean))) + e)
	}
	return 1 / float32(math.Sqrt(float64(mean+e)))
}

// gain is one output.
func (o rmsOptions) gain(v, scale float32, w []float64, channel, vector int) float64 {
	var y float32
	if y = v * scale; o.divide {
		y = v / (1 / scale)
	}
	if o.steps {
		y = bench.AsBF16(y)
	}
	if w == nil || o.noWeight {
		return float64(y)
	}
	if o.headWeight {
		channel = (channel + vector) % len(w)
	}
	g := float32(w[channel])
	if o.plusOne {
		g++
	}
	if o.weightFirst {
		return float64(float32(v*g) * scale)
	}
	return float64(y * g)
}

// layerOptions are what a kernel does otherwise: the first line is allowed, the rest are faults.
type layerOptions struct {
	welford, exact bool

	notCentred, unbiased, onePass, noEps, epsOutside, noBias, biasFirst, meanBF16 bool
	noWeight, varianceAroundZero                                                  bool
}

// layerNormWith is the operator in fp32, mean and variance in two passes.
func layerNormWith(sum bench.Summing, o layerOptions) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		x, w, b := a.In("x"), a.In("weight").Data, a.In("bias").Data
		d := x.Dim(1)
		y := make([]float64, len(x.Data))
		for t := range x.Dim(0) {
			row := make([]float32, d)
			for i, v := range x.Row(t) {
				row[i] = float32(v)
			}
			mean, scale := o.moments(row, sum, a.Num("norm_eps"))
			for i, v := range row {
				z := float32(v-mean) * scale
				if o.notCentred {
					z = v * scale
				}
				if o.biasFirst && b != nil {
					z += float32(b[i])
				}
				if w != nil && !o.noWeight {
					z *= float32(w[i])
				}
				if b != nil && !o.noBias && !o.biasFirst {
					z += float32(b[i])
				}
				y[t*d+i] = float64(z)
			}
		}
		return bench.Results{"y": y}, nil
	}
}

// moments are the mean and 1/sqrt(variance + eps).
func (o layerOptions) moments(row []float32, sum bench.Summing, eps float64) (mean, scale float32) {
	n := float32(len(row))
	centred := make([]float32, len(row))
	squares := func(around float32) float32 {
		for i, v := range row {
			c := v - around
			centred[i] = float32(c * c)
		}
		return sum(centred)
	}
	var variance float32
	switch {
	case o.welford:
		for i, v := range row {
			delta := v - mean
			mean += delta / float32(i+1)
			variance += float32(delta * (v - mean))
		}
		variance /= n
	case o.exact:
		var m, s float64
		for _, v := range row {
			m += float64(v) / float64(len(row))
		}
		for _, v := range row {
			s += (float64(v) - m) * (float64(v) - m)
		}
		return float32(m), float32(1 / math.Sqrt(s/float64(len(row))+eps))
	default:
		if mean = sum(row) / n; o.meanBF16 {
			mean = bench.AsBF16(mean)
		}
		variance = squares(mean) / n
	}
	switch {
	case o.unbiased:
		variance = variance * n / (n - 1)
	case o.onePass:
		variance = max(squares(0)/n-float32(mean*mean), 0)
	case o.varianceAroundZero:
		variance = squares(0) / n
	}
	e := float32(eps)
	if o.noEps {
		e = 0
	}
	if o.epsOutside {
		return mean, 1 / (float32(math.Sqrt(float64(variance))) + e)
	}
	return mean, 1 / float32(math.Sqrt(float64(variance+e)))
}
