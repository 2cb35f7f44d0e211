package oracle_test

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

// experts checks the gate, the routing on recorded logits and the mixture on recorded routing.
func (s *subject) experts(layer int) []reading {
	p, w := names(layer)
	h, gate := s.tr.Mat(p+"post_attention_layernorm.out", 0), s.weight(w+"ffn.gate.weight")
	logits := s.tr.Mat(p+"mlp.gate.out.0", 0)
	ids := s.tr.Mat(p+"mlp.gate.out.2", 0)
	weights := s.tr.Mat(p+"mlp.gate.out.1", 0)

	recorded := oracle.Routing{}
	for t := range ids.Rows {
		recorded.Experts = append(recorded.Experts, []int{int(ids.Row(t)[0]), int(ids.Row(t)[1])})
		recorded.Weights = append(recorded.Weights, weights.Row(t))
	}
	routing := s.route(layer, logits)
	got, bound := oracle.NewMat(weights.Rows, weights.Cols), oracle.NewMat(weights.Rows, weights.Cols)
	for t := range ids.Rows {
		for i, e := range recorded.Experts[t] {
			j := slices.Index(routing.Experts[t], e)
			if j < 0 {
				s.Errorf("layer %d: token %d is routed to %v, recorded %v", layer, t, routing.Experts[t], recorded.Experts[t])
				continue
			}
			got.Row(t)[i] = routing.Weights[t][j]
			bound.Row(t)[i] = s.routeWeight(logits.Row(t), recorded.Experts[t], e).E
		}
	}
	mixed, mixedBound := s.mixture(w, h, recorded)
	return []reading{
		{"gate", s.ops.Linear(h, gate).Data, logits.Data, bounds(s.linear(tracked(h), gate))},
		{"router-weights", got.Data, weights.Data, bound.Data},
		{"experts", mixed.Data, s.tr.Mat(p+"mlp.out", 0).Data, mixedBound},
	}
}

func (s *subject) route(layer int, logits oracle.Mat) oracle.Routing {
	s.Helper()
	w := fmt.Sprintf("layers.%d.ffn.gate.", layer)
	if layer > 0 {
		r, err := s.ops.Route(logits, s.weight(w+"bias").Row(0), 2, 1.5)
		require.NoError(s, err)
		return r
	}
	flat, err := s.ckpt.Int64s(w + "tid2eid")
	require.NoError(s, err)
	var table [][]int
	for _, p := range s.positions() {
		id := s.tr.Prompt[p]
		table = append(table, []int{int(flat[2*id]), int(flat[2*id+1])})
	}
	r, err := s.ops.HashRoute(logits, table, 1.5)
	require.NoError(s, err)
	return r
}

// routeWeight is 1.5 s_e / sum s with its bound.
func (s *subject) routeWeight(logits []float64, chosen []int, expert int) numerics.Tracked {
	score := func(e int) numerics.Tracked { return s.ar.Sqrt(s.ar.Softplus(numerics.Exact(logits[e]))) }
	var scores []numerics.Tracked
	for _, e := range chosen {
		scores = append(scores, score(e))
	}
	return s.ar.Mul(s.ar.Div(score(expert), s.ar.Sum(scores)), numerics.Exact(1.5))
}

// mixture is the routed sum plus the shared expert, with its bound per element.
func (s *subject) mixture(w string, h oracle.Mat, r oracle.Routing) (oracle.Mat, []float64) {
	read := func(name string) oracle.ExpertWeights {
		return oracle.ExpertWeights{
			W1: s.weight(name + "w1.weight"),
			W2: s.weight(name + "w2.weight"),
			W3: s.weight(name + "w3.weight"),
		}
	}
	shared := read(w + "ffn.shared_experts.")
	var experts []oracle.ExpertWeights
	for e := range 4 {
		experts = append(experts, read(fmt.Sprintf("%sffn.experts.%d.", w, e)))
	}
	var bound []float64
	for t, row := range tracked(h) {
		terms := [][]numerics.Tracked{s.swiglu(row, shared)}
		for i, e := range r.Experts[t] {
			y := s.swiglu(row, experts[e])
			for c := range y {
				y[c] = s.ar.Mul(y[c], numerics.Exact(r.Weights[t][i]))
			}
			terms = append(terms, y)
		}
		for c := range h.Cols {
			bound = append(bound, s.ar.Sum([]numerics.Tracked{terms[0][c], terms[1][c], terms[2][c]}).E)
		}
	}
	return oracle.MixExperts(h, r, experts, shared, 10, s.ops.SwiGLU), bound
}

func (s *subject) swiglu(x []numerics.Tracked, e oracle.ExpertWeights) []numerics.Tracked {
	rows := [][]numerics.Tracked{x}
	gate, up := s.linear(rows, e.W1)[0], s.linear(rows, e.W3)[0]
	for i := range gate {
		gate[i] = s.ar.Mul(s.ar.SiLU(s.ar.Clamp(gate[i], -1e30, 10)), s.ar.Clamp(up[i], -10, 10))
	}
	return s.linear([][]numerics.Tracked{gate}, e.W2)[0]
}
