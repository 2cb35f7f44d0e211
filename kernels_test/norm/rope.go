package norm

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
	"github.com/assay-suite/assay/oracle"
)

var angles = []numerics.Contract{{Name: "float64-angle"}, {Name: "fp32-table"}}

var rope = bench.Family{
	Op: opRope, Slug: "rope",
	Claim: "every pair of rotated channels MUST be rotated by its position's angle, and the other channels MUST be " +
		"copied bit for bit",
	Doc:       ropeDoc,
	Contracts: append(append([]numerics.Contract{}, angles...), numerics.Contract{Name: "bf16-out", Out: format.BF16}),
	Draw:      drawRope, Expect: expectRope, Twins: ropeTwins,
	Scenarios: ropeScenarios,
}

// drawRope draws V4's form by default: the last channels are rotated, in interleaved pairs, at positions in no order.
func drawRope(g bench.Gen) (bench.Problem, error) {
	t, h, d, e := g.Shape.Dim("tokens"), g.Shape.Dim("heads"), g.Shape.Dim("width"), g.Shape.Dim("rotary")/2*2
	e = min(e, d/2*2)
	positions := make([]int, t)
	for i := range positions {
		positions[i] = g.IntN(max(g.Shape.Dim("span"), 1))
	}
	dtype := xDType(g.Contract)
	return bench.Problem{
		Attrs: bench.Attrs{
			"rotary_dim": float64(e), "rotary_offset": float64(d - e), "pairing": "interleaved", "inverse": false,
			"rope_theta": 10000.0,
			"angle":      angleOf(g.Contract.Name),
		},
		Operands: map[string]bench.Operand{
			"x": bench.Floats(dtype, g.Normal(t*h*d, 1.7), t, h, d), "positions": bench.Ints(positions, t),
		},
		Outputs: map[string]bench.Output{"y": bench.Out(dtype, t, h, d)},
	}, nil
}

// angleOf is a contract's angle as the attribute has it, which is what a candidate sees of the contract.
func angleOf(contract string) string {
	if contract == "float64-angle" {
		return "float64"
	}
	return "fp32"
}

// rotary is a rotation as a call asks for it.
type rotary struct {
	pairs, offset, width int
	half, inverse        bool
	angle                string // attribute
	theta                float64
	freq                 []float64    // inv_freq, where given
	cache                bench.Tensor // cos_sin_cache, where given
}

func rotaryOf(a bench.Attrs, in func(operand string) bench.Tensor) rotary {
	return rotary{
		pairs: a.Int("rotary_dim") / 2, offset: a.Int("rotary_offset"), width: in("x").Dim(2),
		half: a.Word("pairing") == "half", inverse: a.Flag("inverse"), angle: a.Word("angle"), theta: a.Num("rope_theta"),
		freq: in("inv_freq").Data, cache: in("cos_sin_cache"),
	}
}

// channels of pair i in a head.
func (r rotary) channels(i int) (first, second int) {
	if r.half {
		return r.offset + i, r.offset + r.pairs + i
	}
	return r.offset + 2*i, r.offset + 2*i + 1
}

// exactAngle is the exact angle under a contract, with the error that a kernel may have in it. Under fp32-table the
// product of a position and a given fp32 frequency is one rounding that every kernel makes alike; a frequency computed
// in fp32 has the error of numerics.Arith.RopeAngle. float64's own error, a few units of 2^-53 for power and product,
// is 2^-50.
func (r rotary) exactAngle(contract string, position, i int) numerics.Angle {
	f64 := func(a float64) numerics.Angle { return numerics.Angle{Theta: a, E: 0x1p-50 * math.Abs(a)} }
	switch {
	case r.freq != nil && contract == "float64-angle":
		return f64(float64(position) * r.freq[i])
	case r.freq != nil:
		return numerics.Angle{Theta: oracle.Rotary{Frequencies: r.freq, FP32Table: true}.Angle(position, i)}
	case contract == "float64-angle":
		return f64(float64(position) * math.Pow(r.theta, -2*float64(i)/float64(2*r.pairs)))
	}
	return numerics.FP32().RopeAngle(position, r.theta, i, 2*r.pairs)
}

// expectRope rotates each pair with its bound; the value is the bound's own exact rotation, which is oracle.Rotary's
// (TestRopeIsRotary).
func expectRope(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	x, positions, r := p.In("x"), p.In("positions").Ints(), rotaryOf(p.Attrs, p.In)
	e := bench.Expected{
		Name: "y", Shape: x.Shape, Axes: axesOf(x.Shape), Want: append([]float64(nil), x.Data...),
		Bound: make([]float64, len(x.Data)),
		Derivation: "angle error times the rotated value, fp32 cos and sin, two products and a sum, one rounding to the " +
			"output; unrotated channels are exact",
	}
	if e.Want == nil {
		e.Want = []float64{}
	}
	h, d := x.Dim(1), x.Dim(2)
	a := numerics.FP32()
	for t, position := range positions {
		for i := range r.pairs {
			first, second := r.channels(i)
			angle := numerics.Angle{}
			if r.cache.Data == nil {
				angle = r.exactAngle(c.Contract.Name, position, i)
			}
			for head := range h {
				at := (t*h + head) * d
				u, v := numerics.Exact(x.Data[at+first]), numerics.Exact(x.Data[at+second])
				var y1, y2 numerics.Tracked
				if r.cache.Data != nil {
					row := r.cache.Row(position)
					y1, y2 = byTable(a, u.X, v.X, row[i], row[r.pairs+i], r.inverse)
				} else {
					y1, y2 = a.Rotate(u, v, angle, 0, r.inverse)
				}
				e.Want[at+first], e.Bound[at+first] = y1.X, y1.E+bench.OutTerm(c.Contract, y1.X, y1.E)
				e.Want[at+second], e.Bound[at+second] = y2.X, y2.E+bench.OutTerm(c.Contract, y2.X, y2.E)
			}
		}
	}
	return []bench.Expected{e}, nil
}

// byTable rotates by a cosine and sine that are operands.
func byTable(a numerics.Arith, u, v, cos, sin float64, inverse bool) (y1, y2 numerics.Tracked) {
	if inverse {
		sin = -sin
	}
	e := numerics.ExactSlice
	return a.Dot(e([]float64{u, -v}), e([]float64{cos, sin})), a.Dot(e([]float64{u, v}), e([]float64{sin, cos}))
}
