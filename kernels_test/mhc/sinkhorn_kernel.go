package mhc

import (
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle"
)

// sinkhornOrder is how a correct kernel adds and exponentiates, and what a faulty one leaves out.
type sinkhornOrder struct {
	small    Dot // nil is sequential
	exp      func(float32) float32
	rowsLast bool // a fault: a row step after the last column step
	short    int  // a fault: steps left out
}

// sinkhornCandidate computes a variant in fp32: with eps in linear space, without in log space.
func sinkhornCandidate(name string, v oracle.SinkhornVariant, o sinkhornOrder) bench.Candidate {
	if o.small == nil {
		o.small = Sequential
	}
	if o.exp == nil {
		o.exp = exp32
	}
	v.Iterations -= o.short
	return bench.FromKernel(name, "sinkhorn", func(a bench.Args) (bench.Results, error) {
		logits, out := a.In("logits"), a.Fresh("comb")
		n := logits.Dim(1)
		for t := range logits.Dim(0) {
			b := out[t*n*n : (t+1)*n*n]
			copy(b, logits.Row(t))
			if v.Eps == 0 {
				logSinkhorn(b, n, v.Iterations, o)
				continue
			}
			r := Recipe{Small: o.small, Exp: o.exp}
			r.sinkhorn(b, n, v.Iterations, float32(v.Eps))
			if o.rowsLast {
				for j := range n {
					divide(b, j*n, 1, n, v.Eps)
				}
			}
		}
		return bench.Results{"comb": out}, nil
	})
}

// logSinkhorn takes column and row steps on fp32 logarithms.
func logSinkhorn(b []float64, n, iterations int, o sinkhornOrder) {
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	step := func(first, stride int) {
		top := float32(math.Inf(-1))
		for l := range n {
			top = max(top, float32(b[first+l*stride]))
		}
		group := make([]float64, n)
		for l := range n {
			group[l] = float64(o.exp(float32(b[first+l*stride]) - top))
		}
		lse := top + float32(math.Log(o.small(group, ones)))
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
		b[i] = float64(o.exp(float32(v)))
	}
}

// sinkhornVariants are correct kernels of each variant.
func sinkhornVariants() []bench.Variant {
	var out []bench.Variant
	for _, v := range oracle.SinkhornVariants() {
		for name, o := range map[string]sinkhornOrder{
			"reversed": {small: Reversed}, "pairwise": {small: Pairwise}, "fused": {small: Fused}, "exp2": {exp: exp2Form},
		} {
			name = "sinkhorn-" + v.Name + "-" + name
			out = append(out, bench.Variant{Name: name, Contract: v.Name, Candidate: sinkhornCandidate(name, v, o)})
		}
	}
	return out
}

// sinkhornAlonePlants run another variant than the declared one, or stop early.
func sinkhornAlonePlants() []bench.Plant {
	as := func(other string, o sinkhornOrder) func(string) (bench.Candidate, error) {
		return func(contract string) (bench.Candidate, error) {
			if other == "" {
				other = contract
			}
			v, _ := variantNamed(other)
			return sinkhornCandidate("faulty", v, o), nil
		}
	}
	on := []string{"sinkhorn"}
	return []bench.Plant{
		{
			Name:     "sinkhorn-alone-log-for-v4",
			Class:    "variant",
			Effect:   "the log variant runs where v4 is declared",
			Origin:   "H4",
			On:       on,
			Declared: []string{"v4"},
			Build:    as("log", sinkhornOrder{}),
		},
		{
			Name:     "sinkhorn-alone-v4-for-log",
			Class:    "variant",
			Effect:   "the linear variant with eps runs where log is declared",
			Origin:   "H4",
			On:       on,
			Declared: []string{"log"},
			Build:    as("v4", sinkhornOrder{}),
		},
		{
			Name:     "sinkhorn-alone-10-for-20",
			Class:    "variant",
			Effect:   "10 iterations run where 20 are declared",
			Origin:   "H4",
			On:       on,
			Declared: []string{"v4"},
			Build:    as("tilekernels", sinkhornOrder{}),
		},
		{
			Name:     "sinkhorn-alone-row-last",
			Class:    "variant",
			Effect:   "a row step follows the last column step",
			Origin:   "H3",
			On:       on,
			Declared: []string{"v4", "tilekernels"},
			Build:    as("v4", sinkhornOrder{rowsLast: true}),
		},
	}
}
