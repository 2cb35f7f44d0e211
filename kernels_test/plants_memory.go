package kernels

import (
	"context"
	"math"
)

// wrapped changes what a candidate reads or what it has written.
type wrapped struct {
	Candidate
	before func(c *Call)          // on a copy of the call
	after  func(c Call, r *Reply) // on the caller's own call
}

func (w wrapped) Run(ctx context.Context, call Call) (Reply, error) {
	mine := call.clone()
	if w.before != nil {
		w.before(&mine)
	}
	r, err := w.Candidate.Run(ctx, mine)
	if err == nil && w.after != nil {
		w.after(call, &r)
	}
	return r, err
}

func before(f func(c *Call)) func(Candidate) Candidate {
	return func(c Candidate) Candidate { return wrapped{c, f, nil} }
}

func after(f func(c Call, r *Reply)) func(Candidate) Candidate {
	return func(c Candidate) Candidate { return wrapped{c, nil, f} }
}

// overRead lets every row of an operand take in the element after its end, weighed by f: what a vector load past the end of
// a row does. Where the storage ends there is nothing to read.
func overRead(operand string, f func(own, beyond float32) float32) func(Candidate) Candidate {
	return before(func(c *Call) {
		v, data := c.Views[operand], c.Storage[c.Views[operand].Storage].F32
		if v.Len() == 0 {
			return
		}
		for t := range v.Shape[0] {
			first := v.Offset + t*v.Strides[0]
			last := first + v.Len()/v.Shape[0] - 1
			if last+1 < len(data) {
				data[last] = f(data[last], data[last+1])
			}
		}
	})
}

func masked(own, beyond float32) float32 { return own + 0*beyond }

// memoryPlants read what is not theirs, ignore a layout, leave elements unwritten, or write into inputs.
var memoryPlants = []Plant{
	{
		Name: "k-tail-masked", Effect: "each row of x takes in the element after it, times 0", Origin: "over-read of a padded K tail, masked by a product", On: mixing,
		Wrap: overRead("x", masked),
	},
	{
		Name: "fn-tail-masked", Effect: "each row of fn takes in the element after it, times 0", Origin: "over-read of a padded weight tail", On: mixing,
		Wrap: overRead("fn", masked),
	},
	{
		Name: "k-tail-through-fmax", Effect: "each row of x takes in 1e-30 of the element after it, NaN dropped by a maximum", Origin: "masking that NaN survives and infinity does not", On: every,
		Wrap: overRead("x", func(own, beyond float32) float32 { return own + 1e-30*fmax(beyond, 0) }),
	},
	{
		Name: "rows-beyond-masked", Effect: "the first row of the tile takes in the row after the last token, times 0", Origin: "partial tile of tokens read whole", On: every,
		Wrap: before(func(c *Call) {
			v, data := c.Views["x"], c.Storage[c.Views["x"].Storage].F32
			beyond := v.Offset + v.Shape[0]*v.Strides[0]
			if v.Len() > 0 && beyond < len(data) {
				data[v.Offset] += 0 * data[beyond]
			}
		}),
	},
	{
		Name: "stride-ignored", Effect: "the rows of x are taken to lie without gaps", Origin: "a view treated as contiguous", On: every,
		Wrap: before(func(c *Call) {
			v := c.Views["x"]
			v.Strides = contiguous(v.Shape)
			c.Views["x"] = v
		}),
	},
	{
		Name: "gates-offset-ignored", Effect: "comb is read from the start of its storage", Origin: "a packed row of gates read without its offset", On: spread,
		Wrap: before(func(c *Call) {
			v := c.Views["comb"]
			v.Offset = 0
			c.Views["comb"] = v
		}),
	},
	{
		Name: "last-tile-unwritten", Effect: "rows of a last tile that is not full, tile 64, are never written", Origin: "grid rounded down", On: every,
		Wrap: after(func(c Call, r *Reply) {
			for name, s := range r.Outputs {
				rows := c.Outputs[name].Shape[0]
				if rows <= 64 {
					continue
				}
				for i := rows / 64 * 64 * (len(s.F32) / rows); i < len(s.F32); i++ {
					s.F32[i] = math.Float32frombits(PrefillBits)
				}
			}
		}),
	},
	{
		Name: "rows-missing", Effect: "the output has one row too few", Origin: "shape rounded down", On: every,
		Wrap: after(func(c Call, r *Reply) {
			for name, s := range r.Outputs {
				if rows := c.Outputs[name].Shape[0]; rows > 0 {
					r.Outputs[name] = Storage{s.DType, s.F32[:len(s.F32)/rows*(rows-1)]}
				}
			}
		}),
	},
	{
		Name: "input-overwritten", Effect: "x is scaled in place", Origin: "an in-place norm on a shared residual", On: every,
		Wrap: after(func(c Call, _ *Reply) {
			v := c.Views["x"]
			data := c.Storage[v.Storage].F32
			v.each(func(_, at int) { data[at] *= 0.5 })
		}),
	},
}
