package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// dense takes all padding away.
func dense(_ bench.Gen, p *bench.Problem) bool {
	changed := len(p.Layout) > 0
	p.Layout = map[string]bench.Layout{}
	return changed
}

var denseTwin = bench.Twin{Class: "strides", Name: "dense operands", Apply: dense}

// fixed sets an attribute that has another value; false where the case does not give it.
func fixed(attr string, v any) func(bench.Gen, *bench.Problem) bool {
	return func(_ bench.Gen, p *bench.Problem) bool {
		old, has := p.Attrs[attr]
		p.Attrs[attr] = v
		return has && old != v
	}
}

var rmsTwins = []bench.Twin{
	{Class: "eps", Name: "eps too small to matter", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		p.Attrs["norm_eps"] = 1e-30
		p.Change("x", func(_ int, v float64) float64 { return v + math.Copysign(1, v) })
		return true
	}},
	denseTwin,
	{Class: "variant", Name: "no residual", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		_, has := p.Operands["residual"]
		delete(p.Operands, "residual")
		delete(p.Layout, "residual")
		delete(p.Outputs, "residual_out")
		return has
	}},
	{Class: "layout", Name: "heads that are equal", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		x := p.Operands["x"]
		if len(x.Shape) < 3 {
			return false
		}
		h, d := x.Shape[1], x.Shape[2]
		p.Change("x", func(i int, _ float64) float64 { return x.Values[i/(h*d)*h*d+i%d] })
		return true
	}},
	{Class: "accumulation", Name: "one channel that is not 0", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		x := p.Operands["x"]
		d := x.Shape[len(x.Shape)-1]
		p.Change("x", func(i int, _ float64) float64 {
			if i%d == 0 {
				return 1.5
			}
			return 0
		})
		return true
	}},
	{Class: "scale", Name: "weights of 1", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		_, has := p.Operands["weight"]
		if has {
			p.Change("weight", func(int, float64) float64 { return 1 })
		}
		return has
	}},
}

var layerTwins = []bench.Twin{
	{Class: "eps", Name: "eps too small to matter", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		p.Attrs["norm_eps"] = 1e-30
		p.Change("x", func(_ int, v float64) float64 { return v + math.Copysign(1, v) })
		return true
	}},
	denseTwin,
	{Class: "variant", Name: "rows that are centred", Apply: func(_ bench.Gen, p *bench.Problem) bool {
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
	}},
	{Class: "accumulation", Name: "rows of ±1 that are centred", Apply: func(g bench.Gen, p *bench.Problem) bool {
		if g.Shape.Dim("width")%2 != 0 {
			return false
		}
		p.Change("x", func(i int, _ float64) float64 { return float64(1 - 2*(i%2)) })
		return true
	}},
	{Class: "offset", Name: "bias 0", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		_, has := p.Operands["bias"]
		if has {
			p.Change("bias", func(int, float64) float64 { return 0 })
		}
		return has
	}},
	{Class: "scale", Name: "weights of 1", Apply: rmsTwins[len(rmsTwins)-1].Apply},
}

// near takes the positions modulo 16, which is what any precision of an angle can tell.
func near(_ bench.Gen, p *bench.Problem) bool {
	p.Change("positions", func(_ int, v float64) float64 { return math.Mod(v, 16) })
	p.Unread = nil // other rows of a table are in use now
	return true
}

// binary makes the frequency of pair i 2^-i, without YaRN: exact in every precision, and so is its product with a
// position.
func binary(_ bench.Gen, p *bench.Problem) bool {
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
}

var ropeTwins = []bench.Twin{
	denseTwin,
	{Class: "graph", Name: "no captured graph", Apply: uncaptured},
	{Class: "accumulation", Name: "frequencies that are powers of two", Apply: binary},
	{Class: "variant", Name: "a base of 1", Apply: fixed("rope_theta", 1.0)},
	{Class: "layout", Name: "every channel turning", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		_, byTheta := p.Attrs["rope_theta"]
		d := p.Operands["x"].Shape[2]
		changed := p.Attrs.Int("rotary_dim") < d/2*2
		p.Attrs["rotary_dim"], p.Attrs["rotary_offset"] = float64(d/2*2), 0.0
		return byTheta && changed && d%2 == 0
	}},
	{Class: "pairing", Name: "one pair of channels", Apply: func(_ bench.Gen, p *bench.Problem) bool {
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
	}},
	{Class: "accumulation", Name: "positions below 16", Apply: near},
	{Class: "variant", Name: "no inverse", Apply: fixed("inverse", false)},
	{Class: "layout", Name: "one head", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		x := p.Operands["x"]
		p.Change("x", func(i int, v float64) float64 {
			if i/x.Shape[2]%x.Shape[1] > 0 {
				return 0
			}
			return v
		})
		return x.Shape[1] > 1
	}},
	{Class: "offset", Name: "angles of 0", Apply: func(_ bench.Gen, p *bench.Problem) bool {
		n := p.Attrs.Int("rotary_dim") / 2
		if c, has := p.Operands["cos_sin_cache"]; has {
			p.Change("cos_sin_cache", func(i int, _ float64) float64 { return map[bool]float64{true: 1}[i%c.Shape[1] < n] })
			return true
		}
		delete(p.Attrs, "rope_theta")
		p.Operands["inv_freq"] = bench.Floats(bench.F32, make([]float64, n), n)
		return true
	}},
}

var tableTwins = []bench.Twin{
	denseTwin,
	{Class: "scale", Name: "no amplitude", Apply: fixed("mscale", 0.0)},
	{Class: "variant", Name: "no YaRN", Apply: fixed("original_max_position", 0.0)},
	{Class: "accumulation", Name: "frequencies that are powers of two", Apply: binary},
	{Class: "variant", Name: "a base of 1", Apply: func(g bench.Gen, p *bench.Problem) bool {
		p.Attrs["original_max_position"] = 0.0
		return fixed("rope_theta", 1.0)(g, p)
	}},
	{Class: "accumulation", Name: "positions below 16", Apply: near},
	{Class: "layout", Name: "one pair", Apply: fixed("rotary_dim", 2.0)},
}

// uncaptured runs a call by itself that replayed a graph.
func uncaptured(_ bench.Gen, p *bench.Problem) bool {
	was := p.CaptureWith != nil
	p.Mode, p.CaptureWith = "", nil
	return was
}
