package bench

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Operand is one input as values, row-major, each representable in its dtype.
type Operand struct {
	DType  string
	Shape  []int
	Values []float64
}

// Floats makes an operand, its values rounded to the dtype.
func Floats(dtype string, values []float64, shape ...int) Operand {
	return Operand{dtype, shape, RoundAll(dtype, values)}
}

// Ints makes an I32 operand.
func Ints(values []int, shape ...int) Operand {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return Operand{I32, shape, out}
}

// Bytes makes a U8 operand.
func Bytes(values []byte, shape ...int) Operand {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return Operand{U8, shape, out}
}

// Tensor is the operand dense.
func (o Operand) Tensor() Tensor { return Tensor{o.Shape, o.Values} }

// Layout is how an operand lies in its storage: Lead elements before it, Gap elements after each step of the first
// dimension, Inner elements after each step of the second, Tail elements after all; with Swap the second dimension is
// outermost in memory. What lies there belongs to nobody.
type Layout struct {
	Lead, Gap, Inner, Tail int
	Swap                   bool
}

// strides of a shape in this layout, and the length of the storage.
func (l Layout) strides(shape []int) (strides []int, size int) {
	strides = contiguous(shape)
	if len(shape) == 0 || product(shape) == 0 {
		return strides, l.Lead + product(shape) + l.Tail
	}
	if len(shape) == 1 {
		return strides, l.Lead + shape[0] + l.Tail
	}
	rest := product(shape[2:])
	switch {
	case l.Swap:
		strides[0] = rest + l.Inner
		strides[1] = shape[0]*strides[0] + l.Gap
		size = shape[1] * strides[1]
	default:
		strides[1] = rest
		if len(shape) > 2 {
			strides[1] += l.Inner
		}
		strides[0] = shape[1]*strides[1] + l.Gap
		size = shape[0] * strides[0]
	}
	return strides, l.Lead + size + l.Tail
}

// Problem is one operator's inputs before they are laid out.
type Problem struct {
	Attrs    Attrs
	Operands map[string]Operand
	Layout   map[string]Layout
	Outputs  map[string]Output

	// Unread marks elements inside an operand that no correct kernel reads: rows of pages beyond a length, table entries
	// beyond the last page, padding. They keep what Draw gave them in the plain call and hold poison in the others.
	Unread map[string]func(i int) bool

	// planted are operands that hold NaN (NaNRule), with the finite value that one of them stands for.
	planted map[string]float64

	Mode        string   // eager where empty
	Repeat      int      // runs, 1 where 0
	CaptureWith *Problem // graph mode
}

// Clone copies a problem deeply enough to change values, attributes, layouts and outputs.
func (p Problem) Clone() Problem {
	operands := make(map[string]Operand, len(p.Operands))
	for name, o := range p.Operands {
		operands[name] = Operand{o.DType, slices.Clone(o.Shape), slices.Clone(o.Values)}
	}
	p.Operands, p.Attrs, p.Layout = operands, maps.Clone(p.Attrs), maps.Clone(p.Layout)
	p.Outputs, p.Unread = maps.Clone(p.Outputs), maps.Clone(p.Unread)
	return p
}

// Change applies f to every value of an operand and rounds to its dtype.
func (p Problem) Change(name string, f func(i int, v float64) float64) {
	o := p.Operands[name]
	for i, v := range o.Values {
		o.Values[i] = Round(o.DType, f(i, v))
	}
}

// In is an operand as a dense tensor.
func (p Problem) In(name string) Tensor { return p.Operands[name].Tensor() }

// Args gives the problem to a kernel without any layout: for expectations that are kernels themselves.
func (p Problem) Args() Args {
	return Args{p.Attrs, p.call("", "", "", func(string) func() float64 { return func() float64 { return 0 } }, nil)}
}

// Call lays the problem out as it says and asks for it: for callers outside of a case.
func (p Problem) Call(op, id, phase string) Call {
	return p.call(op, id, phase, func(string) func() float64 { return func() float64 { return 0 } }, nil)
}

// poisonable tells whether there is memory that must not be read.
func (p Problem) poisonable() bool {
	if len(p.Unread) > 0 {
		return true
	}
	for _, l := range p.Layout {
		if l.Lead+l.Gap+l.Inner+l.Tail > 0 {
			return true
		}
	}
	return false
}

// call lays the operands out. filler gives, by dtype, what lies in memory that no view reaches; unread, where it is not
// nil, replaces the elements inside of views that the operator leaves unread.
func (p Problem) call(op, id, phase string, filler func(dtype string) func() float64,
	unread func(name, dtype string) func() float64,
) Call {
	c := Call{
		Op: op, Case: id, Phase: phase, Mode: p.Mode, Repeat: p.Repeat, Attrs: maps.Clone(p.Attrs),
		Storage: map[string]Storage{}, Views: map[string]View{}, Outputs: maps.Clone(p.Outputs),
	}
	for _, name := range slices.Sorted(maps.Keys(p.Operands)) {
		o, l := p.Operands[name], p.Layout[name]
		strides, size := l.strides(o.Shape)
		data := make([]float64, size)
		if l != (Layout{}) {
			next := filler(o.DType)
			for i := range data {
				data[i] = next()
			}
		}
		v := View{Storage: name + "_storage", Offset: l.Lead, Shape: o.Shape, Strides: strides}
		hidden := p.Unread[name]
		var next func() float64
		if hidden != nil && unread != nil {
			next = unread(name, o.DType)
		}
		v.Each(func(i, at int) {
			if data[at] = o.Values[i]; next != nil && hidden(i) {
				data[at] = next()
			}
		})
		c.Storage[v.Storage], c.Views[name] = Storage{o.DType, data}, v
	}
	if p.CaptureWith != nil {
		first := p.CaptureWith.call(op, id+"/captured", phase, filler, unread)
		c.CaptureWith = &first
	}
	return c
}

// harmless filler has the size of real values, so that reading it looks like a plausible result.
func harmless(rng *rand.Rand) func(dtype string) func() float64 {
	return func(dtype string) func() float64 {
		return func() float64 {
			switch dtype {
			case U8:
				return float64(rng.IntN(120))
			case I32, I64:
				return float64(rng.IntN(2))
			case E8M0:
				return 1
			}
			return Round(dtype, rng.NormFloat64())
		}
	}
}

// check returns an error for a problem that its suite has drawn wrongly.
func (p Problem) check() error {
	for name, o := range p.Operands {
		if product(o.Shape) != len(o.Values) {
			return fmt.Errorf("operand %q has %d values and shape %v", name, len(o.Values), o.Shape)
		}
		round := rounding(o.DType)
		for i, v := range o.Values {
			if r := round(v); r != v && v == v {
				return fmt.Errorf("operand %q holds %v at %d, which is no value of %s", name, v, i, o.DType)
			}
		}
	}
	for name := range p.Layout {
		if _, ok := p.Operands[name]; !ok {
			return fmt.Errorf("operand %q is laid out and does not exist", name)
		}
	}
	for name := range p.Unread {
		if _, ok := p.Operands[name]; !ok {
			return fmt.Errorf("operand %q has unread elements and does not exist", name)
		}
	}
	return nil
}
