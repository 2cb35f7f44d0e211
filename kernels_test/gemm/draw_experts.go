package gemm

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// loads are rows of experts as routing gives them: uneven, with empty experts in front, between and behind.
func loads(g bench.Gen) []int {
	e, most := g.Shape.Dim("e"), g.Shape.Dim("m")
	if g.Shape.Dim("full") == 1 {
		return []int{most - 1, most} // a tile that is full, and one row more
	}
	counts := make([]int, e)
	for i := range counts {
		counts[i] = 1 + g.IntN(max(most, 1))
		if e > 2 && i%3 == 1 {
			counts[i] = 0
		}
	}
	if e > 2 {
		counts[e-1] = most
	}
	if e > 1 && g.Shape.Dim("leading") == 1 {
		counts[0] = 0
	}
	return counts
}

// paddingRows tells which elements of an operand of rows of some width belong to no expert.
func paddingRows(expert []int, width int) func(i int) bool {
	return func(i int) bool { return expert[i/width] < 0 }
}

func drawGrouped(g bench.Gen) (bench.Problem, error) {
	n, k, e := g.Shape.Dim("n"), g.Shape.Dim("k"), g.Shape.Dim("e")
	expert, _, err := oracle.GroupLayout(loads(g), max(g.Shape.Dim("align"), 1))
	if err != nil {
		return bench.Problem{}, err
	}
	m := len(expert)
	return bench.Problem{
		Attrs: bench.Attrs{},
		Operands: map[string]bench.Operand{
			"x": fp8(g, m, k), "x_scale": scales(g, m, up(k, 128)),
			"w": fp8(g, e, n, k), "w_scale": scales(g, e, up(n, 128), up(k, 128)),
			"expert": bench.Ints(expert, m),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(bench.BF16, m, n)},
		Unread:  map[string]func(int) bool{"x": paddingRows(expert, k), "x_scale": paddingRows(expert, up(k, 128))},
	}, nil
}

func drawGroupedN(g bench.Gen) (bench.Problem, error) {
	n, k, e := g.Shape.Dim("n"), g.Shape.Dim("k"), g.Shape.Dim("e")
	if err := whole(k, 16); err != nil {
		return bench.Problem{}, err
	}
	expert, _, err := oracle.GroupLayout(loads(g), max(g.Shape.Dim("align"), 1))
	if err != nil {
		return bench.Problem{}, err
	}
	m := len(expert)
	alpha := make([]float64, e)
	for i := range alpha {
		alpha[i] = 1e-4 * (1 + float64(i)*0.37)
	}
	p := bench.Problem{
		Attrs: bench.Attrs{},
		Operands: map[string]bench.Operand{
			"x": fp4(g, k, m), "x_scale": narrowScales(g, m, k/16), "w": fp4(g, k, e, n),
			"alpha": bench.Floats(bench.F32, alpha, e), "expert": bench.Ints(expert, m),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(bench.BF16, m, n)},
		Unread:  map[string]func(int) bool{"x": paddingRows(expert, k/2), "x_scale": paddingRows(expert, k/16)},
	}
	p.Operands["w_scale"], p.Unread["w_scale"] = tiles(g, e, n, k/16, narrowScales)
	return p, nil
}

func drawMasked(g bench.Gen) (bench.Problem, error) {
	n, k, e, most := g.Shape.Dim("n"), g.Shape.Dim("k"), g.Shape.Dim("e"), g.Shape.Dim("m")
	counts := loads(g)
	beyond := func(width int) func(i int) bool {
		return func(i int) bool { return i/width%most >= counts[i/width/most] }
	}
	return bench.Problem{
		Attrs: bench.Attrs{},
		Operands: map[string]bench.Operand{
			"x": fp8(g, e, most, k), "x_scale": scales(g, e, most, up(k, 128)),
			"w": fp8(g, e, n, k), "w_scale": scales(g, e, up(n, 128), up(k, 128)),
			"masked_m": bench.Ints(counts, e),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(bench.BF16, e, most, n)},
		Unread:  map[string]func(int) bool{"x": beyond(k), "x_scale": beyond(up(k, 128))},
	}, nil
}
