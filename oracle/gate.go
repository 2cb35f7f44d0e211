package oracle

import (
	"fmt"
	"math"
)

// Scoring is how a router turns a logit into an expert's score.
type Scoring int

const (
	// ScoreSqrtSoftplus is sqrt(ln(1+e^z)), V4.
	ScoreSqrtSoftplus Scoring = iota
	// ScoreSigmoid is 1/(1+e^-z), V3.2.
	ScoreSigmoid
	// ScoreSoftmax is e^z over its sum across all experts.
	ScoreSoftmax
)

// GateConfig is a router as data. V3.2: ScoreSigmoid, K 8, Groups 8, KeepGroups 4, Renormalise,
// Scaling 2.5. V4-Flash: ScoreSqrtSoftplus, K 6, Renormalise, Scaling 1.5.
type GateConfig struct {
	Scoring    Scoring
	K          int
	Groups     int // groups of consecutive experts; 0 or 1 for none
	KeepGroups int // groups that stay candidates
	// Renormalise divides the weights by the sum of the selected scores. The references do so for all
	// scores but softmax.
	Renormalise bool
	Floor       float64 // added to that sum: 0 in the references, 1e-20 in Hugging Face and TileKernels
	Scaling     float64 // routed scaling factor, applied once, renormalised or not
}

// Gate scores, limits to groups, selects and weights:
//
//	s = score(z)    c = s + bias                                   (bias enters the choice only)
//	group score = sum of the two largest c in it, with no bias the largest
//	experts = the K largest c within the KeepGroups best groups
//	w_i = Scaling · s_i / (sum_selected s + Floor)                 or Scaling · s_i
//
// logits [T, E]; bias [E] or nil. Ties go to the lower group and the lower expert, as in a stable
// sort; experts come in ascending order. A row of selected scores that sum to 0 has weights of 0 with
// a floor, NaN (0/0) without.
//
// It fails on a NaN logit or bias and on a configuration that cannot give K experts.
//
// Source: V3.2 and V4 inference/model.py Gate; TileKernels tile_kernels/torch/moe.py for the floor.
func Gate(logits Mat, bias []float64, cfg GateConfig) (Routing, error) {
	groups := max(cfg.Groups, 1)
	if logits.Cols%groups != 0 || groups > 1 && (cfg.KeepGroups < 1 || cfg.KeepGroups > groups) {
		return Routing{}, fmt.Errorf("gate: %d experts in %d groups of which %d are kept", logits.Cols, groups,
			cfg.KeepGroups)
	}
	size := logits.Cols / groups
	candidates := logits.Cols
	if groups > 1 {
		candidates = cfg.KeepGroups * size
	}
	if cfg.K < 1 || cfg.K > candidates {
		return Routing{}, fmt.Errorf("gate: %d experts are to be chosen out of %d candidates", cfg.K, candidates)
	}
	r := Routing{}
	for t := range logits.Rows {
		for e, z := range logits.Row(t) {
			if math.IsNaN(z) {
				return Routing{}, fmt.Errorf("gate: the logit of expert %d for row %d is NaN", e, t)
			}
		}
		scores := expertScores(logits.Row(t), cfg.Scoring)
		choice := append([]float64(nil), scores...)
		if bias != nil {
			axpy(1, bias, choice)
		}
		kept, err := keptGroups(choice, groups, size, cfg.KeepGroups, bias != nil)
		if err != nil {
			return Routing{}, fmt.Errorf("gate: groups of row %d: %w", t, err)
		}
		// The candidates, in ascending order, so that ties among them go to the lower expert.
		ids, values := make([]int, 0, candidates), make([]float64, 0, candidates)
		for _, g := range kept {
			for e := g * size; e < (g+1)*size; e++ {
				ids, values = append(ids, e), append(values, choice[e])
			}
		}
		chosen, err := SelectTopK(values, len(values), cfg.K, LowestIndex)
		if err != nil {
			return Routing{}, fmt.Errorf("gate: row %d: %w", t, err)
		}
		weights, sum := make([]float64, cfg.K), 1.0
		if cfg.Renormalise {
			sum = cfg.Floor
			for _, c := range chosen {
				sum += scores[ids[c]]
			}
		}
		for i, c := range chosen {
			chosen[i] = ids[c]
			weights[i] = cfg.Scaling * scores[ids[c]] / sum
		}
		r.Experts, r.Weights = append(r.Experts, chosen), append(r.Weights, weights)
	}
	return r, nil
}

func expertScores(z []float64, scoring Scoring) []float64 {
	scores := append([]float64(nil), z...)
	switch scoring {
	case ScoreSqrtSoftplus:
		for e, v := range z {
			scores[e] = SqrtSoftplus(v)
		}
	case ScoreSigmoid:
		for e, v := range z {
			scores[e] = sigmoid(v)
		}
	case ScoreSoftmax:
		softmax(scores)
	}
	return scores
}

// keptGroups are the best groups in ascending order.
func keptGroups(choice []float64, groups, size, keep int, biased bool) ([]int, error) {
	if groups == 1 {
		return []int{0}, nil
	}
	best := make([]float64, groups)
	for g := range best {
		first, second := math.Inf(-1), math.Inf(-1)
		for _, c := range choice[g*size : (g+1)*size] {
			if c > first {
				first, second = c, first
			} else {
				second = math.Max(second, c)
			}
		}
		best[g] = first
		if biased && size > 1 {
			best[g] += second
		}
	}
	return SelectTopK(best, groups, keep, LowestIndex)
}
