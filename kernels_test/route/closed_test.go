package route_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/kernels_test/route"
	"github.com/assay-suite/assay/oracle"
)

// benches calls f with every case of an operator.
func benches(t *testing.T, op string, f func(b *bench.Bench, p bench.Problem)) {
	t.Helper()
	for _, c := range route.Suite().Cases() {
		if c.Family.Op == op {
			b, err := bench.New(c)
			require.NoError(t, err)
			f(b, b.Problem())
		}
	}
}

// score is s by other formulas than the oracle's: hyperbolic tangent, and big steps of ln(1+e^z).
func score(z float64, scoring string) float64 {
	if scoring == "sigmoid" {
		if z < -30 {
			return math.Exp(z)
		}
		return (1 + math.Tanh(z/2)) / 2
	}
	switch {
	case z > 36:
		return math.Sqrt(z)
	case z < -30:
		return math.Exp(z / 2) // ln(1+x) = x to 1e-13
	}
	return math.Sqrt(math.Log1p(math.Exp(z)))
}

// The expected experts MUST be the best of all sets, by trying every set of groups and of experts; their weights MUST
// be their scores' shares.
func TestGateByTryingAll(t *testing.T) {
	tried := 0
	benches(t, "moe_gate", func(b *bench.Bench, p bench.Problem) {
		a, logits := p.Attrs, p.In("logits")
		n, k := logits.Dim(1), a.Int("top_k")
		if n > 16 || a.Word("scoring_func") == "softmax" || b.Case.Scenario.Relate != nil {
			return
		}
		bias := p.Operands["bias"].Values
		ids, weights := b.Expected[0], b.Expected[1]
		for row := range min(logits.Dim(0), 8) {
			if weights.Free[row*k] {
				continue // padding and NaN
			}
			tried++
			s, c := make([]float64, n), make([]float64, n)
			bias, inLogit := bias, a.Word("bias_in") == "logit"
			for e, z := range logits.Row(row) {
				if inLogit {
					z += bias[e]
				}
				if s[e] = score(z, a.Word("scoring_func")); math.IsInf(z, -1) {
					s[e] = 0
				}
				if c[e] = s[e]; bias != nil && !inLogit {
					c[e] += bias[e]
				}
			}
			best := bestSum(c, a.Int("n_group"), a.Int("topk_group"), k, bias != nil)
			got, total := 0.0, a.Num("renormalise_floor")
			for i := range k {
				e := int(ids.Want[row*k+i])
				got += c[e]
				total += s[e]
			}
			if math.Abs(got-best) > 1e-9*(1+math.Abs(best)) {
				t.Fatalf("%s: token %d: the experts sum to %v, the best to %v", b.Case.ID, row, got, best)
			}
			for i := range k {
				w := a.Num("routed_scaling") * s[int(ids.Want[row*k+i])]
				if a.Flag("renormalise") {
					w /= total
				}
				if v := weights.Want[row*k+i]; math.Abs(v-w) > 1e-9*w+1e-30 {
					t.Fatalf("%s: token %d: weight %d is %v, want %v", b.Case.ID, row, i, v, w)
				}
			}
		}
	})
	assert.Greater(t, tried, 200)
}

// bestSum is the largest sum of k of c over all sets of experts within the best groups; the best groups are the set of
// groups whose scores, each the largest sum of two (or one) of its c, sum to most.
func bestSum(c []float64, groups, keep, k int, biased bool) float64 {
	size := len(c) / groups
	two := 1
	if biased && size > 1 {
		two = 2
	}
	kept := c
	if groups > 1 {
		scores := make([]float64, groups)
		for g := range scores {
			scores[g], _ = largest(c[g*size:(g+1)*size], two)
		}
		_, set := largest(scores, keep)
		kept = nil
		for g := range groups {
			if set&(1<<g) != 0 {
				kept = append(kept, c[g*size:(g+1)*size]...)
			}
		}
	}
	sum, _ := largest(kept, k)
	return sum
}

// largest tries every set of k.
func largest(v []float64, k int) (sum float64, set int) {
	sum = math.Inf(-1)
	for bits := 1<<k - 1; bits < 1<<len(v); {
		total := 0.0
		for i := range v {
			if bits&(1<<i) != 0 {
				total += v[i]
			}
		}
		if total > sum {
			sum, set = total, bits
		}
		low := bits & -bits // the next number with as many bits
		high := bits + low
		bits = high | (bits^high)/low>>2
	}
	return sum, set
}

