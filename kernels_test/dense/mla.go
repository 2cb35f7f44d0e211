package dense

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

var mlaAttention = bench.Family{
	Op: "mla_attention", Slug: "mla-attention",
	Claim: "o MUST be attention in the latent space over exactly the visible rows, with YaRN's factor in the " +
		"softmax scale, and lse its log-sum-exp, within the contract's arithmetic",
	Doc:       mlaDoc,
	Contracts: contracts(),
	Draw:      drawMLA, Expect: expectMLA, Scenarios: append(mlaScenarios(), longMLA()...), Twins: attentionTwins(),
}

func drawMLA(g bench.Gen) (bench.Problem, error) {
	reqs, page := batch(g.Shape), g.Shape.Dim("page")
	h, rank, rope := g.Shape.Dim("heads"), g.Shape.Dim("rank"), g.Shape.Dim("rope")
	at := running(reqs, queries)
	t := at[len(at)-1]
	const kScale = 0.043
	p := bench.Problem{
		Attrs: bench.Attrs{
			"qk_nope_head_dim": float64(g.Shape.Dim("nope")), "rope_factor": 40.0, "mscale": 0.707, "k_scale": kScale,
			"causal":     true,
			"num_splits": 3.0, "lse_base": "e",
		},
		Operands: map[string]bench.Operand{
			"q_nope":    bench.Floats(dtype(g.Contract.Name), g.Normal(t*h*rank, 0.4), t, h, rank),
			"q_pe":      bench.Floats(dtype(g.Contract.Name), g.Normal(t*h*rope, 0.8), t, h, rope),
			"qo_indptr": bench.Ints(at, len(at)),
		},
		Outputs: map[string]bench.Output{
			"o": bench.Out(dtype(g.Contract.Name), t, h, rank), "lse": bench.Out(bench.F32, t, h),
		},
	}
	pages, err := addPages(g, &p, reqs, page)
	if err != nil {
		return p, err
	}
	n, cache := pages*page, cacheDType(g.Contract.Name)
	p.Operands["ckv_cache"] = bench.Floats(cache, stored(g, n*rank, kScale, 0.5), pages, page, rank)
	p.Operands["kpe_cache"] = bench.Floats(cache, stored(g, n*rope, kScale, 0.2), pages, page, rope)
	seal(&p)
	return p, nil
}

// expectMLA: grouped attention with one key-value head whose key is [latent | rotated] and whose value is the latent,
// under oracle.MLAScale. That this is multi-head latent attention is oracle.MLA's to say (closed_test.go).
func expectMLA(c bench.Case, p bench.Problem) ([]bench.Expected, error) {
	qn, qp := p.In("q_nope"), p.In("q_pe")
	t, h := qn.Dim(0), qn.Dim(1)
	seen, request := sight(p, t, p.In("qo_indptr").Ints(), lengths(p))
	rows, err := physical(p, seen, request)
	if err != nil {
		return nil, err
	}
	latent, rope := folded(p.In("ckv_cache")), folded(p.In("kpe_cache"))
	in := oracle.GQAInput{
		Q: beside(oracle.Mat{Rows: t * h, Cols: qn.Dim(2), Data: qn.Data}, oracle.Mat{
			Rows: t * h,
			Cols: qp.Dim(2),
			Data: qp.Data,
		}),
		Heads: h, KVHeads: 1, K: beside(latent, rope), V: latent, Rows: rows,
		Scale: oracle.MLAScale(p.Attrs.Int("qk_nope_head_dim")+qp.Dim(2), p.Attrs.Num("rope_factor"), p.Attrs.Num("mscale")),
	}
	in.Q = oracle.Mat{Rows: t, Cols: h * (qn.Dim(2) + qp.Dim(2)), Data: in.Q.Data}
	if c.Contract.Name == "fp8-kv" {
		in.KScale, in.VScale = []float64{p.Attrs.Num("k_scale")}, []float64{p.Attrs.Num("k_scale")}
	}
	_, wantsLSE := p.Outputs["lse"]
	a, unitP := arithmetic(c.Contract)
	return heads{
		gqa: in, lse: form(p), request: request, out: c.Contract, wantsLSE: wantsLSE, arith: a,
		unitP: unitP,
	}.expected(sampled(c, t))
}

// beside joins the rows of two matrices.
func beside(a, b oracle.Mat) oracle.Mat {
	out := oracle.NewMat(a.Rows, a.Cols+b.Cols)
	for i := range a.Rows {
		copy(out.Row(i), a.Row(i))
		copy(out.Row(i)[a.Cols:], b.Row(i))
	}
	return out
}
