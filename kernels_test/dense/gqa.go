package dense

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/numerics"
	"github.com/assay-suite/assay/numerics/format"
)

// contracts of attention, sharpest first: everything in fp32; bf16 operands with fp32 sums (to nearest or truncated, as
// tensor cores do) and fp32 weights; the same with weights rounded to bf16 before they meet the values
// (their sum is of the unrounded ones); and that over an
// e4m3 cache whose scales are applied in fp32.
func contracts() []numerics.Contract {
	return []numerics.Contract{
		{Name: "fp32"},
		{Name: "bf16", Out: format.BF16},
		{Name: "bf16-p-bf16", Mid: format.BF16, Out: format.BF16},
		{Name: "fp8-kv", Mid: format.BF16, Out: format.BF16},
	}
}

var gqaAttention = bench.Family{
	Op: "gqa_attention", Slug: "gqa-attention",
	Claim: "o MUST be softmax attention over exactly the visible keys, each head over its own group's, with the " +
		"cache's scales, and lse its log-sum-exp, within the contract's arithmetic",
	Doc:       gqaDoc,
	Contracts: contracts(),
	Draw:      drawGQA, Expect: expectGQA, Twins: attentionTwins(),
	Scenarios: slices.Concat(gqaScenarios(), longGQA(), features()),
}

// drawGQA: scales off 1 and unlike each other, three splits, base 2, a window that is on and wider than half of the
// longest request, sinks; extend shapes have stale scratch.
func drawGQA(g bench.Gen) (bench.Problem, error) {
	reqs, page := batch(g.Shape), g.Shape.Dim("page")
	h, kv, d, dv := g.Shape.Dim("heads"), g.Shape.Dim("kv-heads"), g.Shape.Dim("dim"), g.Shape.Dim("values")
	at := running(reqs, queries)
	t, longest := at[len(at)-1], 0
	for _, r := range reqs {
		longest = max(longest, r.kv)
	}
	const kScale, vScale = 0.043, 0.019
	p := bench.Problem{
		Attrs: bench.Attrs{
			"softmax_scale": softmaxScale(d), "k_scale": kScale, "v_scale": vScale, "causal": true,
			"window_left":  float64(longest * 2 / 3),
			"window_right": -1.0, "num_splits": 3.0, "lse_base": "2",
		},
		Operands: map[string]bench.Operand{
			"q":         bench.Floats(dtype(g.Contract.Name), g.Normal(t*h*d, 1), t, h, d),
			"qo_indptr": bench.Ints(at, len(at)),
			"sink":      bench.Floats(bench.F32, g.Normal(h, 1), h),
			"workspace": bench.Floats(bench.F32, g.Normal(t*h*(dv+1), 1), t, h, dv+1),
		},
		Outputs: map[string]bench.Output{"o": bench.Out(dtype(g.Contract.Name), t, h, dv), "lse": bench.Out(bench.F32, t, h)},
	}
	cache := cacheDType(g.Contract.Name)
	if page == 0 {
		from := running(reqs, keys)
		s := from[len(from)-1] + spare
		p.Operands["kv_indptr"] = bench.Ints(from, len(from))
		p.Operands["k"] = bench.Floats(cache, stored(g, s*kv*d, kScale, 0.2), s, kv, d)
		p.Operands["v"] = bench.Floats(cache, stored(g, s*kv*dv, vScale, 0.6), s, kv, dv)
	} else {
		pages, err := addPages(g, &p, reqs, page)
		if err != nil {
			return p, err
		}
		n := pages * page * kv
		p.Operands["k_cache"] = bench.Floats(cache, stored(g, n*d, kScale, 0.2), pages, page, kv, d)
		p.Operands["v_cache"] = bench.Floats(cache, stored(g, n*dv, vScale, 0.6), pages, page, kv, dv)
	}
	seal(&p)
	return p, nil
}
