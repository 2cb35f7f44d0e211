package gemm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle/faults"
)

// fault is a plant before it is one: quirks of loading, a change of the style, or an edit around a correct candidate.
type fault struct {
	row, name, effect, origin, class string
	on, declared                     []string
	quirks                           quirks
	style                            func(s *style)
	quant                            func(s *quantStyle)
	before                           func(c *bench.Call)
	after                            func(c bench.Call, r *bench.Reply)
}

func (f fault) plant() bench.Plant {
	p := bench.Plant{
		Name: f.name, Effect: f.effect, Origin: f.origin, Class: f.class, Row: f.row, On: f.on, Declared: f.declared,
		Build: func(contract string) (bench.Candidate, error) {
			s, err := styleOf(contract)
			if err != nil {
				return nil, err
			}
			qs := correctQuant()
			if f.style != nil {
				f.style(&s)
			}
			if f.quant != nil {
				f.quant(&qs)
			}
			ks := kernels(s, f.quirks, qs)
			c := bench.FromKernels("faulty", ks)
			if f.before != nil {
				c = bench.Before(c, f.before)
			}
			if f.after != nil {
				c = bench.After(c, f.after)
			}
			return c, nil
		},
	}
	if f.row != "" {
		if r, err := faults.ByRow(f.row); err == nil { // suite_test.go checks that every row is there
			p.Name, p.Effect, p.Origin, p.Class = r.Slug, r.Effect, r.Origin, r.Class
		}
	}
	return p
}

func plants() []bench.Plant {
	var out []bench.Plant
	for _, list := range [][]fault{rowFaults(), ownFaults(), quantFaults()} {
		for _, f := range list {
			out = append(out, f.plant())
		}
	}
	return out
}

// rowFaults are the rows of the catalogue.
func rowFaults() []fault {
	fast := numerics.HopperFP8(0)
	return []fault{
		{
			row:   "Q1",
			on:    []string{opNVFP4},
			after: paddingReaches("x_scale", func(_ bench.Call, m int) bool { return m <= 32 }),
		},
		{
			row:   "Q2",
			on:    []string{opNVFP4},
			after: paddingReaches("x_scale", func(c bench.Call, _ int) bool { return c.Phase == "decode" }),
		},
		{row: "Q3", on: []string{opGrouped, opGroupedN, opMasked}, quirks: quirks{flatExperts: true}},
		{row: "Q5", on: []string{opBatched}, quirks: quirks{flatBatch: true}},
		{row: "Q10", on: []string{opNVFP4}, quirks: quirks{inverse: true}},
		{row: "Q12", on: []string{opBlock}, quirks: quirks{bitsAsE8M0: true}},
		{row: "Q13", on: []string{opQuantFP8}, quant: func(s *quantStyle) { s.exponent = ceilLog2 }},
		{row: "Q21", on: []string{opQuantFP8}, before: maximumOfStorage},
		{row: "A1", on: []string{opFP8}, style: func(s *style) { s.tensor, s.run = &fast, 0 }},
		{row: "A2", on: []string{opBlock}, style: func(s *style) {
			s.tensor, s.run, s.carry = &fast, 32, func(v float32) float32 { return cutTo(v, 13) }
		}},
		{row: "A4", on: []string{opDense}, declared: []string{"tf32x3"}, style: func(s *style) { s.cut = true }},
		{row: "R6", on: []string{opMasked}, quirks: quirks{tile64: true}},
	}
}

// cutTo keeps some fraction bits of a value.
func cutTo(v float32, bits int) float32 {
	return math.Float32frombits(math.Float32bits(v) &^ (1<<(23-bits) - 1))
}