// A sum over experts MUST be oracle.MixExperts with experts that return the rows of the call.
func TestCombineIsMixExperts(t *testing.T) {
	benches(t, "moe_combine", func(b *bench.Bench, p bench.Problem) {
		x, w, rows := p.In("expert_out"), p.In("topk_weights"), p.In("src2dst").Ints()
		tokens, k, width := w.Dim(0), w.Dim(1), x.Dim(1)
		shared := p.In("shared_out")
		in := oracle.NewMat(tokens, width) // a token is known by its first channel
		r := oracle.Routing{Experts: make([][]int, tokens), Weights: make([][]float64, tokens)}
		for i := range tokens {
			in.Row(i)[0] = float64(i)
			for slot := range k {
				if rows[i*k+slot] >= 0 {
					r.Experts[i] = append(r.Experts[i], slot)
					r.Weights[i] = append(r.Weights[i], p.Attrs.Num("routed_scaling")*w.Row(i)[slot])
				}
			}
		}
		expert := func(id int) oracle.ExpertWeights {
			return oracle.ExpertWeights{W1: oracle.Mat{Rows: 1, Cols: 1, Data: []float64{float64(id)}}}
		}
		experts := make([]oracle.ExpertWeights, k)
		for slot := range experts {
			experts[slot] = expert(slot)
		}
		y := oracle.MixExperts(in, r, experts, expert(-1), 0,
			func(m oracle.Mat, e oracle.ExpertWeights, _ float64) oracle.Mat {
				out := oracle.NewMat(m.Rows, m.Cols)
				for i := range m.Rows {
					token, slot := int(m.Row(i)[0]), int(e.W1.Data[0])
					switch {
					case slot >= 0:
						copy(out.Row(i), x.Row(rows[token*k+slot]))
					case shared.Data != nil:
						copy(out.Row(i), shared.Row(token))
					}
				}
				return out
			})
		for i, v := range y.Data {
			if want := b.Expected[0].Want[i]; math.Abs(v-want) > b.Expected[0].Bound[i]/100 {
				t.Fatalf("%s: element %d is %v, by oracle.MixExperts %v", b.Case.ID, i, want, v)
			}
		}
	})
}

// Weights of a hash gate MUST sum to the factor where they are renormalised without floor, and stand in the ratio of
// the scores.
func TestHashWeights(t *testing.T) {
	benches(t, "hash_gate", func(b *bench.Bench, p bench.Problem) {
		a, weights, ids := p.Attrs, b.Expected[1].Want, b.Expected[0].Want
		k, logits := p.In("tid2eid").Dim(1), p.In("logits")
		for row := range logits.Dim(0) {
			sum := 0.0
			for i := range k {
				sum += weights[row*k+i]
				if a.Word("scoring_func") == "softmax" {
					continue
				}
				s0 := score(logits.Row(row)[int(ids[row*k])], a.Word("scoring_func"))
				s := score(logits.Row(row)[int(ids[row*k+i])], a.Word("scoring_func"))
				assert.LessOrEqual(t, math.Abs(weights[row*k+i]*s0-weights[row*k]*s), 1e-9*weights[row*k]*s, b.Case.ID)
			}
			if a.Flag("renormalise") && a.Num("renormalise_floor") == 0 {
				assert.LessOrEqual(t, math.Abs(sum-a.Num("routed_scaling")), 1e-12, b.Case.ID)
			}
		}
	})
}

// Another admissible choice MUST be accepted with weights of its own, a choice that no rounding explains MUST NOT:
// tokens whose scores differ in the last bits, and the k-th and next expert exchanged.
func TestNearTies(t *testing.T) {
	for _, c := range route.Suite().Cases() {
		if c.ID != "kernels/moe-gate/near-ties/e32-k6-t4/fp32" && c.ID != "kernels/moe-gate/v4-flash/e256-k6-t6/fp32" {
			continue
		}
		b, err := bench.New(c)
		require.NoError(t, err)
		built, err := route.Suite().Built(c.Contract.Name)
		require.NoError(t, err)
		logits := b.Problem().In("logits")
		exchanged := bench.After(built, func(_ bench.Call, r *bench.Reply) {
			ids, w := r.Outputs["topk_ids"].Data, r.Outputs["topk_weights"].Data
			other := next(logits.Row(0), b.Problem().Operands["bias"].Values, ids[:6])
			ids[5] = float64(other)
			sum := 0.0
			for i := range 6 {
				w[i] = score(logits.Row(0)[int(ids[i])], "sqrtsoftplus")
				sum += w[i]
			}
			for i := range 6 {
				w[i] = float64(float32(1.5 * w[i] / sum))
			}
		})
		r, err := b.Judge(t.Context(), exchanged)
		require.NoError(t, err)
		if near := c.Scenario.ID == "near-ties"; r.Accepted() != near {
			t.Errorf("%s: accepted %v, want %v (%s)", c.ID, r.Accepted(), near, r.Gate())
		} else if !near {
			assert.Equal(t, "selection(topk_ids)", r.Gate())
		}
	}
}

// next is the best expert that is not among ids.
func next(z, bias, ids []float64) int {
	best, at := math.Inf(-1), -1
	for e, v := range z {
		c := score(v, "sqrtsoftplus")
		if bias != nil {
			c += bias[e]
		}
		taken := false
		for _, id := range ids {
			taken = taken || int(id) == e
		}
		if !taken && c > best {
			best, at = c, e
		}
	}
	return at
}
