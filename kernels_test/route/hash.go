package route

import (
	"fmt"
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/oracle"
)

var hash = bench.Family{
	Op: opHash, Slug: "hash-gate",
	Claim:     "the experts MUST be those of the token's row, weighed by their own scores, each factor applied once",
	Doc:       hashDoc,
	Contracts: []numerics.Contract{{Name: "fp32"}},
	Draw:      drawHash, Expect: expectHash, Twins: hashTwins,
	Scenarios: []bench.Scenario{
		{
			ID:     "lengths",
			Why:    "no token, one, and the edges of a tile of 64",
			Shapes: hashes(16, 4, 300, 0, 1, 63, 64, 65, 100),
		},
		{ID: "v4-flash", Why: "V4-Flash's hash layers: 6 of 256 experts", Shapes: hashes(256, 6, 1000, 5)},
		{
			ID:     "sigmoid",
			Why:    "another scoring function",
			Shapes: hashes(16, 4, 300, 6),
			Change: set("scoring_func", "sigmoid"),
		},
		{
			ID:     "softmax",
			Why:    "softmax over all experts, weights as they are",
			Shapes: hashes(16, 4, 300, 6),
			Change: bench.Set(bench.Attrs{"scoring_func": "softmax", "renormalise": false}),
		},
		{
			ID:     "raw",
			Why:    "weights are not renormalised, the factor stays",
			Shapes: hashes(16, 4, 300, 6),
			Change: bench.Set(bench.Attrs{"renormalise": false, "routed_scaling": 2.5}),
		},
		{ID: "factor", Why: "another factor", Shapes: hashes(16, 4, 300, 6), Change: set("routed_scaling", 2.5)},
		{
			ID:     "all-negative",
			Why:    "every logit below -5: ln(1+e^z) computed naively is 0",
			Shapes: hashes(16, 4, 300, 6),
			Change: uniform(-30, -5),
		},
		{
			ID:     "floor",
			Why:    "scores of nearly 0 and a floor under their sum",
			Shapes: hashes(16, 4, 300, 6),
			Change: bench.All(uniform(-80, -65), set("renormalise_floor", 1e-17)),
		},
		{ID: "large-floor", Why: "a floor that counts", Shapes: hashes(16, 4, 300, 6), Change: set("renormalise_floor", 0.3)},
		{ID: "large", Why: "logits of 90: e^z is beyond fp32", Shapes: hashes(16, 4, 300, 6), Change: uniform(20, 120)},
		{ID: "one-expert", Why: "one expert a token: the weight is the factor", Shapes: hashes(16, 1, 40, 6)},
		{
			ID:     "repeated-ids",
			Why:    "the same token id several times",
			Shapes: hashes(16, 4, 300, 8),
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("token_ids", func(t int, _ float64) float64 { return float64(t/3) + 7 })
				return unread(p)
			},
		},
		{
			ID:     "high-ids",
			Why:    "ids beyond 16 bits",
			Shapes: hashes(8, 2, 70000, 4, 7),
			Change: func(_ bench.Gen, p *bench.Problem) error {
				p.Change("token_ids", func(t int, _ float64) float64 { return float64(69999 - 1100*t) })
				return unread(p)
			},
		},
		{ID: "bf16-logits", Why: "logits as a gate in bf16 gives them", Shapes: hashes(16, 4, 300, 6), Change: inBF16},
		{
			ID:     "padded",
			Why:    "every operand sliced out of a wider one",
			Shapes: hashes(16, 4, 300, 6),
			Layout: map[string]bench.Layout{
				"logits": {Lead: 3, Gap: 8, Tail: 50}, "token_ids": {Lead: 2, Tail: 7}, "tid2eid": {Lead: 1, Gap: 2, Tail: 30},
			},
		},
		{
			ID:     "padded-softmax",
			Why:    "the same with softmax, in which every logit counts",
			Shapes: hashes(16, 4, 300, 6),
			Change: set("scoring_func", "softmax"),
			Layout: map[string]bench.Layout{
				"logits": {Lead: 5, Gap: 2, Tail: 50}, "token_ids": {Lead: 1, Tail: 4}, "tid2eid": {Lead: 3, Gap: 4, Tail: 30},
			},
		},
		{
			ID:     "contiguous",
			Why:    "a sliced buffer and the same rows without gaps",
			Shapes: hashes(16, 4, 300, 7),
			Change: bench.Set(bench.Attrs{"scoring_func": "softmax", "renormalise": false}),
			Layout: map[string]bench.Layout{"logits": {Gap: 8, Tail: 40}},
			Relate: inPieces(bench.Contiguous),
		},
		{
			ID:     "captured",
			Why:    "a graph captured with other tokens",
			Shapes: hashes(16, 4, 300, 3, 6),
			Change: bench.CapturedWith("token_ids", func(_ int, v float64) float64 { return float64(int(v+11) % 300) }),
		},
		{ID: "alone", Why: "a batch and every token alone", Shapes: hashes(16, 4, 300, 7), Relate: inPieces(bench.Alone)},
		{
			ID:     "backwards",
			Why:    "the tokens in the opposite order: ids follow",
			Shapes: hashes(16, 4, 300, 7),
			Relate: inPieces(bench.Backwards),
		},
		{
			ID:  "long",
			Why: "tokens beyond every tile, 10 of 512 experts (Qwen3-Next), and the last ids of V4-Flash's vocabulary",
			Shapes: slices.Concat(hashes(4, 2, 300, 2600), hashes(512, 10, 300, 3), hashes(384, 6, 300, 2),
				hashes(8, 1, 129280, 3)),
			Change: func(g bench.Gen, p *bench.Problem) error {
				maps.Copy(p.Attrs, bench.Attrs{"scoring_func": "softmax", "renormalise": false})
				e := g.Shape.Dim("experts")
				p.Change("logits", func(i int, v float64) float64 {
					if i%e == e-1 {
						return 4
					}
					return v
				})
				last := g.Shape.Dim("vocabulary") - 1
				p.Change("token_ids", func(t int, v float64) float64 {
					if t < 2 {
						return float64(last - t)
					}
					return v
				})
				return unread(p)
			},
		},
	},
}

