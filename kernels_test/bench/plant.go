package bench

import (
	"context"
	"math"

	"github.com/assay-suite/assay/oracle/faults"
)

// Builder makes the candidate of a plant or a suite for a declared contract.
type Builder func(contract string) (Candidate, error)

// Always builds one candidate of kernels, by operator, whatever contract is declared.
func Always(name string, kernels map[string]Kernel) Builder {
	return func(string) (Candidate, error) { return FromKernels(name, kernels), nil }
}

// With is a kernel made of steps, changed by options: each replaces a step.
func With[K any](k K, options ...func(k *K)) K {
	for _, o := range options {
		o(&k)
	}
	return k
}

// Before builds candidates that see a changed call; see the function Before.
func (b Builder) Before(f func(c *Call)) Builder {
	return func(contract string) (Candidate, error) {
		c, err := b(contract)
		return Before(c, f), err
	}
}

// After builds candidates whose outputs f edits; see the function After.
func (b Builder) After(f func(c Call, r *Reply)) Builder {
	return func(contract string) (Candidate, error) {
		c, err := b(contract)
		return After(c, f), err
	}
}

// Faulty is a plant of one faulty kernel of an operator, the same under every contract.
func Faulty(op, name, effect, origin, class string, k Kernel) Plant {
	return Always(name, map[string]Kernel{op: k}).plant(op, name, effect, origin, class)
}

// Called is a plant of an otherwise correct candidate, which sees an edited call; see Before.
func (b Builder) Called(op, name, effect, origin, class string, edit func(c *Call)) Plant {
	return b.Before(edit).plant(op, name, effect, origin, class)
}

// Wrote is a plant of an otherwise correct candidate, whose outputs, or whose caller's memory, are edited; see After.
func (b Builder) Wrote(op, name, effect, origin, class string, edit func(c Call, r *Reply)) Plant {
	return b.After(edit).plant(op, name, effect, origin, class)
}

func (b Builder) plant(op, name, effect, origin, class string) Plant {
	return Plant{Name: name, Effect: effect, Origin: origin, Class: class, On: []string{op}, Build: b}
}

// RowPlant is the plant of a row of the catalogue, which gives its words, on operators.
func RowPlant(row faults.Row, on []string, build func(contract string) (Candidate, error)) Plant {
	return Plant{
		Name: row.Slug, Effect: row.Effect, Origin: row.Origin, Row: row.ID, Class: row.Class, On: on, Build: build,
	}
}

// Under is the plant, run under the cases of some contracts only.
func (p Plant) Under(contracts ...string) Plant {
	p.Declared = contracts
	return p
}

// wrapped changes what a candidate reads or what it has written.
type wrapped struct {
	Candidate
	before func(c *Call)          // on a copy of the call
	after  func(c Call, r *Reply) // on the caller's own call
}

// Run runs the candidate in between.
func (w wrapped) Run(ctx context.Context, call Call) (Reply, error) {
	mine := call.Clone()
	if w.before != nil {
		w.before(&mine)
	}
	r, err := w.Candidate.Run(ctx, mine)
	if err == nil && w.after != nil {
		w.after(call, &r)
	}
	return r, err
}

// Before is a candidate that sees a changed call: a copy of memory that f may edit, views included.
func Before(c Candidate, f func(c *Call)) Candidate { return wrapped{c, f, nil} }

// After is a candidate whose outputs f edits; the call is the caller's own memory.
func After(c Candidate, f func(c Call, r *Reply)) Candidate { return wrapped{c, nil, f} }

// StrideIgnored takes an operand to lie without gaps.
func StrideIgnored(operand string) func(c *Call) {
	return func(c *Call) {
		if v, ok := c.Views[operand]; ok {
			v.Strides = contiguous(v.Shape)
			c.Views[operand] = v
		}
	}
}

// OffsetIgnored reads an operand from the start of its storage.
func OffsetIgnored(operand string) func(c *Call) {
	return func(c *Call) {
		if v, ok := c.Views[operand]; ok {
			v.Offset = 0
			c.Views[operand] = v
		}
	}
}

// StaleCapture reads an operand where it lay when the graph was captured.
func StaleCapture(operand string) func(c *Call) {
	return func(c *Call) {
		if c.CaptureWith != nil {
			s := c.Views[operand].Storage
			c.Storage[s] = c.CaptureWith.Storage[s]
		}
	}
}

// Lost takes an operand away.
func Lost(operand string) func(c *Call) { return func(c *Call) { delete(c.Views, operand) } }

// Mistaken sets an attribute, where the call has it, to f of its value.
func Mistaken(attr string, f func(v float64) float64) func(c *Call) {
	return func(c *Call) {
		if v, has := c.Attrs[attr].(float64); has {
			c.Attrs[attr] = f(v)
		}
	}
}

// Misread gives a candidate f's values of an operand, by row-major index, in place of its own.
func Misread(operand string, f func(i int, v float64) float64) func(c *Call) {
	return func(c *Call) {
		if v, ok := c.Views[operand]; ok {
			data := c.Storage[v.Storage].Data
			v.Each(func(i, at int) { data[at] = f(i, data[at]) })
		}
	}
}

// Rearranged gives a candidate element from(i, shape) of an operand where i should be, by row-major index.
func Rearranged(operand string, from func(i int, shape []int) int) func(c *Call) {
	return func(c *Call) {
		values := Args{call: *c}.In(operand)
		Misread(operand, func(i int, _ float64) float64 { return values.Data[from(i, values.Shape)] })(c)
	}
}

// RowsBeyondMasked lets the first row of an operand take in the row after its last, times 0: a partial tile that is
// read whole and masked by a product.
func RowsBeyondMasked(operand string) func(c *Call) {
	return func(c *Call) {
		v, ok := c.Views[operand]
		if !ok || v.Len() == 0 {
			return
		}
		data := c.Storage[v.Storage].Data
		if beyond := v.Offset + v.Shape[0]*v.Strides[0]; beyond < len(data) {
			data[v.Offset] += 0 * data[beyond]
		}
	}
}

// LastTileUnwritten leaves rows of a last tile that is not full unwritten: a grid that is rounded down.
func LastTileUnwritten(tile int) func(c Call, r *Reply) {
	return func(c Call, r *Reply) {
		for name, s := range r.Outputs {
			o := c.Outputs[name]
			rows := o.Shape[0]
			if rows <= tile {
				continue
			}
			pre := prefilled(o.DType, o.Prefill)
			for i := rows / tile * tile * (len(s.Data) / rows); i < len(s.Data); i++ {
				s.Data[i] = pre
			}
		}
	}
}

// FMax drops a NaN, as hardware maxima do.
func FMax(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return math.Max(a, b)
}
