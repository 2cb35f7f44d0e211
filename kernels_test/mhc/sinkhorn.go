package mhc

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// sinkhornFamily judges the normalisation alone, each published variant as a contract of its own: they stand side by
// side, and a kernel is right under the one that it declares.
func sinkhornFamily() bench.Family {
	var contracts []numerics.Contract
	for _, v := range oracle.SinkhornVariants() {
		contracts = append(contracts, numerics.Contract{Name: v.Name})
	}
	return bench.Family{
		Op: "sinkhorn", Slug: "sinkhorn",
		Claim: "comb MUST be the declared variant of the normalisation within fp32 steps, and columns (or rows, where they " +
			"come last) MUST sum to 1",
		Doc: bench.Doc{
			Summary: "comb = Sinkhorn(logits); variant v4: softmax + hc_eps, then column and row steps, ending on a column; " +
				"tilekernels: 10 of them; log: exp, 20 times column then row, no eps",
			Operands: []bench.TensorDoc{{Name: "logits", DType: "F32", Shape: "[T, n, n]", Meaning: "row j to column k"}},
			Outputs:  []bench.TensorDoc{{Name: "comb", DType: "F32", Shape: "[T, n, n]", Meaning: "nearly doubly stochastic"}},
			Attrs: []bench.AttrDoc{
				{Name: "variant", Meaning: "v4, tilekernels or log"}, {Name: "iterations", Meaning: "column steps"}, {
					Name:    "hc_eps",
					Meaning: "eps of start and divisors, 0 for log",
				},
			},
		},
		Contracts: contracts, Draw: drawSinkhorn, Expect: expectSinkhorn,
		Scenarios: []bench.Scenario{
			{ID: "gaussian", Why: "logits as mixes give them", Shapes: squares(4, 0, 1, 5, 65)},
			{
				ID:      "dominant",
				Why:     "one entry far above the rest: variants differ most",
				Catches: []string{"H3 NVIDIA/Megatron-LM#5106"},
				Shapes:  squares(4, 3),
				Change: bench.Each(func(i int, v float64) float64 {
					if i%16 == 6 {
						return 8
					}
					return v
				}, "logits"),
			},
			{
				ID:      "large-logits",
				Why:     "logits of ±30: most softmax entries vanish beside eps",
				Catches: []string{"H4"},
				Shapes:  squares(4, 3),
				Change: func(g bench.Gen, p *bench.Problem) error {
					p.Change("logits", func(int, float64) float64 { return 30 * (2*g.Float64() - 1) })
					return nil
				},
			},
			{ID: "two-streams", Why: "hc_mult 2", Shapes: squares(2, 5)},
			{
				ID:     "padded",
				Why:    "logits as slices of packed rows",
				Shapes: squares(4, 5),
				Layout: map[string]bench.Layout{"logits": {Lead: 8, Gap: 8, Tail: 24}},
			},
			{
				ID: "long", Why: "tokens beyond every tile, and eight streams",
				Shapes: slices.Concat(squares(2, 257), squares(8, 2)),
			},
		},
		Twins: []bench.Twin{bench.Dense()},
	}
}

func squares(n int, tokens ...int) []bench.Shape {
	var out []bench.Shape
	for _, t := range tokens {
		out = append(out, bench.S(fmt.Sprintf("n%d-t%d", n, t), map[string]int{"tokens": t, "streams": n}))
	}
	return out
}

func variantNamed(name string) (oracle.SinkhornVariant, bool) {
	for _, v := range oracle.SinkhornVariants() {
		if v.Name == name {
			return v, true
		}
	}
	return oracle.SinkhornVariant{}, false
}

func drawSinkhorn(g bench.Gen) (bench.Problem, error) {
	v, ok := variantNamed(g.Contract.Name)
	if !ok {
		return bench.Problem{}, fmt.Errorf("no published variant of Sinkhorn is called %q", g.Contract.Name)
	}
	t, n := g.Shape.Dim("tokens"), g.Shape.Dim("streams")
	return bench.Problem{
		Attrs:    bench.Attrs{"variant": v.Name, "iterations": float64(v.Iterations), "hc_eps": v.Eps},
		Operands: map[string]bench.Operand{"logits": bench.Floats(bench.F32, g.Normal(t*n*n, 1.5), t, n, n)},
		Outputs:  map[string]bench.Output{"comb": bench.Out(bench.F32, t, n, n)},
	}, nil
}

// expectSinkhorn: v4's steps are bounded by numerics.Arith.Sinkhorn. The log variant takes its steps in fp32 log space:
// every step adds to each logarithm the rounding of a log-sum-exp over n entries and of a difference, 2^-24 times twice
// the largest magnitude M that they reach (at most the range of the logits plus ln n), n+3 roundings of the sum and 16
// for exp and log at 4 ulp. Scaling rows and columns does not expand Hilbert's projective metric (Birkhoff), so that
// the errors of the steps add up, and the last normalisation leaves at most twice their sum in an entry.
func expectSinkhorn(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	v, _ := variantNamed(c.Contract.Name)
	logits := p.In("logits")
	n := logits.Dim(1)
	e := bench.Expected{
		Name:       "comb",
		Shape:      logits.Shape,
		Axes:       axes["comb"],
		Derivation: "fp32 steps of the declared variant",
	}
	for t := range logits.Dim(0) {
		want := append([]float64(nil), logits.Row(t)...)
		v.Apply(want, n)
		e.Want = append(e.Want, want...)
		if v.Eps > 0 {
			for _, x := range numerics.FP32().Sinkhorn(numerics.ExactSlice(logits.Row(t)), n, v.Iterations, v.Eps) {
				e.Bound = append(e.Bound, x.E)
			}
			continue
		}
		e.Bound = append(e.Bound, logBound(logits.Row(t), want, n, v.Iterations)...)
	}
	return []bench.Expected{e}, nil
}

func logBound(logits, want []float64, n, iterations int) []float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range logits {
		lo, hi = math.Min(lo, x), math.Max(hi, x)
	}
	step := numerics.UFP32 * (2*(hi-lo+math.Log(float64(n))) + float64(n) + 3 + 16)
	out := make([]float64, len(want))
	for i, w := range want {
		out[i] = w*math.Expm1(2*float64(2*iterations)*step) + numerics.MinNormalFP32
	}
	return out
}
