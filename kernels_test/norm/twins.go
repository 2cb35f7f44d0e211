package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// twin neutralises a feature without random numbers.
func twin(class, name string, apply func(p *bench.Problem) bool) bench.Twin {
	return bench.Twin{Class: class, Name: name, Apply: func(_ bench.Gen, p *bench.Problem) bool { return apply(p) }}
}

var (
	epsTwin = twin("eps", "eps too small to matter", func(p *bench.Problem) bool {
		p.Attrs["norm_eps"] = 1e-30
		p.Change("x", func(_ int, v float64) float64 { return v + math.Copysign(1, v) })
		return true
	})
	weightTwin = bench.Level("scale", "weights of 1", 1, "weight")
)

var rmsTwins = []bench.Twin{
	epsTwin,
	bench.Dense(),
	bench.Lacking("variant", "no residual", "residual", "residual_out"),
	twin("layout", "heads that are equal", func(p *bench.Problem) bool {
		x := p.Operands["x"]
		if len(x.Shape) < 3 {
			return false
		}
		h, d := x.Shape[1], x.Shape[2]
		p.Change("x", func(i int, _ float64) float64 { return x.Values[i/(h*d)*h*d+i%d] })
		return true
	}),
	twin("accumulation", "one channel that is not 0", func(p *bench.Problem) bool {
		x := p.Operands["x"]
		d := x.Shape[len(x.Shape)-1]
		p.Change("x", func(i int, _ float64) float64 {
			if i%d == 0 {
				return 1.5
			}
			return 0
		})
		return true
	}),
	weightTwin,
}

var layerTwins = []bench.Twin{
	epsTwin,
	bench.Dense(),
	twin("variant", "rows that are centred", func(p *bench.Problem) bool {
		x := p.Operands["x"]
		d := x.Shape[1]
		p.Change("x", func(i int, _ float64) float64 {
			if at := i % d; at >= d/2*2 {
				return 0
			} else if at%2 == 1 {
				return -x.Values[i-1]
			}
			return x.Values[i]
		})
		return true
	}),
	twin("accumulation", "rows of ±1 that are centred", func(p *bench.Problem) bool {
		if p.In("x").Dim(1)%2 != 0 {
			return false
		}
		p.Change("x", func(i int, _ float64) float64 { return float64(1 - 2*(i%2)) })
		return true
	}),
	bench.Level("offset", "bias 0", 0, "bias"),
	weightTwin,
}

// near takes the positions modulo 16, which is what any precision of an angle can tell.
var near = twin("accumulation", "positions below 16", func(p *bench.Problem) bool {
	p.Change("positions", func(_ int, v float64) float64 { return math.Mod(v, 16) })
	p.Unread = nil // other rows of a table are in use now
	return true
})

// binary makes the frequency of pair i 2^-i, without YaRN: exact in every precision, and so is its product with a
// position.
var binary = twin("accumulation", "frequencies that are powers of two", func(p *bench.Problem) bool {
	n := p.Attrs.Int("rotary_dim") / 2
	if f, has := p.Operands["inv_freq"]; has {
		p.Change("inv_freq", func(i int, _ float64) float64 { return math.Ldexp(1, -i) })
		return len(f.Values) > 0
	}
	_, byTheta := p.Attrs["rope_theta"]
	if _, yarn := p.Attrs["original_max_position"]; yarn {
		p.Attrs["original_max_position"] = 0.0
	}
	p.Attrs["rope_theta"] = math.Ldexp(1, n)
	return byTheta && n > 0
})

var ropeTwins = []bench.Twin{
	bench.Dense(),
	bench.Eager(),
	binary,
	bench.Fixed("variant", "a base of 1", bench.Attrs{"rope_theta": 1.0}),
	twin("layout", "every channel rotated", func(p *bench.Problem) bool {
		_, byTheta := p.Attrs["rope_theta"]
		d := p.Operands["x"].Shape[2]
		changed := p.Attrs.Int("rotary_dim") < d/2*2
		p.Attrs["rotary_dim"], p.Attrs["rotary_offset"] = float64(d/2*2), 0.0
		return byTheta && changed && d%2 == 0
	}),
	twin("pairing", "one pair of channels", onePair),
	near,
	bench.Fixed("variant", "no inverse", bench.Attrs{"inverse": false}),
	twin("layout", "one head", func(p *bench.Problem) bool {
		x := p.Operands["x"]
		p.Change("x", func(i int, v float64) float64 {
			if i/x.Shape[2]%x.Shape[1] > 0 {
				return 0
			}
			return v
		})
		return x.Shape[1] > 1
	}),
	twin("offset", "angles of 0", func(p *bench.Problem) bool {
		n := p.Attrs.Int("rotary_dim") / 2
		if c, has := p.Operands["cos_sin_cache"]; has {
			p.Change("cos_sin_cache", func(i int, _ float64) float64 {
				if i%c.Shape[1] < n {
					return 1
				}
				return 0
			})
			return true
		}
		delete(p.Attrs, "rope_theta")
		p.Operands["inv_freq"] = bench.Floats(bench.F32, make([]float64, n), n)
		return true
	}),
}

// onePair rotates the first pair alone, with its frequency or its columns of the table.
func onePair(p *bench.Problem) bool {
	e, offset := p.Attrs.Int("rotary_dim"), p.Attrs.Int("rotary_offset")
	d := p.Operands["x"].Shape[2]
	if e <= 2 {
		return false
	}
	p.Attrs["rotary_dim"] = 2.0
	if offset > 0 || e == d {
		p.Attrs["rotary_offset"] = float64(d - 2)
	}
	if f, has := p.Operands["inv_freq"]; has {
		p.Operands["inv_freq"] = bench.Operand{DType: f.DType, Shape: []int{1}, Values: f.Values[:1]}
	}
	if c, has := p.Operands["cos_sin_cache"]; has {
		var values []float64
		for row := range c.Shape[0] {
			values = append(values, c.Values[row*e], c.Values[row*e+e/2])
		}
		p.Operands["cos_sin_cache"] = bench.Operand{DType: c.DType, Shape: []int{c.Shape[0], 2}, Values: values}
		delete(p.Unread, "cos_sin_cache")
	}
	return true
}

var tableTwins = []bench.Twin{
	bench.Dense(),
	bench.Fixed("scale", "no amplitude", bench.Attrs{"mscale": 0.0}),
	bench.Fixed("variant", "no YaRN", bench.Attrs{"original_max_position": 0.0}),
	binary,
	bench.Fixed("variant", "a base of 1", bench.Attrs{"original_max_position": 0.0, "rope_theta": 1.0}),
	near,
	bench.Fixed("layout", "one pair", bench.Attrs{"rotary_dim": 2.0}),
}
