package numerics

import "math"

// Angle is a rotary angle position·invFreq with its absolute error.
type Angle struct {
	Theta, E float64
}

// RopeAngle bounds the angle p·base^(−2i/d) as computed in arithmetic a at position p for pair i of d rotary
// dimensions: relative error of invFreq (the power, 2k·u; its exponent rounded once, u·(2i/d)·ln base; a reciprocal,
// u) and u for the product. This is the term that makes a half-precision table fail at long positions.
func (a Arith) RopeAngle(position int, base float64, i, d int) Angle {
	x := float64(2*i) / float64(d)
	inv := math.Pow(base, -x)
	rel := 2*a.FnULP*a.U + a.U*x*math.Abs(math.Log(base)) + 2*a.U
	if i == 0 {
		rel = 0 // base^0 = 1 and p·1 are exact
	}
	theta := float64(position) * inv
	return Angle{Theta: theta, E: math.Abs(theta) * rel}
}

// Rotate returns (x1·cos − x2·sin, x1·sin + x2·cos) with bounds; inverse rotates back. uTable is the unit
// roundoff of the stored table, 0 if cos and sin are used as computed.
//
// Derivation: with the derivative of a rotation being the rotated quarter turn, an angle error E moves an output by at
// most E·|other output| + E²/2·|x|; the table adds (2k·u + uTable) to cos and to sin, absolute since both are at
// most 1; two products and a sum add γ_2 of their absolute values.
func (a Arith) Rotate(x1, x2 Tracked, t Angle, uTable float64, inverse bool) (Tracked, Tracked) {
	s, c := math.Sincos(t.Theta)
	if inverse {
		s = -s
	}
	y1, y2 := x1.X*c-x2.X*s, x1.X*s+x2.X*c
	table := 2*a.FnULP*a.U + uTable
	common := t.E*t.E/2*math.Hypot(x1.X, x2.X) + table*(math.Abs(x1.X)+math.Abs(x2.X)) + 2*a.Tiny
	g := Gamma(2, a.U)
	e := func(other, p, q, ep, eq float64) float64 {
		return common + t.E*math.Abs(other) + g*(math.Abs(p)+math.Abs(q)) + (1+g+table+t.E)*(ep+eq)
	}
	ac, as := math.Abs(c), math.Abs(s)
	return Tracked{X: y1, E: e(y2, x1.X*c, x2.X*s, x1.E*ac, x2.E*as)},
		Tracked{X: y2, E: e(y1, x1.X*s, x2.X*c, x1.E*as, x2.E*ac)}
}
