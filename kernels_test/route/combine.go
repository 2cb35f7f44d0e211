package route

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

var combine = bench.Family{
	Op: opCombine, Slug: "moe-combine",
	Claim: "y MUST be the factor times the weighted sum of the experts plus the shared expert as it is, within fp32 " +
		"evaluation in any order",
	Doc:       combineDoc,
	Contracts: []numerics.Contract{{Name: "fp32"}, {Name: "bf16-out", Out: format.BF16}},
	Draw:      drawCombine, Expect: expectCombine, Twins: combineTwins,
	Scenarios: []bench.Scenario{
		{ID: "lengths", Why: "no token, one, and the edges of a tile of 64", Shapes: sums(32, 4, 0, 1, 63, 64, 65)},
		{ID: "v4-flash", Why: "V4-Flash: 6 experts and the shared one, 4096 channels", Shapes: sums(4096, 6, 1)},
		{ID: "v32", Why: "V3.2: 8 experts, factor 2.5", Shapes: sums(1792, 8, 2), Change: set("routed_scaling", 2.5)},
		{ID: "odd-width", Why: "a width that no vector divides", Shapes: sums(131, 4, 3)},
		{
			ID:      "one-hot",
			Why:     "every expert and the shared one in a channel of its own: whose weight is what",
			Shapes:  sums(5, 4, 3),
			Change:  oneHot,
			Catches: []string{"R2 sgl-project/sglang#28237"},
		},
		{ID: "no-shared", Why: "a layer without shared expert", Shapes: sums(32, 4, 3), Change: bench.Without("shared_out")},
		{ID: "one-expert", Why: "one expert a token", Shapes: sums(32, 1, 3)},
		{
			ID:     "unit-factor",
			Why:    "a factor of 1, where the weights have it already",
			Shapes: sums(32, 4, 3),
			Change: set("routed_scaling", 1.0),
		},
		{ID: "small-factor", Why: "a factor below 1", Shapes: sums(32, 4, 3), Change: set("routed_scaling", 0.3)},
		{
			ID:     "elsewhere",
			Why:    "experts on other ranks: no row, nothing added",
			Shapes: sums(32, 6, 9),
			Change: elsewhere(0.5),
		},
		{
			ID:     "all-elsewhere",
			Why:    "tokens without any expert here: the shared one alone",
			Shapes: sums(32, 4, 5),
			Change: elsewhere(1),
		},
		{
			ID:     "nothing",
			Why:    "no expert and no shared one: 0",
			Shapes: sums(32, 4, 5),
			Change: bench.All(elsewhere(1), bench.Without("shared_out")),
		},
		{ID: "cancelling", Why: "experts that cancel: the sum keeps few bits", Shapes: sums(64, 4, 4), Change: cancelling},
		{
			ID:     "coherent",
			Why:    "outputs of one sign, where a narrow sum loses most",
			Shapes: sums(64, 8, 4),
			Change: func(g bench.Gen, p *bench.Problem) error {
				p.Change("expert_out", func(int, float64) float64 { return 1.3 + 0.5*g.Float64() })
				return nil
			},
		},
		{
			ID:     "outlier",
			Why:    "one expert a thousand times the others",
			Shapes: sums(64, 4, 4),
			Change: bench.Each(func(i int, v float64) float64 {
				if i/64%5 == 2 {
					return v * 1000
				}
				return v
			}, "expert_out"),
		},
		{
			ID:     "padded",
			Why:    "every operand sliced out of a wider one",
			Shapes: sums(32, 4, 5),
			Layout: map[string]bench.Layout{
				"expert_out": {Lead: 3, Gap: 8, Tail: 90}, "topk_weights": {Lead: 1, Gap: 2, Tail: 9},
				"src2dst": {Lead: 2, Gap: 3, Tail: 9}, "shared_out": {Lead: 4, Gap: 16, Tail: 70},
			},
		},
		{
			ID:     "captured",
			Why:    "a graph captured when fewer experts lived here",
			Shapes: sums(32, 4, 3, 6),
			Change: bench.CapturedWith("src2dst", func(i int, v float64) float64 {
				return map[bool]float64{true: -1, false: v}[i%3 == 0]
			}),
		},
		{ID: "alone", Why: "a batch and every token alone", Shapes: sums(32, 4, 7), Relate: inPieces(bench.Alone)},
		{
			ID:     "contiguous",
			Why:    "sliced buffers and the same rows without gaps",
			Shapes: sums(32, 4, 7),
			Layout: map[string]bench.Layout{"expert_out": {Gap: 16, Tail: 90}, "shared_out": {Gap: 8, Tail: 60}},
			Relate: inPieces(bench.Contiguous),
		},
		{
			ID:     "long",
			Why:    "rows of experts beyond 16 bits, ten experts a token (Qwen3-Next), and the widths that ship",
			Shapes: slices.Concat(sums(1, 8, 8300), sums(8, 10, 2), sums(7168, 2, 1), sums(2880, 2, 1), sums(3, 2, 257)),
		},
	},
}

