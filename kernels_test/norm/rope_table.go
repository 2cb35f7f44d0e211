package norm

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

var ropeTable = bench.Family{
	Op: opTable, Slug: "rope-table",
	Claim: "cosines and sines MUST be those of the position's angle under YaRN, within the declared precision of " +
		"the angle",
	Doc:       tableDoc,
	Contracts: angles,
	Draw:      drawTable, Expect: expectTable, Twins: tableTwins,
	Scenarios: []bench.Scenario{
		{
			ID:     "lengths",
			Why:    "no position, one, and the edges of a tile of 64",
			Shapes: tables(64, 4096, 0, 1, 63, 64, 65),
			Change: v4YaRN,
		},
		{ID: "plain", Why: "layers without YaRN: base 10000", Shapes: tables(64, 4096, 6)},
		{
			ID:     "v4",
			Why:    "V4's compressed layers: base 160000, factor 16, no amplitude",
			Shapes: tables(64, 1<<20, 6),
			Change: v4YaRN,
		},
		{ID: "v32", Why: "V3.2: base 10000, factor 40 from 4096", Shapes: tables(64, 1<<17, 6), Change: v32YaRN},
		{
			ID:     "amplitude",
			Why:    "an amplitude in the table, as other models have it",
			Shapes: tables(64, 1<<14, 6),
			Change: bench.All(v32YaRN, bench.Set(bench.Attrs{"mscale": 1.0})),
		},
		{
			ID:     "amplitude-part",
			Why:    "mscale 0.707: the amplitude is not linear in 1",
			Shapes: tables(64, 1<<14, 6),
			Change: bench.All(v4YaRN, bench.Set(bench.Attrs{"mscale": 0.707})),
		},
		{
			ID:     "early",
			Why:    "positions from 0 on",
			Shapes: tables(64, 64, 70),
			Change: bench.All(v4YaRN, at(func(t int) int { return t })),
		},
		{
			ID:     "million",
			Why:    "the last positions of V4's context",
			Shapes: tables(64, 1<<20, 5),
			Change: bench.All(v4YaRN, at(func(t int) int { return 1<<20 - 1 - 41*t })),
		},
		{
			ID:     "half-precision-edge",
			Why:    "position 1857, where a half-precision table shows",
			Shapes: tables(64, 4096, 8),
			Change: bench.All(v32YaRN, at(func(t int) int { return 1850 + t })),
		},
		{
			ID:     "narrow",
			Why:    "sixteen channels: the blended pairs are few",
			Shapes: tables(16, 4096, 6),
			Change: bench.All(v32YaRN, bench.Set(bench.Attrs{"original_max_position": 512.0})),
		},
		{
			ID:     "betas",
			Why:    "betas of another model",
			Shapes: tables(64, 8192, 6),
			Change: bench.All(v32YaRN, bench.Set(bench.Attrs{"beta_fast": 16.0, "beta_slow": 2.0})),
		},
		{
			ID:     "clipped",
			Why:    "a trained context so short that the blend begins before pair 0",
			Shapes: tables(64, 4096, 6),
			Change: bench.All(v32YaRN, bench.Set(bench.Attrs{"original_max_position": 150.0, "factor": 3.0})),
		},
		{
			ID:     "blend-past-end",
			Why:    "a small base: the blend would end beyond channel rotary_dim - 1, where it is cut off",
			Shapes: append(tables(64, 8192, 6), tables(16, 8192, 6)...),
			Change: yarn(50, 16, 65536, 1000, 1, 0),
		},
		{
			ID:     "blend-past-pairs",
			Why:    "the blend ends beyond the last pair but before rotary_dim - 1: nothing is cut off",
			Shapes: tables(64, 8192, 6),
			Change: yarn(500, 16, 65536, 1000, 1, 0),
		},
		{
			ID:     "no-yarn-factor",
			Why:    "a factor without a trained context is no YaRN",
			Shapes: tables(64, 8192, 6),
			Change: bench.All(v32YaRN, bench.Set(bench.Attrs{"original_max_position": 0.0, "mscale": 1.0})),
		},
		{
			ID:     "padded",
			Why:    "positions sliced out of a longer list",
			Shapes: tables(64, 4096, 5),
			Change: v4YaRN,
			Layout: map[string]bench.Layout{"positions": {Lead: 2, Tail: 9}},
		},
		{
			ID:     "alone",
			Why:    "a batch and every position alone",
			Shapes: tables(64, 1<<16, 7),
			Change: v4YaRN,
			Relate: inPieces(bench.Alone),
		},
		{
			ID:     "long",
			Why:    "positions beyond every tile up to 2^20, and 128 rotated channels",
			Shapes: append(tables(8, 1<<20, 257), tables(128, 1<<20, 3)...),
			Change: bench.All(v4YaRN, at(func(t int) int { return 1<<20 - 3*t })),
		},
	},
}

