package numerics

import (
	"math"
	"slices"
)

// Sinkhorn returns the mHC comb matrix with its bound in arithmetic a. logits is the n×n matrix B, row-major, whose
// entries carry their own errors. The iteration (math of DeepSeek-V4's hc_split_sinkhorn): softmax over each row, +
// eps, then iters column steps and iters−1 row steps alternately, each dividing by the sum + eps. The result is the
// n×n comb in the same order, X by that iteration in float64; nil if logits are not n×n.
//
// Derivation. Intervals pushed through 39 steps would double at each and end useless, since they forget that a row's
// error and its sum's move together. So errors are carried as relative errors d_jk = δM_jk/M_jk, whose propagation
// through one step is known exactly to first order: dividing by s = Σ_k M_jk + eps gives
//
//	d'_jk = d_jk − Σ_l (M_jl/s)·d_jl
//
// (columns alike). Local errors enter at every step: u for each quotient, and for the sum (n−1 additions, one for
// eps) γ_n, which is common to a whole row or column, so that only the sum of the Jacobian over the group counts; the
// softmax enters with its Tracked bound, + eps with u. The bound of the result is Σ_t |J_T···J_{t+1}|·δ_t, with
// the product of Jacobians built backwards from the last step. Near a doubly stochastic matrix this product shrinks, so
// late steps count most. Second order is covered by widening with the square of the largest relative error; a bound
// above 0.1 relative says nothing precise.
func (a Arith) Sinkhorn(logits []Tracked, n, iters int, eps float64) []Tracked {
	if n < 1 || len(logits) != n*n {
		return nil
	}
	steps, final, local := sinkhornSteps(a, logits, n, iters, eps)
	size := n * n
	// jac is the propagation from after step t to the end: identity at the end.
	jac := make([]float64, size*size)
	for i := range size {
		jac[i*size+i] = 1
	}
	rel := make([]float64, size)
	sum := Gamma(n, a.U)
	for _, step := range slices.Backward(steps) {
		for i := range size {
			own, common := step.local(jac[i*size:(i+1)*size], n)
			rel[i] += own*a.U + common*sum
		}
		step.pullBack(jac, n)
	}
	var worst float64
	for i := range size {
		for j, v := range jac[i*size : (i+1)*size] {
			rel[i] += math.Abs(v) * local[j]
		}
		worst = math.Max(worst, rel[i])
	}
	out := make([]Tracked, size)
	for i := range out {
		out[i] = Tracked{X: final[i], E: final[i]*rel[i]*(1+4*worst) + a.Tiny}
	}
	return out
}

// SinkhornSumBound bounds the error of a column sum of the comb matrix, whatever the logits. The last step divides a
// column by its sum plus eps, so its sum is s/(s+eps) exactly; rounding moves it by γ_n of the divisor and u of each
// quotient, γ_{n+1} relative to a sum near 1. This sees a missing eps of 1e-6 (17 roundings of fp32), which the
// bound of the single elements does not.
func (a Arith) SinkhornSumBound(n int) float64 { return Gamma(n+1, a.U) }

// sinkhornStep is one normalisation: the weights M/s at its input, and its direction.
type sinkhornStep struct {
	weight []float64
	column bool
}

// group returns the index of member l of the row or column that i belongs to.
func (s sinkhornStep) group(i, l, n int) int {
	if s.column {
		return l*n + i%n
	}
	return i/n*n + l
}

// local returns Σ|j| over all entries and Σ over groups of |Σ j|, for a row j of the Jacobian after the step.
func (s sinkhornStep) local(j []float64, n int) (own, common float64) {
	for g := range n {
		first, sum := g*n, 0.0
		if s.column {
			first = g
		}
		for l := range n {
			v := j[s.group(first, l, n)]
			own += math.Abs(v)
			sum += v
		}
		common += math.Abs(sum)
	}
	return own, common
}

// pullBack replaces jac by jac·J: J's row i is e_i − Σ_l weight_l·e_l over i's group.
func (s sinkhornStep) pullBack(jac []float64, n int) {
	size := n * n
	row := make([]float64, size)
	for r := range size {
		j := jac[r*size : (r+1)*size]
		copy(row, j)
		for i, v := range j {
			if v == 0 {
				continue
			}
			for l := range n {
				g := s.group(i, l, n)
				row[g] -= v * s.weight[g]
			}
		}
		copy(j, row)
	}
}

// sinkhornSteps runs the iteration in float64 and returns its steps, the result, and the relative errors of the matrix
// that enters the first step.
func sinkhornSteps(a Arith, logits []Tracked, n, iters int, eps float64) ([]sinkhornStep, []float64, []float64) {
	m, local := make([]float64, n*n), make([]float64, n*n)
	for r := range n {
		for k, p := range a.Softmax(logits[r*n : (r+1)*n]) {
			q := a.Add(p, Exact(eps))
			m[r*n+k], local[r*n+k] = q.X, q.E/q.X
		}
	}
	steps := make([]sinkhornStep, 0, 2*iters)
	for t := range max(2*iters-1, 0) {
		s := sinkhornStep{weight: make([]float64, n*n), column: t%2 == 0}
		for i := range m {
			if (s.column && i < n) || (!s.column && i%n == 0) {
				sum := eps
				for l := range n {
					sum += m[s.group(i, l, n)]
				}
				for l := range n {
					g := s.group(i, l, n)
					s.weight[g] = m[g] / sum
				}
			}
		}
		copy(m, s.weight)
		steps = append(steps, s)
	}
	return steps, m, local
}
