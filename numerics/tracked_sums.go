package numerics

import "math"

// Sum is Σ x_i in any order: every term passes through at most n−1 additions, so the error is at most
// γ_{n−1}·Σ(|x_i|+E_i) + ΣE_i (Higham, 4.2).
func (a Arith) Sum(xs []Tracked) Tracked {
	return a.SumDepth(xs, len(xs)-1)
}

// SumDepth is Σ x_i for a reduction in which a term passes through at most depth additions:
// ⌈log2 n⌉ for a tree, b−1 + ⌈n/b⌉−1 for blocks of b combined one after another.
func (a Arith) SumDepth(xs []Tracked, depth int) Tracked {
	var s, abs, prop float64
	for _, x := range xs {
		s += x.X
		abs += math.Abs(x.X)
		prop += x.E
	}
	return a.reduced(s, abs, prop, depth, 0)
}

// Dot is Σ x_i·y_i in any order, products rounded or fused: one rounding for the product and at most n−1
// for the additions, γ_n·Σ|x_i·y_i| over the perturbed operands (Higham, 3.1). The slices must have one
// length; a shorter one ends the sum.
func (a Arith) Dot(xs, ys []Tracked) Tracked {
	n := min(len(xs), len(ys))
	return a.DotDepth(xs, ys, n)
}

// DotDepth is Dot for a reduction in which a product passes through at most depth roundings, its own
// included.
func (a Arith) DotDepth(xs, ys []Tracked, depth int) Tracked {
	n := min(len(xs), len(ys))
	var s, abs, prop float64
	for i := range n {
		p := xs[i].X * ys[i].X
		s += p
		abs += math.Abs(p)
		prop += mulProp(xs[i], ys[i])
	}
	return a.reduced(s, abs, prop, depth, float64(n)*a.Tiny)
}

func (a Arith) reduced(s, abs, prop float64, depth int, tiny float64) Tracked {
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return Tracked{X: s}
	}
	return Tracked{X: s, E: prop + Gamma(depth, a.U)*(abs+prop) + tiny}
}

// SumSquares is Σ x_i².
func (a Arith) SumSquares(xs []Tracked) Tracked { return a.Dot(xs, xs) }

// Softmax is exp(x_i − max)/Σ exp(x_j − max), the shifted form every implementation uses; a term of
// −Inf gets exactly 0. extra is further logits that join the sum and get no output (attention sinks).
//
// Errors of the scores are not pushed through each step, where they would be counted once in the numerator and
// once in the sum as if they could not cancel. Instead: p_i changes by at most p_i·(e^{2ε}−1) when every score
// moves by at most ε, ε = max E_j (both the numerator and the sum move by a factor within e^{±ε}). The
// evaluation adds, relative to p_i: the rounding of x_i − max (absolute in the exponent: 3u·(max−x_i), where
// 2u of the 3 admit the form 2^(x·log2 e), and its weighted mean in the sum), 2·k·u for each exp, γ_n for the
// sum and u for the division.
func (a Arith) Softmax(xs []Tracked, extra ...Tracked) []Tracked {
	all := append(append([]Tracked{}, xs...), extra...)
	out := make([]Tracked, len(xs))
	hi, eps := math.Inf(-1), 0.0
	for _, x := range all {
		hi = math.Max(hi, x.X)
		if !math.IsInf(x.X, 0) {
			eps = math.Max(eps, x.E)
		}
	}
	if math.IsInf(hi, -1) {
		for i := range out {
			out[i] = Tracked{X: math.NaN()}
		}
		return out
	}
	var sum, spread float64
	n := 0
	for _, x := range all {
		w := math.Exp(x.X - hi)
		if w == 0 {
			continue
		}
		n++
		sum += w
		spread += w * (hi - x.X)
	}
	common := 2*a.FnULP*a.U + Gamma(n, a.U) + 3*a.U*(spread/sum+2*eps) + a.U
	for i, x := range xs {
		p := math.Exp(x.X-hi) / sum
		if p == 0 {
			out[i] = Tracked{X: p, E: a.Tiny}
			if math.IsInf(x.X, -1) {
				out[i].E = 0
			}
			continue
		}
		rel := math.Expm1(2*eps + 2*a.FnULP*a.U + common + 3*a.U*(hi-x.X+2*eps))
		out[i] = Tracked{X: p, E: p*rel + a.Tiny}
	}
	return out
}
