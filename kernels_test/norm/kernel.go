package norm

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/kernels_test/bench"
)

func slug(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// summing adds fp32 values in some order.
type summing func(v []float32) float32

func sequential(v []float32) float32 {
	var s float32
	for _, x := range v {
		s += x
	}
	return s
}

func lanes(n int) summing {
	return func(v []float32) float32 {
		acc := make([]float32, n)
		for i, x := range v {
			acc[i%n] += x
		}
		return sequential(acc)
	}
}

// rmsOptions are what a faulty kernel does otherwise.
type rmsOptions struct {
	noEps, halfLanes bool
}

// rmsNormWith is the operator in fp32.
func rmsNormWith(sum summing, o rmsOptions) bench.Kernel {
	return func(a bench.Args) (bench.Results, error) {
		x, w := a.In("x"), a.In("weight")
		y := a.Fresh("y")
		d := x.Dim(1)
		for t := range x.Dim(0) {
			squares := make([]float32, d)
			for i, v := range x.Row(t) {
				if squares[i] = float32(v) * float32(v); o.halfLanes && i%2 == 1 {
					squares[i] = 0
				}
			}
			mean := sum(squares) / float32(d)
			if !o.noEps {
				mean += float32(a.Num("norm_eps"))
			}
			scale := 1 / float32(math.Sqrt(float64(mean)))
			for i, v := range x.Row(t) {
				y[t*d+i] = float64(float32(v) * scale * float32(w.Data[i]))
			}
		}
		return bench.Results{"y": y}, nil
	}
}

func variants() []bench.Variant {
	var out []bench.Variant
	for _, n := range []int{4, 8, 32, 64, 128} {
		out = append(out, bench.Variant{Name: slug("lanes-%d", n), Candidate: bench.FromKernels(slug("lanes-%d", n), kernels(lanes(n)))})
	}
	return out
}

func plants() []bench.Plant {
	with := func(o rmsOptions) func(string) (bench.Candidate, error) {
		return func(string) (bench.Candidate, error) {
			return bench.FromKernel("faulty", "rms_norm", rmsNormWith(sequential, o)), nil
		}
	}
	on := []string{"rms_norm"}
	return []bench.Plant{
		{Name: "rms-eps-missing", Effect: "the norm has no eps", Origin: "eps dropped in a fused norm", Class: "eps", On: on, Build: with(rmsOptions{noEps: true})},
		{Name: "rms-half-lanes", Effect: "half of the lanes enter the sum of squares", Origin: "vllm-project/vllm#56342", Class: "scale", On: on, Build: with(rmsOptions{halfLanes: true})},
		{Name: "rms-stride-ignored", Effect: "the rows of x are taken to lie without gaps", Origin: "a view treated as contiguous", Class: "strides", On: on, Build: func(c string) (bench.Candidate, error) {
			under, err := built(c)
			return bench.Before(under, bench.StrideIgnored("x")), err
		}},
	}
}
