package mhc

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// FromOps makes a candidate of an oracle.Ops: the way in which recipes, catalogued faults and the float64 oracles
// themselves become candidates. Results are rounded to float32 where they are stored.
func FromOps(name string, ops oracle.Ops) bench.Candidate {
	kernels := map[string]bench.Kernel{}
	for _, op := range every {
		kernels[op] = func(a bench.Args) (bench.Results, error) {
			in := map[string]oracle.Mat{}
			for _, operand := range operands[op] {
				in[operand] = a.In(operand).Mat()
			}
			out := bench.Results{}
			results, err := evaluate(ops, op, a.Attrs, in)
			for name, m := range results {
				out[name] = m.Data
			}
			return out, err
		}
	}
	return bench.FromKernels(name, kernels)
}

var operands = map[string][]string{
	"mhc_pre": {"x", "fn", "scale", "base"}, "mhc_post": {"f", "post", "comb", "x"}, "mhc_head": {
		"x", "fn", "scale", "base",
	},
}

// evaluate runs one operator on dense operands:
//
//	mhc_pre   x [T, nC], fn [(2+n)n, nC], scale [3], base [(2+n)n]  ->  y [T, C], post [T, n], comb [T, n·n]
//	mhc_post  f [T, C], post [T, n], comb [T, n·n], x [T, nC]       ->  out [T, nC]
//	mhc_head  x [T, nC], fn [n, nC], scale [1], base [n]            ->  y [T, C]
//
// with the attributes hc_mult n, sinkhorn_iterations, hc_eps, norm_eps.
func evaluate(ops oracle.Ops, op string, attrs bench.Attrs, in map[string]oracle.Mat) (map[string]oracle.Mat, error) {
	cfg := configOf(attrs)
	switch op {
	case "mhc_pre":
		mixes := ops.HCMix(in["x"], in["fn"], cfg.NormEps)
		pre, post, comb := ops.HCSplit(mixes, in["scale"].Data, in["base"].Data, cfg)
		return map[string]oracle.Mat{"y": ops.HCPre(in["x"], pre), "post": post, "comb": comb}, nil
	case "mhc_post":
		return map[string]oracle.Mat{"out": ops.HCPost(in["f"], in["post"], in["comb"], in["x"])}, nil
	case "mhc_head":
		mixes := ops.HCMix(in["x"], in["fn"], cfg.NormEps)
		return map[string]oracle.Mat{
			"y": ops.HCPre(in["x"], ops.HCHead(mixes, in["scale"].Data[0], in["base"].Data, cfg.Eps)),
		}, nil
	}
	return nil, fmt.Errorf("operator %q: %w; mhc_pre, mhc_post and mhc_head are", op, bench.ErrUnsupported)
}

func configOf(attrs bench.Attrs) oracle.HCConfig {
	return oracle.HCConfig{
		Streams: attrs.Int("hc_mult"), Iterations: attrs.Int("sinkhorn_iterations"),
		Eps: attrs.Num("hc_eps"), NormEps: attrs.Num("norm_eps"),
	}
}
