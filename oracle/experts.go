package oracle

import "math"

// ExpertWeights is one feed-forward expert: W1 gate [I, C], W3 up [I, C], W2 down [C, I].
type ExpertWeights struct{ W1, W2, W3 Mat }

// SwiGLU is an expert with V4's clamp, applied before the activation:
//
//	y = w2 (silu(min(w1 x, L)) · clamp(w3 x, -L, L))
//
// x [T, C]; limit L, or 0 for no clamp; result [T, C]. The shared expert is the same function; its
// clamp is absent in the first V4 release and present in later ones.
//
// Source: V4 inference/model.py Expert, swiglu_limit.
func SwiGLU(x Mat, e ExpertWeights, limit float64) Mat {
	gate, up := Linear(x, e.W1), Linear(x, e.W3)
	for i, g := range gate.Data {
		u := up.Data[i]
		if limit > 0 {
			g = math.Min(g, limit)
			u = math.Max(-limit, math.Min(u, limit))
		}
		gate.Data[i] = g * sigmoid(g) * u
	}
	return Linear(gate, e.W2)
}

// MixExperts is the routed sum plus the shared expert, whose weight is 1 and which the routed
// scaling factor does not touch:
//
//	y[t] = sum_i w[t, i] expert_i(x[t]) + shared(x[t])
//
// x [T, C]; result [T, C]. expert is SwiGLU or what stands in for it.
//
// Source: V4 inference/model.py MoE. There the weight is applied before w2, in Hugging Face after:
// equal in exact arithmetic.
func MixExperts(x Mat, r Routing, experts []ExpertWeights, shared ExpertWeights, limit float64,
	expert func(Mat, ExpertWeights, float64) Mat,
) Mat {
	out := expert(x, shared, limit)
	for e := range experts {
		var tokens []int
		var weights []float64
		for t, ids := range r.Experts {
			for i, id := range ids {
				if id == e {
					tokens = append(tokens, t)
					weights = append(weights, r.Weights[t][i])
				}
			}
		}
		if len(tokens) == 0 {
			continue
		}
		part := NewMat(len(tokens), x.Cols)
		for i, t := range tokens {
			copy(part.Row(i), x.Row(t))
		}
		y := expert(part, experts[e], limit)
		for i, t := range tokens {
			axpy(weights[i], y.Row(i), out.Row(t))
		}
	}
	return out
}
