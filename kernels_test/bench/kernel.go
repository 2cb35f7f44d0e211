package bench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/internal/suite"
)

// Args is what a kernel in this process is given.
type Args struct {
	Attrs
	call Call
}

// In gathers an operand through its view: the only memory that a kernel reads.
func (a Args) In(name string) Tensor {
	v, ok := a.call.Views[name]
	if !ok {
		return Tensor{}
	}
	return gather(a.call.Storage[v.Storage], v)
}

// Has tells whether the call has an operand.
func (a Args) Has(name string) bool { _, ok := a.call.Views[name]; return ok }

// DType is the dtype of an operand.
func (a Args) DType(name string) string { return a.call.Storage[a.call.Views[name].Storage].DType }

// Out is an output that is asked for; without it the zero Output.
func (a Args) Out(name string) Output { return a.call.Outputs[name] }

// Wants tells whether an output is asked for.
func (a Args) Wants(name string) bool { _, ok := a.call.Outputs[name]; return ok }

// Prefill is what an element of an output holds before the call: a kernel that leaves an element alone returns it.
func (a Args) Prefill(name string) float64 {
	o := a.call.Outputs[name]
	return prefilled(o.DType, o.Prefill)
}

// Fresh is an output of the asked size, prefilled.
func (a Args) Fresh(name string) []float64 {
	out := make([]float64, product(a.call.Outputs[name].Shape))
	v := a.Prefill(name)
	for i := range out {
		out[i] = v
	}
	return out
}

// Results are a kernel's outputs by name, row-major; stored values are rounded to the output's dtype.
type Results map[string][]float64

// Kernel computes one operator.
type Kernel func(a Args) (Results, error)

// kernelCandidate answers calls in this process.
type kernelCandidate struct {
	name    string
	kernels map[string]Kernel
}

// FromKernels makes a candidate of kernels, by operator.
func FromKernels(name string, kernels map[string]Kernel) Candidate {
	return kernelCandidate{name, kernels}
}

// FromKernel makes a candidate of one kernel.
func FromKernel(name, op string, k Kernel) Candidate {
	return kernelCandidate{name, map[string]Kernel{op: k}}
}

// Hello lists the operators.
func (c kernelCandidate) Hello(context.Context) (Hello, error) {
	h := Hello{Name: c.name, Version: "built in", Device: "cpu", Ops: map[string]Capability{}}
	for op := range c.kernels {
		h.Ops[op] = Capability{Modes: []string{"eager", "graph"}}
	}
	return h, nil
}

// Run gathers the operands that the views show and computes the operator on them. A kernel that panics, as one that
// follows a wild index does, is an error of the candidate.
func (c kernelCandidate) Run(ctx context.Context, call Call) (r Reply, err error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	if err := call.Check(); err != nil {
		return Reply{}, err
	}
	k, ok := c.kernels[call.Op]
	if !ok {
		return Reply{}, fmt.Errorf("operator %q: %w", call.Op, ErrUnsupported)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("candidate %q crashed in %q: %v", c.name, call.Case, p)
		}
	}()
	start := time.Now()
	r = Reply{Path: c.name}
	for range max(call.Repeat, 1) {
		results, err := k(Args{call.Attrs, call})
		if err != nil {
			return Reply{}, err
		}
		r.Outputs = call.Allocate()
		for name, s := range r.Outputs {
			v, ok := results[name]
			if !ok {
				continue // stays prefilled
			}
			data := make([]float64, len(v))
			pre := math.Float64bits(prefilled(s.DType, call.Outputs[name].Prefill))
			for i, x := range v {
				if data[i] = x; math.Float64bits(x) != pre {
					data[i] = Round(s.DType, x)
				}
			}
			r.Outputs[name] = Storage{s.DType, data}
		}
		if call.Repeat > 1 {
			r.Digests = append(r.Digests, digest(r.Outputs))
		}
	}
	r.Seconds = time.Since(start).Seconds()
	for _, other := range call.BatchWith {
		one, err := c.Run(ctx, other)
		if err != nil {
			return Reply{}, err
		}
		r.Batch = append(r.Batch, one.Outputs)
	}
	return r, nil
}

// digest is one word for the bits of all outputs.
func digest(out map[string]Storage) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(out)) {
		b.WriteString(name)
		for _, v := range out[name].Data {
			u := math.Float64bits(v)
			for i := range 8 {
				b.WriteByte(byte(u >> (8 * i)))
			}
		}
	}
	return fmt.Sprintf("%016x", suite.Seed(b.String()))
}
