package norm

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

// plain are the contracts of rows that say nothing about roundings in between.
var plain = []string{"fp32", "bf16-out"}

var rmsNorm = bench.Family{
	Op: opRMS, Slug: "rms-norm",
	Claim: "y MUST be x/sqrt(mean(x^2)+eps) times the weight within fp32 evaluation in any order, rounded once to " +
		"its dtype",
	Doc: rmsDoc,
	Contracts: []numerics.Contract{
		{Name: "fp32"},
		{Name: "bf16-out", Out: format.BF16},
		{Name: "bf16-steps", Mid: format.BF16, Out: format.BF16},
	},
	Draw: drawRMS, Expect: expectRMS, Twins: rmsTwins,
	Scenarios: bench.Under(plain, []bench.Scenario{
		{
			ID:     "lengths",
			Why:    "no row, one, and the edges of a tile of 64",
			Shapes: shapes(512, 0, 1, 63, 64, 65),
		},
		{
			ID:      "odd-width",
			Why:     "a width that no vector divides: a partial last vector",
			Catches: []string{"H1 vllm-project/vllm#56342"},
			Shapes:  shapes(131, 1, 5),
		},
		{
			ID:     "tiny",
			Why:    "rows where eps is most of the sum",
			Shapes: shapes(512, 4),
			Change: bench.Times(1e-3, "x"),
		},
		{
			ID:     "padded",
			Why:    "rows sliced out of a wider buffer",
			Shapes: shapes(512, 5),
			Layout: map[string]bench.Layout{"x": {Lead: 3, Gap: 64, Tail: 700}, "weight": {Lead: 1, Tail: 8}},
		},
		{
			ID:     "widths",
			Why:    "the latent and model widths of V3.2 and V4-Flash, and one channel",
			Shapes: []bench.Shape{rows(1, 3), rows(1024, 2), rows(1536, 2), rows(4096, 1)},
		},
		{
			ID:     "large",
			Why:    "values whose squares are near the end of fp32: no scaling by the maximum may overflow",
			Shapes: shapes(512, 3),
			Change: bench.Times(1e15, "x"),
		},
		{
			ID:     "vanishing",
			Why:    "values whose squares are 0 in fp32: eps alone is left",
			Shapes: shapes(512, 3),
			Change: bench.Times(1e-25, "x"),
		},
		{
			ID:     "zero-rows",
			Why:    "rows of 0 between others: 0 and not NaN",
			Shapes: shapes(256, 6),
			Change: zeroRows,
		},
		{
			ID:     "outlier",
			Why:    "one channel a thousand times the others, as trained residuals have",
			Shapes: shapes(512, 4),
			Change: func(g bench.Gen, p *bench.Problem) error {
				d := g.Shape.Dim("width")
				p.Change("x", func(i int, v float64) float64 {
					if i%d == d/3 {
						return v * 1e3
					}
					return v
				})
				return nil
			},
		},
		{
			ID:     "coherent",
			Why:    "rows of one sign and size, where a narrow sum loses most",
			Shapes: shapes(4096, 1),
			Change: func(g bench.Gen, p *bench.Problem) error {
				p.Change("x", func(int, float64) float64 { return 1.3 + 0.01*g.Float64() })
				return nil
			},
		},
		{
			ID:     "eps-large",
			Why:    "an eps of the size of the mean of squares",
			Shapes: shapes(256, 3),
			Change: bench.Set(bench.Attrs{"norm_eps": 0.7}),
		},
		{
			ID:        "heads",
			Why:       "per-head query norm: every head by itself, no weight",
			Shapes:    []bench.Shape{heads(5, 4, 64), heads(2, 8, 512)},
			Change:    bench.Without("weight"),
			Contracts: []string{"fp32", "bf16-out", "bf16-steps"},
		},
		{ID: "heads-weighted", Why: "one weight for all heads", Shapes: []bench.Shape{heads(5, 3, 48)}},
		{
			ID:     "heads-strided",
			Why:    "heads sliced out of wider ones, stored head by head",
			Shapes: []bench.Shape{heads(5, 3, 48)},
			Layout: map[string]bench.Layout{"x": {Lead: 2, Gap: 12, Inner: 16, Tail: 40, Swap: true}},
		},
		{
			ID:     "residual",
			Why:    "x + residual is normalised, and stored as the next residual",
			Shapes: shapes(256, 1, 5),
			Change: residual(1),
		},
		{
			ID:     "residual-cancels",
			Why:    "x and residual of opposite sign: the sum keeps few bits, and they must be there",
			Shapes: shapes(256, 4),
			Change: residual(-1),
		},
		{
			ID:     "residual-padded",
			Why:    "residual sliced out of a wider buffer",
			Shapes: shapes(256, 5),
			Change: residual(1),
			Layout: map[string]bench.Layout{"x": {Tail: 300}, "residual": {Lead: 5, Gap: 32, Tail: 300}},
		},
		{
			ID:     "alone",
			Why:    "a batch of rows and every row alone",
			Shapes: shapes(256, 7),
			Relate: inPieces(bench.Alone),
		},
		{
			ID:     "backwards",
			Why:    "the rows in the opposite order",
			Shapes: shapes(256, 7),
			Relate: inPieces(bench.Backwards),
		},
		{
			ID:     "contiguous",
			Why:    "a sliced buffer and the same rows without gaps",
			Shapes: shapes(256, 7),
			Layout: map[string]bench.Layout{"x": {Lead: 1, Gap: 24, Tail: 300}},
			Relate: inPieces(bench.Contiguous),
		},
		{ID: "production", Why: "prefill of V3.2's model width", Shapes: shapes(7168, 32), Full: true},
		{
			ID:     "long",
			Why:    "one dimension at a time beyond every tile, to the widths that ship",
			Shapes: []bench.Shape{rows(16, 257), rows(7168, 1), rows(2880, 1)},
			Change: residual(1),
		},
		{
			ID:     "long-heads",
			Why:    "tokens beyond every tile, all heads that ship, and the widest",
			Shapes: []bench.Shape{heads(257, 1, 16), heads(1, 128, 16), heads(1, 1, 576)},
		},
	}),
}