func tables(e, span int, t ...int) []bench.Shape {
	var out []bench.Shape
	for _, n := range t {
		out = append(out, bench.S(fmt.Sprintf("r%d-t%d", e, n), map[string]int{"tokens": n, "rotary": e, "span": span}))
	}
	return out
}

func yarn(theta, factor, original, fast, slow, mscale float64) bench.Change {
	return bench.Set(bench.Attrs{
		"rope_theta": theta, "factor": factor, "original_max_position": original, "beta_fast": fast, "beta_slow": slow,
		"mscale": mscale,
	})
}

var (
	v4YaRN  = yarn(160000, 16, 65536, 32, 1, 0)
	v32YaRN = yarn(10000, 40, 4096, 32, 1, 0)
)

func drawTable(g bench.Gen) (bench.Problem, error) {
	t, e := g.Shape.Dim("tokens"), max(g.Shape.Dim("rotary")/2*2, 2)
	positions := make([]int, t)
	for i := range positions {
		positions[i] = g.IntN(max(g.Shape.Dim("span"), 1))
	}
	return bench.Problem{
		Attrs: bench.Attrs{
			"rope_theta": 10000.0, "rotary_dim": float64(e), "factor": 1.0, "original_max_position": 0.0, "beta_fast": 32.0,
			"beta_slow": 1.0, "mscale": 0.0,
			"angle": angleOf(g.Contract.Name),
		},
		Operands: map[string]bench.Operand{"positions": bench.Ints(positions, t)},
		Outputs:  map[string]bench.Output{"cos_sin": bench.Out(bench.F32, t, e)},
	}, nil
}

// stretched is YaRN as the attributes say it, and the amplitude.
func stretched(a bench.Attrs) (y oracle.YaRN, amplitude float64) {
	y = oracle.YaRN{
		Rope: oracle.Rope{Base: a.Num("rope_theta"), Dims: a.Int("rotary_dim")}, Factor: a.Num("factor"),
		Original: a.Int("original_max_position"),
		BetaFast: a.Num("beta_fast"), BetaSlow: a.Num("beta_slow"),
	}
	if amplitude = 1; y.Original > 0 {
		amplitude = oracle.YaRNMScale(y.Factor, a.Num("mscale"))
	}
	return y, amplitude
}

// expectTable: in fp32 the frequency is a power, blended in fp32 (frequency32), and the angle its product with the
// position.
func expectTable(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	y, amplitude := stretched(p.Attrs)
	positions, freq := p.In("positions").Ints(), y.Frequencies()
	n := len(freq)
	e := bench.Expected{
		Name: "cos_sin", Shape: []int{len(positions), 2 * n}, Axes: []string{"token", "element"},
		Want: make([]float64, len(positions)*2*n), Bound: make([]float64, len(positions)*2*n),
		Derivation: "error of the angle, fp32 cos and sin, product with the amplitude",
	}
	a := numerics.FP32()
	m := numerics.Tracked{X: amplitude, E: 8 * a.U * amplitude}
	if amplitude == 1 {
		m.E = 0
	}
	for t, position := range positions {
		for i, f := range freq {
			angle := float64(position) * f
			x := numerics.Tracked{X: angle, E: 0x1p-50 * math.Abs(angle)}
			if c.Contract.Name == "fp32-table" {
				x = a.Mul(numerics.Exact(float64(position)), frequency32(a, y, i))
				x.X = angle
				if i == 0 && f == 1 {
					x.E = 0 // theta^0 = 1 and p·1 are exact
				}
			}
			for half, v := range []numerics.Tracked{a.Mul(a.Cos(x), m), a.Mul(a.Sin(x), m)} {
				at := t*2*n + half*n + i
				e.Want[at], e.Bound[at] = v.X, v.E
			}
		}
	}
	return []bench.Expected{e}, nil
}

// frequency32 is the frequency of a pair with its error in fp32: a power as in numerics.Arith.RopeAngle, then the blend
// with the roundings of its ramp.
func frequency32(a numerics.Arith, y oracle.YaRN, i int) numerics.Tracked {
	power := a.RopeAngle(1, y.Base, i, y.Dims)
	theta := numerics.Tracked{X: power.Theta, E: power.E}
	if y.Original == 0 {
		return theta
	}
	low, high := y.Correction()
	span := float64(high - low)
	if low == high {
		span = 0.001
	}
	ramp := a.Clamp(a.Div(numerics.Exact(float64(i-low)), numerics.Tracked{X: span, E: a.U * span}), 0, 1)
	if ramp.X == 0 || ramp.X == 1 {
		ramp.E = 0 // 0/span, span/span and what the clamp cuts are exact
	}
	keep := a.Sub(numerics.Exact(1), ramp)
	return a.Add(a.Mul(theta, keep), a.Mul(a.Div(theta, numerics.Exact(y.Factor)), ramp))
}
