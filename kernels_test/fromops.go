package kernels

import (
	"context"
	"fmt"
	"time"

	"github.com/assay-suite/assay/oracle"
)

// opsCandidate answers calls in this process with an oracle.Ops: the way in which recipes, catalogued faults and the float64
// oracles themselves become candidates.
type opsCandidate struct {
	name string
	ops  oracle.Ops
}

// FromOps makes a candidate of operators. Results are rounded to float32 where they are stored.
func FromOps(name string, ops oracle.Ops) Candidate { return opsCandidate{name, ops} }

// Hello lists the operators.
func (c opsCandidate) Hello(context.Context) (Hello, error) {
	f32 := Capability{DTypes: []string{"F32"}, Phases: []string{"prefill", "decode", "extend"}, Modes: []string{"eager"}}
	return Hello{Name: c.name, Version: "built in", Device: "cpu", Ops: map[string]Capability{
		"mhc_pre": f32, "mhc_post": f32, "mhc_head": f32,
	}}, nil
}

// Run gathers the operands that the views show and computes the operator on them.
func (c opsCandidate) Run(ctx context.Context, call Call) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	if err := call.Check(); err != nil {
		return Reply{}, err
	}
	in := call.operands()
	start := time.Now()
	results, err := evaluate(c.ops, call.Op, call.Attrs, in)
	if err != nil {
		return Reply{}, err
	}
	out := call.Allocate()
	for name, m := range results {
		copy(out[name].F32, narrow(m.Data))
	}
	return Reply{Outputs: out, Seconds: time.Since(start).Seconds(), Path: c.name}, nil
}

// operands gathers what the views show.
func (c Call) operands() map[string]oracle.Mat {
	in := make(map[string]oracle.Mat, len(c.Views))
	for name, v := range c.Views {
		in[name] = mat(c.Storage[v.Storage], v)
	}
	return in
}

// evaluate runs one operator on dense operands:
//
//	mhc_pre   x [T, nC], fn [(2+n)n, nC], scale [3], base [(2+n)n]  ->  y [T, C], post [T, n], comb [T, n·n]
//	mhc_post  f [T, C], post [T, n], comb [T, n·n], x [T, nC]       ->  out [T, nC]
//	mhc_head  x [T, nC], fn [n, nC], scale [1], base [n]            ->  y [T, C]
//
// with the attributes hc_mult n, sinkhorn_iterations, hc_eps, norm_eps.
func evaluate(ops oracle.Ops, op string, attrs map[string]float64, in map[string]oracle.Mat) (map[string]oracle.Mat, error) {
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
		return map[string]oracle.Mat{"y": ops.HCPre(in["x"], ops.HCHead(mixes, in["scale"].Data[0], in["base"].Data, cfg.Eps))}, nil
	}
	return nil, fmt.Errorf("operator %q: %w; mhc_pre, mhc_post and mhc_head are", op, ErrUnsupported)
}

func configOf(attrs map[string]float64) oracle.HCConfig {
	return oracle.HCConfig{
		Streams: int(attrs["hc_mult"]), Iterations: int(attrs["sinkhorn_iterations"]),
		Eps: attrs["hc_eps"], NormEps: attrs["norm_eps"],
	}
}
