package dense

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

const m2 = "M2 huggingface/transformers#26792"

var windowMask = bench.Family{
	Op: "window_mask", Slug: "window-mask",
	Claim:     "the mask MUST let each query see exactly the keys of its request that causality and window allow",
	Doc:       windowMaskDoc,
	Contracts: exact(),
	Draw:      drawMask, Expect: expectMask,
	Twins: []bench.Twin{
		{Class: "mask-edge", Name: "no window", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			was := p.Attrs.Num("window_left") >= 0 || p.Attrs.Num("window_right") >= 0
			p.Attrs["window_left"], p.Attrs["window_right"] = -1.0, -1.0
			return was
		}},
		{Class: "chunk-state", Name: "no cached prefix", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			indptr, was := p.In("qo_indptr").Ints(), false
			p.Change("seq_lens", func(b int, v float64) float64 {
				n := float64(indptr[b+1] - indptr[b])
				was = was || v != n
				return n
			})
			o := p.Outputs["mask"]
			o.Shape = []int{o.Shape[0], slices.Max(p.In("seq_lens").Ints())}
			p.Outputs["mask"] = o
			return was
		}},
		{Class: "mask-edge", Name: "causal off", Apply: func(_ bench.Gen, p *bench.Problem) bool {
			was := p.Attrs.Flag("causal")
			p.Attrs["causal"] = false
			return was
		}},
		bench.Dense(),
	},
	Scenarios: append(maskScenarios(), longMasks()),
}

// maskScenarios run every window from one key to more than there are, at each offset of the queries.
func maskScenarios() []bench.Scenario {
	var out []bench.Scenario
	for left := range 6 {
		k := bench.Scenario{
			ID: slug("left-%d", left), Why: "this many keys before the query's own", Change: bench.Set(bench.Attrs{
				"window_left": float64(left),
			}), Catches: []string{m1, m2, m6},
			Shapes: []bench.Shape{
				shape("mha", 0, req{5, 5}), shape("mha", 0, req{1, left + 3}, req{1, left + 2}, req{1, left + 1}, req{1, 1}),
				shape("mha", 0, req{4, 9}, req{0, 3}, req{3, 3}, req{2, 0}),
			},
		}
		if left == 3 {
			k.Catches = append(k.Catches, m4)
		}
		out = append(out, k)
	}
	return append(out,
		bench.Scenario{
			ID:     "no-window",
			Why:    "causality alone",
			Shapes: []bench.Shape{shape("mha", 0, req{5, 5}), shape("mha", 0, req{4, 9}, req{1, 7}, req{5, 2})},
		},
		bench.Scenario{
			ID:     "both-sides",
			Why:    "two keys before, one behind, not causal",
			Shapes: []bench.Shape{shape("mha", 0, req{6, 6}, req{3, 8})},
			Change: bench.Set(bench.Attrs{"causal": false, "window_left": 2.0, "window_right": 1.0}),
		},
		bench.Scenario{
			ID:     "none-behind",
			Why:    "no key behind the query's own: by a right window of 0, which is a limit, and not by causality",
			Shapes: []bench.Shape{shape("mha", 0, req{6, 6}, req{3, 8})},
			Change: bench.Set(bench.Attrs{"causal": false, "window_right": 0.0}),
		},
		bench.Scenario{
			ID:     "not-causal",
			Why:    "all keys",
			Shapes: []bench.Shape{shape("mha", 0, req{6, 6}, req{3, 8})},
			Change: bench.Set(bench.Attrs{"causal": false}),
		},
		bench.Scenario{
			ID:     "strided",
			Why:    "lengths and bounds are slices of wider buffers",
			Shapes: []bench.Shape{shape("mha", 0, req{6, 6}, req{3, 8})},
			Change: bench.Set(bench.Attrs{"window_left": 2.0}),
			Layout: map[string]bench.Layout{"seq_lens": {Lead: 1, Tail: 3}, "qo_indptr": {Lead: 2, Tail: 2}},
		},
	)
}

func drawMask(g bench.Gen) (bench.Problem, error) {
	reqs := batch(g.Shape)
	lens, indptr := make([]int, len(reqs)), running(reqs, queries)
	for b, r := range reqs {
		lens[b] = r.kv
	}
	return bench.Problem{
		Attrs: bench.Attrs{"causal": true, "window_left": -1.0, "window_right": -1.0},
		Operands: map[string]bench.Operand{
			"qo_indptr": bench.Ints(indptr, len(indptr)), "seq_lens": bench.Ints(lens, len(lens)),
		},
		Outputs: map[string]bench.Output{
			"mask": {DType: bench.U8, Shape: []int{indptr[len(reqs)], slices.Max(lens)}, Prefill: "0x5a"},
		},
	}, nil
}

func expectMask(_ bench.Case, p bench.Problem) ([]bench.Expected, error) {
	shape := p.Outputs["mask"].Shape
	seen, _ := sight(p, shape[0], p.In("qo_indptr").Ints(), p.In("seq_lens").Ints())
	want := make([]float64, shape[0]*shape[1])
	for t, keys := range seen {
		for _, j := range keys {
			want[t*shape[1]+j] = 1
		}
	}
	return []bench.Expected{bench.Exactly("mask", want, []string{"query", "key"}, shape...)}, nil
}
