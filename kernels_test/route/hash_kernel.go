package route

import "github.com/assay-suite/assay/kernels_test/bench"

// hasher is the gate by token id: the router's scores and weights for the experts of a row.
type hasher struct {
	router
	choose func(k hasher, row []int, s []float32) []int
}

// correctHasher is the operator as it should be, with the router's options.
func correctHasher(options ...func(k *router)) hasher {
	return hasher{
		router: bench.With(correctRouter(), options...),
		choose: func(_ hasher, row []int, _ []float32) []int { return row },
	}
}

func (k hasher) run(a bench.Args) (bench.Results, error) {
	logits, table := a.In("logits"), a.In("tid2eid")
	n := table.Dim(1)
	ids, weights := a.Fresh("topk_ids"), a.Fresh("topk_weights")
	for t, id := range a.In("token_ids").Ints() {
		s := k.scores(logits.Row(t), a.Word("scoring_func"))
		chosen := k.choose(k, bench.Tensor{Data: table.Row(id)}.Ints(), s)
		k.arrange(chosen, s)
		for i, w := range k.weights(s, chosen, a.Attrs) {
			ids[t*n+i], weights[t*n+i] = float64(chosen[i]), float64(w)
		}
	}
	return bench.Results{"topk_ids": ids, "topk_weights": weights}, nil
}