func rows(width, t int) bench.Shape {
	return bench.S(fmt.Sprintf("d%d-t%d", width, t), map[string]int{"rows": t, "width": width})
}

func shapes(width int, t ...int) []bench.Shape {
	var out []bench.Shape
	for _, n := range t {
		out = append(out, rows(width, n))
	}
	return out
}

func heads(t, h, width int) bench.Shape {
	return bench.S(fmt.Sprintf("t%d-h%d-d%d", t, h, width), map[string]int{"rows": t, "heads": h, "width": width})
}

// zeroRows makes every third row 0.
func zeroRows(g bench.Gen, p *bench.Problem) error {
	d := g.Shape.Dim("width")
	p.Change("x", func(i int, v float64) float64 {
		if i/d%3 == 1 {
			return 0
		}
		return v
	})
	return nil
}

// residual adds a residual that leans by so much of x.
func residual(lean float64) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		x := p.Operands["x"]
		r := g.Normal(len(x.Values), 0.6)
		for i, v := range x.Values {
			if r[i] += 0.5 * v; lean < 0 {
				r[i] = -v * (1 + 0.01*r[i])
			}
		}
		p.Operands["residual"] = bench.Floats(x.DType, r, x.Shape...)
		p.Outputs["residual_out"] = bench.Out(x.DType, x.Shape...)
		return nil
	}
}

// drawRMS draws rows, or heads where the shape has them.
func drawRMS(g bench.Gen) (bench.Problem, error) {
	t, d := g.Shape.Dim("rows"), g.Shape.Dim("width")
	shape := []int{t, d}
	if h := g.Shape.Dim("heads"); h > 0 {
		shape = []int{t, h, d}
	}
	n := 1
	for _, s := range shape {
		n *= s
	}
	weight := g.Normal(d, 0.3)
	for i := range weight {
		weight[i] += 1.3
	}
	dtype := xDType(g.Contract)
	return bench.Problem{
		Attrs: bench.Attrs{"norm_eps": 1e-6},
		Operands: map[string]bench.Operand{
			"x": bench.Floats(dtype, g.Normal(n, 1.7), shape...), "weight": bench.Floats(bench.F32, weight, d),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(dtype, shape...)},
	}, nil
}

