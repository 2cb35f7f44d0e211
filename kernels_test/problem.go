package kernels

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Operand is one input as values, row-major.
type Operand struct {
	Shape  []int
	Values []float32
}

// Layout is how an operand lies in its storage: Lead elements before it, Gap elements after each step of the first dimension
// (row stride = row + Gap), Tail elements after all. What lies there belongs to nobody.
type Layout struct {
	Lead, Gap, Tail int
}

// Problem is one operator's inputs before they are laid out.
type Problem struct {
	Attrs    map[string]float64
	Operands map[string]Operand
	Layout   map[string]Layout
	Outputs  map[string][]int
}

// rows returns the length of one step of the first dimension and how many there are; a vector is one step.
func (o Operand) rows() (n, length int) {
	if len(o.Shape) < 2 {
		return 1, len(o.Values)
	}
	length = 1
	for _, d := range o.Shape[1:] {
		length *= d
	}
	return o.Shape[0], length
}

// call lays the operands out with filler in everything that no view reaches.
func (p Problem) call(op, id string, filler func() float32) Call {
	c := Call{
		Op: op, Case: id, Attrs: maps.Clone(p.Attrs),
		Storage: map[string]Storage{}, Views: map[string]View{}, Outputs: map[string]Output{},
	}
	for _, name := range slices.Sorted(maps.Keys(p.Operands)) {
		o, l := p.Operands[name], p.Layout[name]
		n, length := o.rows()
		strides := contiguous(o.Shape)
		if len(o.Shape) > 1 {
			strides[0] = length + l.Gap
		}
		data := make([]float32, l.Lead+n*(length+l.Gap)+l.Tail)
		if l != (Layout{}) {
			for i := range data {
				data[i] = filler()
			}
		}
		v := View{Storage: name + "_storage", Offset: l.Lead, Shape: o.Shape, Strides: strides}
		v.each(func(i, at int) { data[at] = o.Values[i] })
		c.Storage[v.Storage], c.Views[name] = Storage{"F32", data}, v
	}
	for name, shape := range p.Outputs {
		c.Outputs[name] = Output{DType: "F32", Shape: shape, Prefill: "nan"}
	}
	return c
}

// padded tells whether any storage has memory that must not be read.
func (p Problem) padded() bool {
	for _, l := range p.Layout {
		if l != (Layout{}) {
			return true
		}
	}
	return false
}

// harmless filler has the size of real values, so that reading it looks like a plausible result.
func harmless(rng *rand.Rand) func() float32 {
	return func() float32 { return float32(rng.NormFloat64()) }
}

// nans fills with NaN: whatever is computed from it shows, a product with a mask of 0 too.
func nans() float32 { return float32(math.NaN()) }

// extremes fills with infinities and the largest finite values in turn, for code that drops NaN (a maximum, a clamp).
func extremes() func() float32 {
	values := []float32{float32(math.Inf(1)), math.MaxFloat32, float32(math.Inf(-1)), -math.MaxFloat32}
	at := 0
	return func() float32 {
		at++
		return values[at%len(values)]
	}
}
