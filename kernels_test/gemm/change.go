package gemm

import (
	"math"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Changes to what was drawn. Operands of codes are x and w, packed where they are U8.

// coherent makes every product positive: sums grow, and what is cut from them adds up.
func coherent(_ bench.Gen, p *bench.Problem) error {
	for _, name := range []string{"x", "w"} {
		packedOp := p.Operands[name].DType == bench.U8
		p.Change(name, func(_ int, v float64) float64 {
			if packedOp {
				return float64(int(v) & 0x77)
			}
			return math.Abs(v)
		})
	}
	return nil
}

// smallest is one product of 448·448 and others of 7.5·1 after it.
func smallest(_ bench.Gen, p *bench.Problem) error {
	k := p.In("x").Dim(1)
	for name, rest := range map[string]float64{"x": 7.5, "w": 1} {
		p.Change(name, func(i int, _ float64) float64 {
			if i%k == 0 {
				return 448
			}
			return rest
		})
	}
	return nil
}

// needles leaves one element of each row of x: the first, the last, and those next to the edges of blocks. It reads
// back which weights and multipliers were used.
func needles(_ bench.Gen, p *bench.Problem) error {
	shape := p.Operands["x"].Shape
	width := shape[len(shape)-1]
	packedOp := p.Operands["x"].DType == bench.U8
	k := width
	if packedOp {
		k = 2 * width
	}
	places := []int{0, k - 1, 127, 128, 31, 32, 15, 16, 63, 64, 1, k / 2}
	p.Change("x", func(i int, v float64) float64 {
		row, at := i/width, i%width
		keep := places[row%len(places)] % k
		switch {
		case !packedOp && at == keep:
			return math.Copysign(96, v)
		case packedOp && at == keep/2:
			return float64(int(7) << (4 * (keep % 2)))
		}
		return 0
	})
	return nil
}

// outliers makes a few channels a hundred times larger than the rest.
var outliers = bench.Each(func(i int, v float64) float64 {
	if i%97 == 5 {
		return v
	}
	return v / 128
}, "x")

// subnormal makes the elements as small as their format has them, tiny takes them down to 1e-30.
var subnormal, tiny = bench.Times(0x1p-13, "x"), bench.Times(1e-30, "x")

// grid has whole numbers from -2 to 2, most of them 0.
func grid(g bench.Gen, p *bench.Problem) error {
	p.Each(func(int, float64) float64 {
		if g.IntN(4) > 0 {
			return 0
		}
		return float64(g.IntN(5) - 2)
	}, "x", "w")
	return nil
}

// zeros has a row of zeros, -0 among them, and one element that is NaN in the last row: no other row may show it.
func zeros(_ bench.Gen, p *bench.Problem) error {
	o := p.Operands["x"]
	width := size(o.Shape[1:])
	for i := range o.Values {
		switch {
		case i < width:
			o.Values[i] = math.Copysign(0, o.Values[i])
		case i == len(o.Values)-width/2-1:
			o.Values[i] = math.NaN()
		}
	}
	return nil
}

// unit makes all fp32 multipliers 1.
var unit = bench.Each(func(int, float64) float64 { return 1 }, multiplierNames...)

// wide spreads multipliers over twenty binades.
func wide(g bench.Gen, p *bench.Problem) error {
	p.Each(func(int, float64) float64 { return math.Exp2(-16 + 20*g.Float64()) }, multiplierNames...)
	return nil
}

// strided are rows that lay out one operand at a time with memory of nobody around it, and say the same without.
func strided(shape bench.Shape, contracts []string, layouts map[string]bench.Layout, order ...string) []bench.Scenario {
	var out []bench.Scenario
	for _, name := range order {
		out = append(out, bench.Scenario{
			ID: "strided-" + hyphens(name), Why: "the strides and offset of " + name + " are those of a slice of " +
				"a wider buffer",
			Shapes: []bench.Shape{shape}, Contracts: contracts, Layout: map[string]bench.Layout{name: layouts[name]},
			Relate: contiguous,
		})
	}
	return out
}

func hyphens(s string) string { return strings.ReplaceAll(s, "_", "-") }
