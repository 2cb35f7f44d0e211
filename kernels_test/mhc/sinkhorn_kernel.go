package mhc

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// sinkhornCandidate computes a variant as a recipe adds and exponentiates: with eps in linear space, without in log
// space.
func sinkhornCandidate(name string, v oracle.SinkhornVariant, r Recipe) bench.Candidate {
	return bench.FromKernel(name, "sinkhorn", func(a bench.Args) (bench.Results, error) {
		logits, out := a.In("logits"), a.Fresh("comb")
		n := logits.Dim(1)
		for t := range logits.Dim(0) {
			b := out[t*n*n : (t+1)*n*n]
			copy(b, logits.Row(t))
			if v.Eps == 0 {
				r.logSinkhorn(b, n, v.Iterations)
			} else {
				r.sinkhorn(b, n, v.Iterations, float32(v.Eps))
			}
		}
		return bench.Results{"comb": out}, nil
	})
}

// logSinkhorn takes column and row steps on fp32 logarithms.
func (r Recipe) logSinkhorn(b []float64, n, iterations int) {
	group := make([]float64, n)
	step := func(first, stride int) {
		top := float32(math.Inf(-1))
		for l := range n {
			top = max(top, float32(b[first+l*stride]))
		}
		for l := range n {
			group[l] = float64(r.Exp(float32(b[first+l*stride]) - top))
		}
		lse := top + float32(math.Log(float64(r.sum(group))))
		for l := range n {
			b[first+l*stride] = float64(float32(b[first+l*stride]) - lse)
		}
	}
	for range iterations {
		for k := range n {
			step(k, n)
		}
		for j := range n {
			step(j*n, 1)
		}
	}
	for i, v := range b {
		b[i] = float64(r.Exp(float32(v)))
	}
}

// sinkhornVariants are correct kernels of each variant.
func sinkhornVariants() []bench.Variant {
	var out []bench.Variant
	for _, v := range oracle.SinkhornVariants() {
		for name, option := range map[string]func(r *Recipe){
			"reversed": func(r *Recipe) { r.Small = reversed },
			"pairwise": func(r *Recipe) { r.Small = pairwise },
			"fused":    func(r *Recipe) { r.Small = fused },
			"exp2":     func(r *Recipe) { r.Exp = exp2Form },
		} {
			name = "sinkhorn-" + v.Name + "-" + name
			c := sinkhornCandidate(name, v, bench.With(plain(), option))
			out = append(out, bench.Variant{Name: name, Contract: v.Name, Candidate: c})
		}
	}
	return out
}

// alonePlants run another variant of the normalisation alone than the declared one, or one step more.
func alonePlants() []bench.Plant {
	as := func(name, effect, other, declared string) bench.Plant {
		return bench.Plant{
			Name: name, Class: "variant", Effect: effect, Origin: "H4", On: alone, Declared: []string{declared},
			Build: func(string) (bench.Candidate, error) { return built(other) },
		}
	}
	return []bench.Plant{
		as("sinkhorn-alone-log-for-v4", "the log variant runs where v4 is declared", "log", "v4"),
		as("sinkhorn-alone-v4-for-log", "the linear variant with eps runs where log is declared", "v4", "log"),
		as("sinkhorn-alone-10-for-20", "10 iterations run where 20 are declared", "tilekernels", "v4"),
		{
			Name: "sinkhorn-alone-row-last", Class: "variant", Effect: "a row step follows the last column step",
			Origin: "H3", On: alone, Declared: []string{"v4", "tilekernels"},
			Build: bench.Builder(func(string) (bench.Candidate, error) { return built("v4") }).After(
				rewritten("comb", rowStep)),
		},
	}
}