func hashes(e, k, vocabulary int, t ...int) []bench.Shape {
	var out []bench.Shape
	for _, n := range t {
		out = append(out, bench.S(fmt.Sprintf("e%d-k%d-v%d-t%d", e, k, vocabulary, n), map[string]int{
			"tokens": n, "experts": e, "k": k, "vocabulary": vocabulary,
		}))
	}
	return out
}

// unread marks the table's rows that no token names.
func unread(p *bench.Problem) error {
	k := p.Operands["tid2eid"].Shape[1]
	named := map[int]bool{}
	for _, id := range p.In("token_ids").Ints() {
		named[id] = true
	}
	p.Unread = map[string]func(int) bool{"tid2eid": func(i int) bool { return !named[i/k] }}
	return nil
}

func drawHash(g bench.Gen) (bench.Problem, error) {
	t, e, k, v := g.Shape.Dim("tokens"), g.Shape.Dim("experts"), g.Shape.Dim("k"), g.Shape.Dim("vocabulary")
	if k < 1 || k > e {
		return bench.Problem{}, fmt.Errorf("%d of %d experts cannot be drawn", k, e)
	}
	table := make([]int, 0, v*k)
	for range v {
		at := g.IntN(e)
		step := 1 + 2*g.IntN(max(e/2, 1)) // odd: with e a power of two no expert comes twice
		for i := range k {
			table = append(table, (at+i*step)%e)
		}
	}
	ids := make([]int, t)
	for i := range ids {
		ids[i] = g.IntN(v)
	}
	p := bench.Problem{
		Attrs: bench.Attrs{
			"scoring_func":      "sqrtsoftplus",
			"renormalise":       true,
			"renormalise_floor": 0.0,
			"routed_scaling":    1.5,
		},
		Operands: map[string]bench.Operand{
			"logits": bench.Floats(bench.F32, g.Normal(t*e, 1.5), t, e), "token_ids": bench.Ints(ids, t),
			"tid2eid": bench.Ints(table, v, k),
		},
		Outputs: map[string]bench.Output{"topk_weights": bench.Out(bench.F32, t, k), "topk_ids": bench.OutI32(t, k)},
	}
	return p, unread(&p)
}

// expectHash: ids and weights by ascending expert, values by the oracle where it has the form (HashRoute), else by the
// scores.
func expectHash(_ bench.Case, p bench.Problem) ([]bench.Expected, error) {
	logits, table, w := p.In("logits").Mat(), p.In("tid2eid"), weigherOf(p.Attrs)
	k := table.Dim(1)
	tokens := make([]token, logits.Rows)
	shape := []int{logits.Rows, k}
	ids := bench.Expected{
		Name: "topk_ids", Shape: shape, Axes: []string{"token", "slot by expert"}, Want: []float64{},
		Derivation: "the experts of the token's row are exact",
		From:       func(out map[string][]float64) []float64 { return sortedIDs(out["topk_ids"], logits.Rows, k) },
	}
	weights := bench.Expected{
		Name: "topk_weights", Shape: shape, Axes: []string{"token", "slot by expert"},
		Derivation: "fp32 score, sum of the row's in any order, quotient and product",
		Scales:     map[string]float64{"routed_scaling": w.scaling},
		From:       func(out map[string][]float64) []float64 { return byExpert(tokens, out, logits.Cols, k, w) },
	}
	for t, id := range p.In("token_ids").Ints() {
		row := bench.Tensor{Shape: []int{k}, Data: table.Row(id)}.Ints()
		sorted, _, ok := aligned(table.Row(id), make([]float64, k), logits.Cols)
		if !ok {
			return nil, fmt.Errorf("row %d of the table names experts %v of %d; they must be different", id, row, logits.Cols)
		}
		tokens[t].experts, tokens[t].scores = sorted, scores(logits.Row(t), p.Attrs.Word("scoring_func"))
		tokens[t].weights = w.weights(tokens[t].scores, sorted)
		if p.Attrs.Word("scoring_func") == "sqrtsoftplus" && w.renormalise && w.floor == 0 {
			one := oracle.Mat{Rows: 1, Cols: logits.Cols, Data: logits.Row(t)}
			r, err := oracle.HashRoute(one, [][]int{sorted}, w.scaling)
			if err != nil {
				return nil, err
			}
			for i, v := range r.Weights[0] {
				tokens[t].weights[i].X = v
			}
		}
		for i, e := range sorted {
			ids.Want = append(ids.Want, float64(e))
			weights.Want, weights.Bound = append(weights.Want, tokens[t].weights[i].X),
				append(weights.Bound, tokens[t].weights[i].E)
		}
	}
	return []bench.Expected{ids, weights}, nil
}

func sortedIDs(ids []float64, tokens, k int) []float64 {
	if len(ids) != tokens*k {
		return nil
	}
	out := []float64{}
	for t := range tokens {
		row := append([]float64(nil), ids[t*k:(t+1)*k]...)
		slices.Sort(row)
		out = append(out, row...)
	}
	return out
}