// xDType is the dtype of activations under a contract.
func xDType(c numerics.Contract) string {
	if c.Out.Name == "bf16" {
		return bench.BF16
	}
	return bench.F32
}

// expectRMS: the bound is numerics.Arith.RMSNorm, plus one rounding to the output; with steps in bf16, those roundings
// too.
func expectRMS(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	x, eps := p.In("x"), p.Attrs.Num("norm_eps")
	axes := axesOf(x.Shape)
	in := make([]numerics.Tracked, len(x.Data))
	for i, v := range x.Data {
		in[i] = numerics.Exact(v)
	}
	a := numerics.FP32()
	var out []bench.Expected
	sum := oracle.Mat{Rows: 1, Cols: len(x.Data), Data: append([]float64(nil), x.Data...)}
	if r, ok := p.Operands["residual"]; ok {
		e := bench.Expected{
			Name:       "residual_out",
			Shape:      x.Shape,
			Axes:       axes,
			Derivation: "one fp32 sum, one rounding to the output",
		}
		for i, v := range r.Values {
			s := a.Add(in[i], numerics.Exact(v))
			sum.Data[i] = s.X
			rounding := bench.OutTerm(c.Contract, s.X, s.E)
			e.Want, e.Bound = append(e.Want, s.X), append(e.Bound, s.E+rounding)
			in[i] = numerics.Tracked{X: s.X, E: s.E + rounding} // the sum may be normalised before or after its rounding
		}
		out = append(out, e)
	}
	var w []float64
	var weight []numerics.Tracked
	if o, ok := p.Operands["weight"]; ok {
		w, weight = o.Values, numerics.ExactSlice(o.Values)
	}
	d := x.Dim(len(x.Shape) - 1)
	e := bench.Expected{
		Name: "y", Shape: x.Shape, Axes: axes, Derivation: "fp32 sum of squares in any order, root, two products, one " +
			"rounding to the output",
		Want: oracle.RMSNorm(sum, w, d, eps).Data,
	}
	norm := a.RMSNorm
	if c.Contract.Mid.Name == "bf16" {
		norm, e.Derivation = inSteps, "as in fp32, and a rounding to bf16 of squares, mean, mean + eps, its inverse root "+
			"and both products"
	}
	for at := 0; at < len(in); at += d {
		for _, v := range norm(in[at:at+d], weight, eps) {
			e.Bound = append(e.Bound, v.E+bench.OutTerm(c.Contract, v.X, v.E))
		}
	}
	return append(out, e), nil
}

// inSteps is the norm with every step rounded to bf16; a kernel that rounds fewer of them is nearer.
func inSteps(x, weight []numerics.Tracked, eps float64) []numerics.Tracked {
	a, u := numerics.FP32(), format.BF16.U()
	squares := make([]numerics.Tracked, len(x))
	for i, v := range x {
		squares[i] = a.Round(a.Mul(v, v), u)
	}
	mean := a.Round(a.Div(a.Sum(squares), numerics.Exact(float64(len(x)))), u)
	r := a.Round(a.RSqrt(a.Round(a.Add(mean, numerics.Exact(eps)), u)), u)
	y := make([]numerics.Tracked, len(x))
	for i := range x {
		y[i] = a.Round(a.Mul(x[i], r), u)
		if weight != nil {
			y[i] = a.Mul(y[i], weight[i]) // its rounding is the output's
		}
	}
	return y
}

func axesOf(shape []int) []string {
	if len(shape) == 3 {
		return []string{"token", "head", "channel"}
	}
	return []string{"row", "channel"}
}
