package route

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

var gate = bench.Family{
	Op: opGate, Slug: "moe-gate",
	Claim: "the top_k experts with the best score plus bias MUST be chosen, and weighed by their scores alone, each " +
		"factor applied once",
	Doc: gateDoc,
	Contracts: []numerics.Contract{
		{Name: "lowest-index", Special: numerics.Rules{TieBreak: "lowest-index"}},
		{Name: "fp32"},
		{Name: fastExp},
	},
	Draw: drawGate, Expect: expectGate, Twins: gateTwins, Scenarios: gateScenarios(),
}

// drawGate draws V4-Flash's form by default: sqrtsoftplus, a bias, no groups unless the shape has some.
func drawGate(g bench.Gen) (bench.Problem, error) {
	t, e, k := g.Shape.Dim("tokens"), g.Shape.Dim("experts"), g.Shape.Dim("k")
	groups, keep := max(g.Shape.Dim("groups"), 1), max(g.Shape.Dim("keep"), 1)
	if k < 1 || e%groups != 0 || keep > groups || k > e/groups*keep {
		return bench.Problem{}, fmt.Errorf("%d of %d experts in %d groups of which %d are kept cannot be drawn", k, e, groups,
			keep)
	}
	return bench.Problem{
		Attrs: bench.Attrs{
			"scoring_func": "sqrtsoftplus", "top_k": float64(k), "n_group": float64(groups), "topk_group": float64(keep),
			"renormalise": true, "renormalise_floor": 0.0, "routed_scaling": 1.5,
		},
		Operands: map[string]bench.Operand{
			"logits": bench.Floats(bench.F32, g.Normal(t*e, 1.5), t, e), "bias": bench.Floats(bench.F32, g.Normal(e, 0.4), e),
		},
		Outputs: map[string]bench.Output{"topk_weights": bench.Out(bench.F32, t, k), "topk_ids": bench.OutI32(t, k)},
	}, nil
}

// configOf is a gate as the oracle takes it.
func configOf(a bench.Attrs) (oracle.GateConfig, error) {
	scoring, err := scoringOf(a.Word("scoring_func"))
	return oracle.GateConfig{
		Scoring: scoring, K: a.Int("top_k"), Groups: a.Int("n_group"), KeepGroups: a.Int("topk_group"),
		Renormalise: a.Flag("renormalise"), Floor: a.Num("renormalise_floor"), Scaling: a.Num("routed_scaling"),
	}, err
}

// token is what is expected of one: nil scores where only the form of its ids is judged.
type token struct {
	padded  bool
	scores  []numerics.Tracked // s
	choice  choice
	experts []int // by the oracle
	weights []numerics.Tracked
}

// expectGate: the oracle chooses and weighs; the ids are judged as a selection with the error of the scores, the
// weights for the experts that were chosen.
func expectGate(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	cfg, err := configOf(p.Attrs)
	if err != nil {
		return nil, err
	}
	logits, bias := p.In("logits").Mat(), p.Operands["bias"].Values
	inLogit := p.Attrs.Word("bias_in") == "logit"
	whole := logits.Rows
	if n, ok := p.Operands["num_token_non_padded"]; ok {
		whole = int(n.Values[0])
	}
	w := weigherOf(p.Attrs)
	tokens := make([]token, logits.Rows)
	ids := bench.Expected{
		Name:       "topk_ids",
		Shape:      []int{logits.Rows, cfg.K},
		Axes:       []string{"token", "slot"},
		Derivation: "the best experts, as far as fp32 scores can tell",
	}
	weights := bench.Expected{
		Name: "topk_weights", Shape: ids.Shape, Axes: []string{"token", "slot by expert"},
		Derivation: "fp32 score, sum of the chosen in any order, quotient and product",
		Scales:     map[string]float64{"routed_scaling": cfg.Scaling},
	}
	for t := range tokens {
		k := &tokens[t]
		if k.padded = t >= whole; !k.padded && !slices.ContainsFunc(logits.Row(t), math.IsNaN) {
			err := k.fill(logits.Row(t), bias, cfg, scorer{p.Attrs.Word("scoring_func"), c.Contract.Name == fastExp, inLogit}, w,
				c.Contract.Special.TieBreak)
			if err != nil {
				return nil, err
			}
		}
		for i := range cfg.K {
			id, bound, weight := float64(i), 4*float64(math.MaxInt32), numerics.Tracked{}
			switch {
			case k.padded:
				id, bound = -1, 0
			case k.experts != nil:
				id, weight = float64(k.experts[i]), k.weights[i]
			}
			ids.Want, ids.Bound = append(ids.Want, id), append(ids.Bound, bound)
			weights.Want, weights.Bound = append(weights.Want, weight.X), append(weights.Bound, weight.E)
			weights.Free = append(weights.Free, k.experts == nil)
		}
	}
	ids.Select = func(got []float64) []numerics.Selection { return selections(tokens, got, logits.Cols, cfg.K) }
	weights.From = func(out map[string][]float64) []float64 { return byExpert(tokens, out, logits.Cols, cfg.K, w) }
	return []bench.Expected{ids, weights}, nil
}

// fill derives what is expected of a token: values from the oracle, errors from fp32.
func (k *token) fill(logits, bias []float64, cfg oracle.GateConfig, by scorer, w weigher, tie string) error {
	z := numerics.ExactSlice(logits)
	if by.biased { // the bias of a linear layer: a part of the logit
		a := numerics.FP32()
		logits = slices.Clone(logits)
		for e, b := range bias {
			z[e] = a.Add(z[e], numerics.Exact(b))
			logits[e] += b
		}
		bias = nil
	}
	r, err := oracle.Gate(oracle.Mat{Rows: 1, Cols: len(logits), Data: logits}, bias, cfg)
	if err != nil {
		return err
	}
	k.experts, k.scores = r.Experts[0], by.scores(z)
	k.choice = newChoice(k.scores, bias, cfg, tie)
	k.weights = w.weights(k.scores, k.experts)
	for i, v := range r.Weights[0] {
		k.weights[i].X = v
	}
	return nil
}

// selections are one for each token that is no padding.
func selections(tokens []token, got []float64, experts, n int) []numerics.Selection {
	var out []numerics.Selection
	for t, k := range tokens {
		chosen := make([]int, n)
		for i := range chosen {
			chosen[i] = int(got[t*n+i])
		}
		switch {
		case k.padded:
		case k.experts == nil:
			out = append(out, numerics.Selection{
				Scores: make([]float64, experts),
				Eps:    make([]float64, experts),
				K:      n,
				Chosen: chosen,
			})
		default:
			out = append(out, k.choice.selection(chosen))
		}
	}
	return out
}

// byExpert are the weights by ascending expert, said as weights of the oracle's experts (rebased).
func byExpert(tokens []token, out map[string][]float64, experts, n int, w weigher) []float64 {
	ids, weights := out["topk_ids"], out["topk_weights"]
	if len(ids) != len(tokens)*n || len(weights) != len(tokens)*n {
		return nil
	}
	var judged []float64
	for t, k := range tokens {
		sorted, got, ok := aligned(ids[t*n:(t+1)*n], weights[t*n:(t+1)*n], experts)
		if k.experts != nil && ok {
			got = rebased(got, w.weights(k.scores, sorted), k.weights)
		}
		judged = append(judged, got...)
	}
	return judged
}
