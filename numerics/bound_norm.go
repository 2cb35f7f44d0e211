package numerics

import "math"

// RMSNorm returns y_i = x_i·rsqrt(mean(x²)+eps)·w_i with its bound in arithmetic a; weight nil means the unweighted
// form. x has length d.
//
// Derivation: the mean of squares is a dot product of positive terms, relative error γ_d + 2E/|x| and u for the
// division; the root halves relative errors; rsqrt adds 2k·u, the two products u each. Errors of x itself move y
// directly by E_i·r and, through the root, by |y_i|·Σ|x_j|E_j/(d·(mean+eps)).
func (a Arith) RMSNorm(x, weight []Tracked, eps float64) []Tracked {
	r := a.RMSScale(x, eps)
	y := make([]Tracked, len(x))
	for i := range x {
		y[i] = a.Mul(x[i], r)
		if weight != nil {
			y[i] = a.Mul(y[i], weight[i])
		}
	}
	return y
}

// RMSScale is r = 1/sqrt(mean(x²)+eps) with its bound.
func (a Arith) RMSScale(x []Tracked, eps float64) Tracked {
	if len(x) == 0 {
		return Tracked{X: math.NaN(), E: math.Inf(1)}
	}
	mean := a.Div(a.SumSquares(x), Exact(float64(len(x))))
	return a.RSqrt(a.Add(mean, Exact(eps)))
}
