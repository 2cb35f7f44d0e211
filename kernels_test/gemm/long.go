package gemm

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// withLong adds rows with one dimension at a time beyond every tile, to the extents that ship: rows, columns (7,168 of
// V3.2, and 2,880 of gpt-oss, which no tile of 128 divides), depth, and experts of one device.
func withLong(families []bench.Family) []bench.Family {
	for i, f := range families {
		var shapes []bench.Shape
		switch f.Op {
		case opGrouped, opGroupedN, opMasked:
			shapes = longExperts()
		case opQuantFP8:
			shapes = []bench.Shape{quant(257, 32, 32, fmtUE8M0), quant(1, 7168, 128, fmtUE8M0), quant(1, 2880, 128, fmtUE8M0)}
		case opQuantNV:
			shapes = slices.Concat(sweep(0, 16, nil, 257), sweep(0, 7168, nil, 1), sweep(0, 2880, nil, 1))
		case opBlock:
			shapes = append(longPlain(), dims("m2-n256-k256", 2, 256, 256))
		case opBatched:
			for _, s := range longPlain() {
				s.Dims["b"] = 2
				shapes = append(shapes, s)
			}
			shapes = append(shapes, dims("b33-m1-n2-k32", 1, 2, 32, "b", 33))
		default:
			shapes = longPlain()
		}
		f.Scenarios = append(slices.Clip(f.Scenarios), bench.Scenario{
			ID: "long", Why: "one dimension at a time beyond every tile, to the extents that ship; the last of a depth counts",
			Shapes: shapes, Change: lastCounts, Contracts: map[string][]string{opDense: denseWidely}[f.Op],
		})
		if slices.ContainsFunc(f.Scenarios, func(s bench.Scenario) bool { return s.Phase != "" }) {
			f.Scenarios[len(f.Scenarios)-1].Phase = "prefill"
		}
		families[i] = f
	}
	return families
}

func longPlain() []bench.Shape {
	return []bench.Shape{
		dims("m257-n2-k32", 257, 2, 32), dims("m1-n7168-k32", 1, 7168, 32), dims("m1-n2880-k32", 1, 2880, 32),
		dims("m1-n2-k7168", 1, 2, 7168), dims("m1-n2-k2880", 1, 2, 2880),
	}
}

func longExperts() []bench.Shape {
	return []bench.Shape{
		experts(3, 257, 2, 32, 1), experts(2, 1, 7168, 32, 1), experts(2, 1, 2880, 32, 1), experts(2, 2, 2, 7168, 1),
		experts(2, 2, 256, 256, 1),
		experts(2, 2, 2, 2880, 1), experts(48, 2, 2, 32, 1),
	}
}

// lastCounts makes the last element of every row of x large beside the others, so that a sum without it is another one.
func lastCounts(_ bench.Gen, p *bench.Problem) error {
	o := p.Operands["x"]
	k := o.Shape[len(o.Shape)-1]
	large := map[string]float64{bench.E4M3: 416, bench.U8: 0x77}[o.DType] // two of e2m1's 6
	if large == 0 {
		large = 96
	}
	p.Change("x", func(i int, v float64) float64 {
		switch {
		case i%k == k-1:
			return large
		case o.DType == bench.E4M3:
			return v / 16
		}
		return v
	})
	for _, name := range []string{"x_scale", "w_scale"} { // nor may the last block's scale be a small one
		s, ok := p.Operands[name]
		if n := s.Shape; ok && len(n) > 1 && n[len(n)-1] == (k+127)/128 {
			p.Change(name, func(i int, v float64) float64 {
				if k > 2048 && i%n[len(n)-1] == n[len(n)-1]-1 {
					return 0.25
				}
				return v
			})
		}
	}
	for _, name := range []string{"input_scale", "weight_scale_2"} { // no two calls in a row have the same
		if s, ok := p.Operands[name]; ok {
			s.Values[0] = bench.Round(bench.F32, s.Values[0]*(1+float64(k)/8192))
		}
	}
	return nil
}
