package kernels_test

import (
	"context"
	"fmt"
	"math"

	kernels "github.com/assay-suite/assay/kernels_test"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// swiglu is a suite of one operator: y = silu(gate) * up, in fp32.
var swiglu = bench.Suite{Name: "activation", Families: []bench.Family{{
	Op: "swiglu", Slug: "swiglu",
	Claim:     "y MUST be silu(gate) times up within fp32 evaluation",
	Contracts: []numerics.Contract{{Name: "fp32"}},
	Draw: func(g bench.Gen) (bench.Problem, error) {
		rows, width := g.Shape.Dim("rows"), g.Shape.Dim("width")
		return bench.Problem{
			Operands: map[string]bench.Operand{
				"gate": bench.Floats(bench.F32, g.Normal(rows*width, 2), rows, width),
				"up":   bench.Floats(bench.F32, g.Normal(rows*width, 1), rows, width),
			},
			Outputs: map[string]bench.Output{"y": bench.Out(bench.F32, rows, width)},
		}, nil
	},
	Expect: func(_ bench.Case, p bench.Problem) ([]bench.Expected, error) {
		gate, up := p.In("gate"), p.In("up")
		y := make([]numerics.Tracked, len(gate.Data)) // the exact value and how far fp32 may lie from it
		for i := range y {
			y[i] = numerics.FP32().Mul(numerics.FP32().SiLU(numerics.Exact(gate.Data[i])), numerics.Exact(up.Data[i]))
		}
		want, bound := bench.Tracked(y)
		return []bench.Expected{{
			Name: "y", Shape: gate.Shape, Axes: []string{"row", "channel"}, Want: want, Bound: bound,
			Derivation: "exp, add, divide and multiply in fp32, each rounded once",
		}}, nil
	},
	Scenarios: []bench.Scenario{{
		ID: "sizes", Why: "the edges of a tile of 64",
		Shapes: []bench.Shape{size(1, 63), size(3, 64), size(2, 65)},
	}, {
		ID: "sliced", Why: "gate and up are halves of one buffer", Shapes: []bench.Shape{size(4, 64)},
		Layout: map[string]bench.Layout{"gate": {Gap: 64}, "up": {Lead: 64, Gap: 64}},
	}},
}}}

func size(rows, width int) bench.Shape {
	return bench.S(fmt.Sprintf("r%d-w%d", rows, width), map[string]int{"rows": rows, "width": width})
}

// kernel is a candidate in Go. A worker in another language is kernels.Worker(ctx, "python3 my_worker.py").
func kernel(silu func(float32) float32) bench.Candidate {
	return bench.FromKernel("mine", "swiglu", func(a bench.Args) (bench.Results, error) {
		y := a.Fresh("y")
		for i, up := range a.In("up").Data {
			y[i] = float64(silu(float32(a.In("gate").Data[i])) * float32(up))
		}
		return bench.Results{"y": y}, nil
	})
}

// A suite of one's own, and two kernels: a correct one, and one with the sigmoid of quick GELU.
// In a test of yours: kernels.Test(t, candidate, kernels.WithSuites(swiglu)).
func Example() {
	good := kernel(func(x float32) float32 { return x / (1 + float32(math.Exp(-float64(x)))) })
	bad := kernel(func(x float32) float32 { return x / (1 + float32(math.Exp(-1.702*float64(x)))) })
	for _, candidate := range []bench.Candidate{good, bad} {
		r, err := kernels.Run(context.Background(), candidate, kernels.WithSuites(swiglu))
		fmt.Println(err, r.Code, r.Facets[0].State, r.Facets[0].Contract, r.Facets[0].Failed, "of", r.Facets[0].Cases)
	}
	// Output:
	// <nil> 0 equivalent fp32 0 of 5
	// <nil> 1 fault fp32 5 of 5
}
