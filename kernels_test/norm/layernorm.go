package norm

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

var layerNorm = bench.Family{
	Op: opLayer, Slug: "layer-norm",
	Claim: "y MUST be (x-mean)/sqrt(var+eps) times the weight plus the bias within fp32 evaluation of centred rows " +
		"in any order, rounded once to its dtype",
	Doc:       layerDoc,
	Contracts: []numerics.Contract{{Name: "fp32"}, {Name: "bf16-out", Out: format.BF16}},
	Draw:      drawLayer, Expect: expectLayer, Twins: layerTwins,
	Scenarios: []bench.Scenario{
		{ID: "lengths", Why: "no row, one, and the edges of a tile of 64", Shapes: shapes(128, 0, 1, 63, 64, 65)},
		{ID: "odd-width", Why: "a width that no vector divides", Shapes: shapes(131, 1, 5)},
		{ID: "narrow", Why: "five channels, where a variance divided by D-1 is a quarter too large", Shapes: shapes(5, 4)},
		{ID: "tiny", Why: "rows where eps is most of the variance", Shapes: shapes(128, 4), Change: bench.Times(1e-3, "x")},
		{
			ID:        "far-off",
			Why:       "a mean a thousand times the deviation: mean(x^2) - mean^2 loses it",
			Shapes:    append(shapes(128, 3), shapes(96, 5)...),
			Contracts: []string{"fp32"},
			Change:    bench.All(onlyF32, plusAll(2000)),
		},
		{ID: "shifted", Why: "a mean of the size of the deviation", Shapes: shapes(256, 3), Change: plusAll(-3)},
		{
			ID:     "constant-rows",
			Why:    "rows of equal values: the bias alone, not NaN",
			Shapes: shapes(64, 6),
			Change: func(g bench.Gen, p *bench.Problem) error {
				d := g.Shape.Dim("width")
				p.Change("x", func(i int, v float64) float64 {
					if i/d%3 == 1 {
						return 1.5
					}
					return v
				})
				return nil
			},
		},
		{ID: "no-bias", Why: "a gain alone", Shapes: shapes(128, 3), Change: bench.Without("bias")},
		{ID: "bare", Why: "neither gain nor bias", Shapes: shapes(128, 3), Change: bench.Without("bias", "weight")},
		{
			ID:     "padded",
			Why:    "every operand sliced out of a wider one",
			Shapes: shapes(128, 5),
			Layout: map[string]bench.Layout{
				"x":      {Lead: 3, Gap: 16, Tail: 200},
				"weight": {Lead: 1, Tail: 8},
				"bias":   {Lead: 2, Tail: 5},
			},
		},
		{ID: "alone", Why: "a batch of rows and every row alone", Shapes: shapes(128, 7), Relate: inPieces(bench.Alone)},
		{
			ID:     "contiguous",
			Why:    "a sliced buffer and the same rows without gaps",
			Shapes: shapes(128, 7),
			Layout: map[string]bench.Layout{"x": {Lead: 1, Gap: 24, Tail: 300}},
			Relate: inPieces(bench.Contiguous),
		},
		{
			ID:     "eps-large",
			Why:    "an eps of the size of the variance",
			Shapes: shapes(128, 3),
			Change: bench.Set(bench.Attrs{"norm_eps": 0.7}),
		},
		{
			ID:     "long",
			Why:    "one dimension at a time beyond every tile, to the widths that ship",
			Shapes: []bench.Shape{rows(16, 257), rows(7168, 1), rows(2880, 1)},
		},
	},
}

// onlyF32 keeps a row from formats in which its values are all equal: there is no row to normalise.
func onlyF32(_ bench.Gen, p *bench.Problem) error {
	if dtype := p.Operands["x"].DType; dtype != bench.F32 {
		return fmt.Errorf("2,000 and what lies a deviation away are one number in %s", dtype)
	}
	return nil
}

// plusAll adds to every element of x.
func plusAll(by float64) bench.Change {
	return bench.Each(func(_ int, v float64) float64 { return v + by }, "x")
}

func drawLayer(g bench.Gen) (bench.Problem, error) {
	p, err := drawRMS(g)
	d := g.Shape.Dim("width")
	p.Operands["bias"] = bench.Floats(bench.F32, g.Normal(d, 0.8), d)
	p.Change("x", func(_ int, v float64) float64 { return v + 0.4 })
	return p, err
}

// expectLayer: the row is centred with the error of its mean, then normalised; the variance of the centred row moves by
// what the centred values move.
func expectLayer(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	x, eps := p.In("x"), p.Attrs.Num("norm_eps")
	weight, bias := p.Operands["weight"].Values, p.Operands["bias"].Values
	e := bench.Expected{
		Name: "y", Shape: x.Shape, Axes: axesOf(x.Shape), Derivation: "fp32 mean in any order, centred row, its mean of " +
			"squares in any order, root, two products and a sum, one rounding to the output",
		Want: oracle.LayerNorm(x.Mat(), weight, bias, eps).Data,
	}
	a := numerics.FP32()
	for t := range x.Dim(0) {
		row := numerics.ExactSlice(x.Row(t))
		mean := a.Div(a.Sum(row), numerics.Exact(float64(len(row))))
		for i := range row {
			row[i] = a.Sub(row[i], mean)
		}
		y := a.RMSNorm(row, nil, eps)
		for i, v := range y {
			if weight != nil {
				v = a.Mul(v, numerics.Exact(weight[i]))
			}
			if bias != nil {
				v = a.Add(v, numerics.Exact(bias[i]))
			}
			e.Bound = append(e.Bound, v.E+bench.OutTerm(c.Contract, v.X, v.E))
		}
	}
	return []bench.Expected{e}, nil
}
