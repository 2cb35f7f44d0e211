package inference_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	inference "example.com/inference"

	kernels "github.com/assay-suite/assay/kernels_test"
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// A worker process, judged by assay's own suite of its operator. In Python it would be
// kernels.Worker(t.Context(), "python3 my_worker.py").
func TestWorker(t *testing.T) {
	program := filepath.Join(t.TempDir(), "worker")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./worker")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kernels.Test(t, kernels.Worker(t.Context(), program), kernels.Operators("topk"), kernels.Artifacts(t.TempDir()))
}

// A Go function, judged by a suite of this repository's own.
func TestSwiGLU(t *testing.T) {
	kernels.Test(t, candidate, kernels.WithSuites(suite))
}

var candidate = bench.FromKernel("swiglu.go", "swiglu", func(a bench.Args) (bench.Results, error) {
	gate, up := bench.Float32s(a.In("gate").Data), bench.Float32s(a.In("up").Data)
	y, out := make([]float32, len(gate)), a.Fresh("y")
	inference.SwiGLU(y, gate, up)
	for i, v := range y {
		out[i] = float64(v)
	}
	return bench.Results{"y": out}, nil
})

// suite is one operator: what is drawn, what is expected and how far fp32 may lie from it, and which cases there are.
var suite = bench.Suite{Name: "activation", Families: []bench.Family{{
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
		y, fp32 := make([]numerics.Tracked, len(gate.Data)), numerics.FP32()
		for i := range y {
			y[i] = fp32.Mul(fp32.SiLU(numerics.Exact(gate.Data[i])), numerics.Exact(up.Data[i]))
		}
		want, bound := bench.Tracked(y)
		return []bench.Expected{{
			Name: "y", Shape: gate.Shape, Axes: []string{"row", "channel"}, Want: want, Bound: bound,
			Derivation: "exp, add, divide and multiply in fp32, each rounded once",
		}}, nil
	},
	Scenarios: []bench.Scenario{
		{ID: "sizes", Why: "the edges of a tile of 64", Shapes: []bench.Shape{size(1, 63), size(3, 64), size(2, 65)}},
		{
			ID: "sliced", Why: "gate and up are halves of one buffer", Shapes: []bench.Shape{size(4, 64)},
			Layout: map[string]bench.Layout{"gate": {Gap: 64}, "up": {Lead: 64, Gap: 64}},
		},
	},
}}}

func size(rows, width int) bench.Shape {
	return bench.S(fmt.Sprintf("r%d-w%d", rows, width), map[string]int{"rows": rows, "width": width})
}
