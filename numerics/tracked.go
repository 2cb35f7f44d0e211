package numerics

import "math"

// Tracked is a real number X together with E, a bound on how far an implementation that works in a given
// arithmetic can be from it: |computed − X| <= E. Composing an operator from Tracked values with the
// methods of Arith derives the operator's error bound mechanically.
//
// X is evaluated in float64. Its own rounding is not in E: every operation adds at least u·|X| to E, which
// for u of fp32 or coarser is 2^29 times float64's.
type Tracked struct {
	X, E float64
}

// Exact is a stored operand: the implementation has exactly this value.
func Exact(x float64) Tracked { return Tracked{X: x} }

// ExactSlice turns stored operands into Tracked values.
func ExactSlice(xs []float64) []Tracked {
	out := make([]Tracked, len(xs))
	for i, x := range xs {
		out[i].X = x
	}
	return out
}

// Arith is the arithmetic whose errors Tracked values carry.
//
// Every elementary operation is the standard model with underflow: computed = (a op b)(1+δ)+η with |δ| <= U
// and |η| <= Tiny where a product, quotient or function may underflow. Inputs carry their own errors, and
// the propagated part is bounded at the far end of the input interval, so that the result holds exactly, not
// to first order only. Sums and dot products are bounded for every order, with or without fused
// multiply-add.
type Arith struct {
	// U is the unit roundoff.
	U float64
	// FnULP is the error of exp, log, sin, ... in units in the last place (1 ulp <= 2·U·|result|).
	FnULP float64
	// Tiny is the absolute error where results underflow: the smallest normal number, so that flushing
	// to zero is admitted.
	Tiny float64
}

// FP32 is single precision with functions good to 4 ulp: CUDA's expf, logf, sinf and cosf are documented
// within 2 (CUDA C++ Programming Guide, mathematical functions), SLEEF's and libm's within 1, and the
// rest is left to compositions such as 1/(1+exp(−x)).
func FP32() Arith { return Arith{U: UFP32, FnULP: 4, Tiny: MinNormalFP32} }

// done adds one rounding: |fl(ŷ) − y| <= p + u(|y|+p) + tiny for |ŷ − y| <= p.
func (a Arith) done(y, prop, u, tiny float64) Tracked {
	if math.IsInf(y, 0) || math.IsNaN(y) {
		return Tracked{X: y} // a masked score or an overflow: compared by class, not by distance
	}
	return Tracked{X: y, E: prop + u*(math.Abs(y)+prop) + tiny}
}

// Add is x + y.
func (a Arith) Add(x, y Tracked) Tracked { return a.done(x.X+y.X, x.E+y.E, a.U, 0) }

// Sub is x − y.
func (a Arith) Sub(x, y Tracked) Tracked { return a.done(x.X-y.X, x.E+y.E, a.U, 0) }

// Mul is x·y.
func (a Arith) Mul(x, y Tracked) Tracked { return a.done(x.X*y.X, mulProp(x, y), a.U, a.Tiny) }

func mulProp(x, y Tracked) float64 {
	if x.E == 0 && y.E == 0 {
		return 0 // keeps Inf·0 out of exact operands
	}
	return math.Abs(x.X)*y.E + math.Abs(y.X)*x.E + x.E*y.E
}

// Div is x/y. The bound is +Inf where y's interval contains 0. With |x̂−x| <= E_x and |ŷ−y| <= E_y,
// |x̂/ŷ − x/y| = |(x̂−x)·y − x·(ŷ−y)| / (|y|·|ŷ|) <= (E_x·|y| + |x|·E_y) / (|y|·(|y|−E_y)).
func (a Arith) Div(x, y Tracked) Tracked {
	q := x.X / y.X
	den := math.Abs(y.X) - y.E
	if den <= 0 {
		return Tracked{X: q, E: math.Inf(1)}
	}
	prop := (x.E*math.Abs(y.X) + math.Abs(x.X)*y.E) / (math.Abs(y.X) * den)
	return a.done(q, prop, a.U, a.Tiny)
}

// Neg is −x, exact.
func (a Arith) Neg(x Tracked) Tracked { return Tracked{X: -x.X, E: x.E} }

// Scale is x·2^k, exact short of underflow; p is that power of two.
func (a Arith) Scale(x Tracked, p float64) Tracked { return Tracked{X: x.X * p, E: x.E * math.Abs(p)} }

// Max is max(x, y): |max(x̂,ŷ) − max(x,y)| <= max(E_x, E_y).
func (a Arith) Max(x, y Tracked) Tracked {
	return Tracked{X: math.Max(x.X, y.X), E: math.Max(x.E, y.E)}
}

// Clamp limits x to [lo, hi]; it never moves two numbers apart, so E stays.
func (a Arith) Clamp(x Tracked, lo, hi float64) Tracked {
	return Tracked{X: math.Min(math.Max(x.X, lo), hi), E: x.E}
}

// Round is x stored in a format of unit roundoff u (2^-8 for bf16) by rounding to nearest.
func (a Arith) Round(x Tracked, u float64) Tracked { return a.done(x.X, x.E, u, 0) }

// Sqrt is √x, correctly rounded.
func (a Arith) Sqrt(x Tracked) Tracked {
	return a.monotone(x, func(v float64) float64 { return math.Sqrt(math.Max(v, 0)) }, a.U, 0)
}

// RSqrt is 1/√x at function error: rsqrt instructions are not correctly rounded.
func (a Arith) RSqrt(x Tracked) Tracked {
	if x.X-x.E <= 0 {
		return Tracked{X: 1 / math.Sqrt(x.X), E: math.Inf(1)}
	}
	return a.Fn(x, func(v float64) float64 { return 1 / math.Sqrt(v) })
}

// Fn is f(x) for a monotone f at FnULP. On [x−E, x+E] a monotone f departs most from f(x) at an end.
func (a Arith) Fn(x Tracked, f func(float64) float64) Tracked {
	return a.monotone(x, f, 2*a.FnULP*a.U, a.Tiny)
}

func (a Arith) monotone(x Tracked, f func(float64) float64, u, tiny float64) Tracked {
	y, prop := f(x.X), 0.0
	if x.E > 0 {
		prop = math.Max(math.Abs(f(x.X+x.E)-y), math.Abs(f(x.X-x.E)-y))
		if math.IsNaN(prop) {
			prop = math.Inf(1)
		}
	}
	return a.done(y, prop, u, tiny)
}

// Lipschitz is f(x) at FnULP for a function that is not monotone but has |f'| <= l: sin, cos, SiLU.
func (a Arith) Lipschitz(x Tracked, f func(float64) float64, l float64) Tracked {
	return a.done(f(x.X), l*x.E, 2*a.FnULP*a.U, a.Tiny)
}
