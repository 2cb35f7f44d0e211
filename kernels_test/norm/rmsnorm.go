package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

var rmsNorm = bench.Family{
	Op: "rms_norm", Slug: "rms-norm",
	Claim: "y MUST be x/sqrt(mean(x^2)+eps) times the weight within fp32 evaluation in any order, rounded once to its dtype",
	Doc: bench.Doc{
		Summary:  "y = w · x / sqrt(mean(x²) + norm_eps) over each row",
		Operands: []bench.TensorDoc{{Name: "x", DType: "F32 or BF16", Shape: "[T, D]", Meaning: "rows"}, {Name: "weight", DType: "F32", Shape: "[D]", Meaning: "gain"}},
		Outputs:  []bench.TensorDoc{{Name: "y", DType: "F32 or BF16", Shape: "[T, D]", Meaning: "normalised rows"}},
		Attrs:    []bench.AttrDoc{{Name: "norm_eps", Meaning: "added to the mean of squares, inside the root"}},
	},
	Contracts: []numerics.Contract{{Name: "fp32"}, {Name: "bf16-out", Out: must("bf16")}},
	Draw:      drawRMS, Expect: expectRMS,
	Twins: []bench.Twin{
		{Class: "eps", Name: "eps too small to matter", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			p.Attrs["norm_eps"] = 1e-30
			p.Change("x", func(_ int, v float64) float64 { return v + math.Copysign(1, v) })
			return true
		}},
		{Class: "strides", Name: "dense operands", Apply: dense},
	},
	Kases: []bench.Kase{
		{ID: "lengths", Why: "no row, one, and the edges of a tile of 64", Shapes: shapes(512, 0, 1, 63, 64, 65)},
		{ID: "odd-width", Why: "a width that no vector divides: a partial last vector", Catches: []string{"H1 vllm-project/vllm#56342"}, Shapes: shapes(131, 1, 5)},
		{ID: "tiny", Why: "rows where eps is most of the sum", Shapes: shapes(512, 4), Change: func(_ bench.Gen, p *bench.Problem) error {
			p.Change("x", func(_ int, v float64) float64 { return v * 1e-3 })
			return nil
		}},
		{ID: "padded", Why: "rows sliced out of a wider buffer", Shapes: shapes(512, 5), Layout: map[string]bench.Layout{"x": {Lead: 3, Gap: 64, Tail: 700}, "weight": {Lead: 1, Tail: 8}}},
	},
}

// dense takes all padding away.
func dense(_ bench.Gen, p *bench.Problem) bool {
	changed := len(p.Layout) > 0
	p.Layout = map[string]bench.Layout{}
	return changed
}

func must(name string) format.Format {
	f, err := format.ByName(name)
	if err != nil {
		return format.Format{}
	}
	return f
}

func shapes(width int, rows ...int) []bench.Shape {
	var out []bench.Shape
	for _, t := range rows {
		out = append(out, bench.S(slug("d%d-t%d", width, t), map[string]int{"rows": t, "width": width}))
	}
	return out
}

func drawRMS(g bench.Gen) (bench.Problem, error) {
	t, d := g.Shape.Dim("rows"), g.Shape.Dim("width")
	dtype := bench.F32
	if g.Contract.Name == "bf16-out" {
		dtype = bench.BF16
	}
	weight := g.Normal(d, 0.3)
	for i := range weight {
		weight[i] += 1.3
	}
	return bench.Problem{
		Attrs: bench.Attrs{"norm_eps": 1e-6},
		Operands: map[string]bench.Operand{
			"x": bench.Floats(dtype, g.Normal(t*d, 1.7), t, d), "weight": bench.Floats(bench.F32, weight, d),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(dtype, t, d)},
	}, nil
}

// expectRMS: the bound is numerics.Arith.RMSNorm, plus one rounding to the output.
func expectRMS(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	x, w, eps := p.In("x"), p.In("weight"), p.Attrs.Num("norm_eps")
	e := bench.Expected{
		Name: "y", Shape: x.Shape, Axes: []string{"row", "channel"}, Derivation: "fp32 sum of squares in any order, root, two products, one rounding to the output",
		Want: oracle.RMSNorm(x.Mat(), w.Data, 0, eps).Data,
	}
	for t := range x.Dim(0) {
		for _, v := range numerics.FP32().RMSNorm(numerics.ExactSlice(x.Row(t)), numerics.ExactSlice(w.Data), eps) {
			e.Bound = append(e.Bound, v.E+outTerm(c.Contract, v.X, v.E))
		}
	}
	return []bench.Expected{e}, nil
}

// outTerm is the rounding to the contract's output; fp32 is counted already.
func outTerm(c numerics.Contract, y, slack float64) float64 {
	if c.Out.Name == "" {
		return 0
	}
	return numerics.HalfULP(c.Output(), y, slack)
}