func sums(c, k int, t ...int) []bench.Shape {
	var out []bench.Shape
	for _, n := range t {
		out = append(out, bench.S(fmt.Sprintf("c%d-k%d-t%d", c, k, n), map[string]int{"tokens": n, "width": c, "k": k}))
	}
	return out
}

// drawCombine shuffles the rows, with a few between them that belong to nobody.
func drawCombine(g bench.Gen) (bench.Problem, error) {
	t, c, k := g.Shape.Dim("tokens"), g.Shape.Dim("width"), g.Shape.Dim("k")
	if k < 1 {
		return bench.Problem{}, fmt.Errorf("%d experts a token cannot be drawn", k)
	}
	m := t*k + 3 + t/2
	rows := g.Perm(m)[:t*k]
	weights := make([]float64, t*k)
	for i := range weights {
		weights[i] = 0.05 + 0.4*g.Float64()
	}
	dtype := bench.F32
	if g.Contract.Name == "bf16-out" {
		dtype = bench.BF16
	}
	p := bench.Problem{
		Attrs: bench.Attrs{"routed_scaling": 1.5},
		Operands: map[string]bench.Operand{
			"expert_out": bench.Floats(dtype, g.Normal(m*c, 1.2), m, c), "topk_weights": bench.Floats(bench.F32, weights, t, k),
			"src2dst": bench.Ints(rows, t, k), "shared_out": bench.Floats(dtype, g.Normal(t*c, 0.9), t, c),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(dtype, t, c)},
	}
	nobodys(&p)
	return p, nil
}

// nobodys marks rows that no slot names and weights of slots without row.
func nobodys(p *bench.Problem) {
	c := p.Operands["expert_out"].Shape[1]
	named := map[int]bool{}
	slots := p.In("src2dst").Ints()
	for _, row := range slots {
		named[row] = true
	}
	p.Unread = map[string]func(int) bool{
		"expert_out":   func(i int) bool { return !named[i/c] },
		"topk_weights": func(i int) bool { return slots[i] < 0 },
	}
}

// elsewhere takes a share of the slots' rows away.
func elsewhere(share float64) bench.Change {
	return func(g bench.Gen, p *bench.Problem) error {
		p.Change("src2dst", func(_ int, v float64) float64 {
			if g.Float64() < share {
				return -1
			}
			return v
		})
		nobodys(p)
		return nil
	}
}

// oneHot makes slot k of every token 1 in channel k, the shared expert in the last.
func oneHot(g bench.Gen, p *bench.Problem) error {
	c, k := g.Shape.Dim("width"), g.Shape.Dim("k")
	slot := map[int]int{}
	for i, row := range p.In("src2dst").Ints() {
		slot[row] = i % k
	}
	hot := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	p.Change("expert_out", func(i int, _ float64) float64 { s, ok := slot[i/c]; return hot(ok && i%c == s) })
	p.Change("shared_out", func(i int, _ float64) float64 { return hot(i%c == c-1) })
	return nil
}

// cancelling makes every second slot the negative of the one before, with nearly its weight.
func cancelling(g bench.Gen, p *bench.Problem) error {
	c := g.Shape.Dim("width")
	rows, x := p.In("src2dst").Ints(), p.Operands["expert_out"].Values
	for i := 1; i < len(rows); i += 2 {
		for d := range c {
			x[rows[i]*c+d] = -x[rows[i-1]*c+d]
		}
	}
	w := p.Operands["topk_weights"].Values
	p.Change("topk_weights", func(i int, v float64) float64 {
		if i%2 == 1 {
			return w[i-1] * (1 + 0x1p-10)
		}
		return v
	})
	return nil
}

// expectCombine: products of weight, factor and output in any association, added with the shared expert in any order.
func expectCombine(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	x, w, rows, f := p.In("expert_out"), p.In("topk_weights"), p.In("src2dst").Ints(), p.Attrs.Num("routed_scaling")
	shared := p.In("shared_out")
	tokens, k, width := w.Dim(0), w.Dim(1), x.Dim(1)
	a := numerics.FP32()
	e := bench.Expected{
		Name: "y", Shape: []int{tokens, width}, Axes: []string{"token", "channel"}, Want: make([]float64, tokens*width),
		Bound:      make([]float64, tokens*width),
		Derivation: "two products a term, added in any order in fp32, one rounding to the output",
		Scales:     map[string]float64{"routed_scaling": f},
	}
	for t := range tokens {
		for d := range width {
			sum, size, terms := 0.0, 0.0, 0
			if shared.Data != nil {
				sum, terms = shared.Row(t)[d], 1
				size = math.Abs(sum)
			}
			for i := range k {
				if row := rows[t*k+i]; row >= 0 {
					v := f * w.Row(t)[i] * x.Row(row)[d]
					sum, size, terms = sum+v, size+math.Abs(v), terms+1
				}
			}
			// A term passes through two products and at most terms-1 sums; the factor may come before, between or after.
			bound := numerics.Gamma(terms+1, a.U)*size + float64(2*terms)*a.Tiny*max(f, 1)
			e.Want[t*width+d], e.Bound[t*width+d] = sum, bound+bench.OutTerm(c.Contract, sum, bound)
		}
	}
	return []bench.Expected{e}, nil
}