// paddingReaches multiplies what fills up the tiles of an operand's scales with zeros and adds it to every row.
func paddingReaches(operand string, when func(c bench.Call, m int) bool) func(c bench.Call, r *bench.Reply) {
	return func(c bench.Call, r *bench.Reply) {
		x := c.Views["x"].Shape
		m, cols := x[0], x[1]/8
		if !when(c, m) {
			return
		}
		v := c.Views[operand]
		used := map[int]bool{}
		for row := range m {
			for col := range cols {
				used[format.SwizzledOffset(row, col, cols)] = true
			}
		}
		var sum float64
		v.Each(func(i, at int) {
			if !used[i] {
				sum += 0 * c.Storage[v.Storage].Data[at]
			}
		})
		for i := range r.Outputs["y"].Data {
			r.Outputs["y"].Data[i] += sum
		}
	}
}

// maximumOfStorage takes the maximum for one scale over all memory behind x.
func maximumOfStorage(c *bench.Call) {
	if c.Attrs.Int("group_size") != 0 {
		return
	}
	top := c.Attrs.Num("amax_floor")
	for _, v := range c.Storage[c.Views["x"].Storage].Data {
		top = bench.FMax(math.Abs(v), top)
	}
	c.Attrs["amax_floor"] = top
}

// quantFaults are those of quantisers.
func quantFaults() []fault {
	both, fp, nv := []string{opQuantFP8, opQuantNV}, []string{opQuantFP8}, []string{opQuantNV}
	own := func(name, effect, class string, on []string, change func(s *quantStyle)) fault {
		return fault{name: name, effect: effect, origin: "a fault of this suite", class: class, on: on, quant: change}
	}
	return []fault{
		own("quantise-reciprocal", "elements are multiplied by the rounded reciprocal of their scale", "encoding", both,
			func(s *quantStyle) {
				s.reciprocal = true
			}),
		own("quantise-ties-away", "e4m3 ties go away from zero", "encoding", fp, func(s *quantStyle) {
			s.element = func(v float32) byte { return roundE4M3(v, math.Round) }
		}),
		own("quantise-ties-to-zero", "e2m1 ties go to the smaller magnitude", "encoding", nv, func(s *quantStyle) {
			s.narrow = func(v float32) byte { return tableE2M1(v, func(a, mid float32, _ bool) bool { return a > mid }) }
		}),
		own("quantise-truncates", "elements are cut instead of rounded", "encoding", fp, func(s *quantStyle) {
			s.element = func(v float32) byte { return roundE4M3(v, math.Trunc) }
		}),
		own("quantise-sign-of-zero", "a negative value that becomes zero loses its sign", "encoding", both,
			func(s *quantStyle) {
				element, narrow := s.element, s.narrow
				s.element = func(v float32) byte {
					if c := element(v); c != 0x80 {
						return c
					}
					return 0
				}
				s.narrow = func(v float32) byte {
					if c := narrow(v); c != 8 {
						return c
					}
					return 0
				}
			}),
		own("quantise-no-floor", "the floor of the maximum is missing", "scale", fp,
			func(s *quantStyle) { s.noFloor = true }),
		own("quantise-scale-down", "the scale is rounded down to a power of two", "encoding", fp, func(s *quantStyle) {
			s.floorScale = true
		}),
		own("quantise-bf16-first", "values are rounded to bf16 before they are quantised", "encoding", both,
			func(s *quantStyle) {
				s.bf16First = true
			}),
		own("quantise-row-scale", "one maximum serves all groups of a row", "scale-layout", fp, func(s *quantStyle) {
			s.rowScale = true
		}),
		own("quantise-short-group", "a last group that is short is not written", "unwritten", fp, func(s *quantStyle) {
			s.lostBlock = true
		}),
		own("quantise-no-global", "block scales are made without the global one", "scale", nv, func(s *quantStyle) {
			s.noTensorScale = true
		}),
		own("quantise-linear-scales", "scales are written row by row, not in tiles", "scale-layout", nv, func(s *quantStyle) {
			s.linearTiles = true
		}),
		own("quantise-padding-left", "what fills up the tiles is not cleared", "unwritten", nv, func(s *quantStyle) {
			s.padsLeft = true
		}),
		own("quantise-high-first", "the even element goes to the high nibble", "layout", nv, func(s *quantStyle) {
			s.highFirst = true
		}),
	}
}
