package numerics

import "math"

// AttentionTerms is one query row of softmax attention o = Σ_j p_j·v_j, p = softmax(s), sinks included in the
// softmax's sum and not in the output.
type AttentionTerms struct {
	Scores []Tracked   // s_j with their bounds, after scale and mask; −Inf is masked
	Sinks  []Tracked   // logits that join the sum only
	V      [][]Tracked // v_j, [len(Scores)][d]
	UP     float64     // unit roundoff to which the weights p_j are rounded before the product; 0 if they are not
	Splits int         // pieces the row is cut into and merged, or rescalings of an online softmax
}

// Attention returns o [d] with its bound in arithmetic a; nil without keys, or if scores and values are not as many.
//
// Derivation (the form of the flash-attention error analyses, first order, made safe for large errors): with w_j =
// e^{s_j} and o = Σ w_j·v_j / Σ w_j, moving score j by ε_j moves o by p_j·ε_j·(v_j − o); what is common to all
// keys cancels. Hence, over keys and sinks (a sink has v = 0),
//
//	B_score = Σ_j p_j·ε'_j·|v_j − o|
//
// where ε'_j collects the score's own bound, the exponent's rounding 3u·(max−s_j) (2u of it admit 2^(x·log2 e))
// and 2k·u for exp; e^{2ε'}−1 stands for ε' where some ε' exceeds 0.05. To it come u_P·Σ p_j|v_j| for rounded
// weights, Σ p_j·E(v_j), the sum of products γ·Σ p_j|v_j|, and the normalisation (γ_n + (T+2)u)·|o| for n keys
// and T splits.
func (a Arith) Attention(t AttentionTerms) []Tracked {
	if len(t.V) == 0 || len(t.V) != len(t.Scores) {
		return nil
	}
	p, eps, n := t.weights(a)
	d := len(t.V[0])
	for _, v := range t.V {
		d = min(d, len(v))
	}
	out := make([]Tracked, d)
	depth := Gamma(n+t.Splits, a.U)
	norm := Gamma(n, a.U) + float64(t.Splits+2)*a.U
	for c := range d {
		var o, abs, own float64
		for j, v := range t.V {
			if p[j] == 0 {
				continue
			}
			o += p[j] * v[c].X
			abs += p[j] * (math.Abs(v[c].X) + v[c].E)
			own += p[j] * v[c].E
		}
		var moved float64
		for j, w := range p {
			if w == 0 {
				continue
			}
			v := 0.0
			if j < len(t.V) {
				v = t.V[j][c].X
			}
			moved += w * eps[j] * math.Abs(v-o)
		}
		e := moved + own + (t.UP+depth)*abs + norm*math.Abs(o) + a.Tiny
		out[c] = Tracked{X: o, E: e}
	}
	return out
}

// weights returns p over scores then sinks, each one's ε', and the number of terms that are not masked.
func (t AttentionTerms) weights(a Arith) (p, eps []float64, n int) {
	all := append(append([]Tracked{}, t.Scores...), t.Sinks...)
	p, eps = make([]float64, len(all)), make([]float64, len(all))
	hi := math.Inf(-1)
	for _, s := range all {
		hi = math.Max(hi, s.X)
	}
	var sum, worst float64
	for j, s := range all {
		if math.IsInf(s.X, -1) {
			continue
		}
		n++
		p[j] = math.Exp(s.X - hi)
		sum += p[j]
		eps[j] = s.E + 3*a.U*(hi-s.X) + 2*a.FnULP*a.U
		worst = math.Max(worst, eps[j])
	}
	for j := range p {
		if sum > 0 {
			p[j] /= sum
		}
		if worst > 0.05 {
			eps[j] = math.Expm1(2 * eps[j])
		}
	}
	return p, eps, n
}

// LSEBound bounds the error of ln Σ e^{s_j} stored with unit roundoff uOut: max ε_j + γ_n(u) + 2k·u + uOut·|lse|.
func (a Arith) LSEBound(scores []Tracked, uOut float64) Tracked {
	hi, eps, n := math.Inf(-1), 0.0, 0
	for _, s := range scores {
		hi = math.Max(hi, s.X)
	}
	if math.IsInf(hi, -1) {
		return Tracked{X: hi} // an empty row
	}
	var sum float64
	for _, s := range scores {
		if math.IsInf(s.X, -1) {
			continue
		}
		n++
		sum += math.Exp(s.X - hi)
		eps = math.Max(eps, s.E+3*a.U*(hi-s.X)*math.Exp(s.X-hi))
	}
	lse := hi + math.Log(sum)
	ln := math.Log(sum)
	return Tracked{X: lse, E: eps + Gamma(n, a.U) + 2*a.FnULP*a.U*(1+ln) + (a.U+uOut)*math.Abs(lse)}
}
