package numerics

import "math"

// Exp is e^x.
func (a Arith) Exp(x Tracked) Tracked { return a.Fn(x, math.Exp) }

// Log is ln x; +Inf bound where the interval reaches 0.
func (a Arith) Log(x Tracked) Tracked { return a.Fn(x, math.Log) }

// Log1p is ln(1+x).
func (a Arith) Log1p(x Tracked) Tracked { return a.Fn(x, math.Log1p) }

// Sigmoid is 1/(1+e^−x) in any of its usual forms: with exp good to 2 ulp, the sum and the quotient add
// 2 roundings, 6u of FnULP's 8u.
func (a Arith) Sigmoid(x Tracked) Tracked { return a.Fn(x, SigmoidExact) }

// SigmoidExact is the logistic function, without overflow on either side.
func SigmoidExact(v float64) float64 {
	if v >= 0 {
		return 1 / (1 + math.Exp(-v))
	}
	e := math.Exp(v)
	return e / (1 + e)
}

// Softplus is ln(1+e^x) in the form that keeps small results: max(x,0) + log1p(e^−|x|). Both parts are
// non-negative, so their relative errors do not grow in the sum.
func (a Arith) Softplus(x Tracked) Tracked { return a.Fn(x, SoftplusExact) }

// SoftplusExact is ln(1+e^v), without overflow, relative accuracy kept as v → −∞.
func SoftplusExact(v float64) float64 {
	return math.Max(v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
}

// SiLU is x·sigmoid(x): composed, since it is not monotone.
func (a Arith) SiLU(x Tracked) Tracked { return a.Mul(x, a.Sigmoid(x)) }

// Tanh is tanh x.
func (a Arith) Tanh(x Tracked) Tracked { return a.Fn(x, math.Tanh) }

// Sin is sin x; |sin'| <= 1. A function error relative to the result does not hold near multiples of π for
// coarse argument reduction, so u·1 is added.
func (a Arith) Sin(x Tracked) Tracked {
	y := a.Lipschitz(x, math.Sin, 1)
	y.E += a.U
	return y
}

// Cos is cos x; as Sin.
func (a Arith) Cos(x Tracked) Tracked {
	y := a.Lipschitz(x, math.Cos, 1)
	y.E += a.U
	return y
}
