package bench_test

import (
	"context"
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
)

// doubling is a suite of one operator: y = 2x, which fp32 computes exactly.
var doubling = bench.Suite{Name: "own", Families: []bench.Family{{
	Op: "double", Slug: "double", Claim: "y MUST be 2x", Contracts: []numerics.Contract{{Name: "fp32"}},
	Draw: func(g bench.Gen) (bench.Problem, error) {
		n := g.Shape.Dim("n")
		return bench.Problem{
			Operands: map[string]bench.Operand{"x": bench.Floats(bench.F32, g.Normal(n, 1), n)},
			Outputs:  map[string]bench.Output{"y": bench.Out(bench.F32, n)},
		}, nil
	},
	Expect: func(_ bench.Case, p bench.Problem) ([]bench.Expected, error) {
		want := make([]float64, p.In("x").Shape[0])
		for i, x := range p.In("x").Data {
			want[i] = 2 * x
		}
		return []bench.Expected{bench.Exactly("y", want, []string{"element"}, len(want))}, nil
	},
	Scenarios: []bench.Scenario{{
		ID: "odd", Why: "no vector divides it", Shapes: []bench.Shape{bench.S("n5", map[string]int{"n": 5})},
	}},
}}}

// One case judges a kernel that forgets the last, partial vector: it wrote nothing there.
func Example() {
	for _, vector := range []int{1, 4} {
		kernel := bench.FromKernel("mine", "double", func(a bench.Args) (bench.Results, error) {
			x, y := a.In("x").Data, a.Fresh("y")
			for i := range len(x) / vector * vector {
				y[i] = 2 * x[i]
			}
			return bench.Results{"y": y}, nil
		})
		b, err := bench.New(doubling.Cases()[0])
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := b.Judge(context.Background(), kernel)
		fmt.Println(vector, r.Accepted(), r.Gate(), err)
	}
	// Output:
	// 1 true  <nil>
	// 4 false structure(y) <nil>
}
