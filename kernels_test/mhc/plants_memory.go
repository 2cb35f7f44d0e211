package mhc

import "github.com/assay-suite/assay/kernels_test/bench"

func before(f func(c *bench.Call)) func(bench.Candidate) bench.Candidate {
	return func(c bench.Candidate) bench.Candidate { return bench.Before(c, f) }
}

func after(f func(c bench.Call, r *bench.Reply)) func(bench.Candidate) bench.Candidate {
	return func(c bench.Candidate) bench.Candidate { return bench.After(c, f) }
}

// overRead lets every row of an operand take in the element after its end, weighed by f: what a vector load past the
// end of a row does. Where the storage ends there is nothing to read.
func overRead(operand string, f func(own, beyond float64) float64) func(bench.Candidate) bench.Candidate {
	return before(func(c *bench.Call) {
		v, data := c.Views[operand], c.Storage[c.Views[operand].Storage].Data
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

func masked(own, beyond float64) float64 { return own + 0*beyond }

// memoryPlants read what is not theirs, ignore a layout, leave elements unwritten, or write into inputs.
var memoryPlants = []plant{
	{
		Name: "k-tail-masked", Class: "unread-memory", Effect: "each row of x takes in the element after it, times 0",
		Origin: "over-read of a padded K tail, masked by a product", On: mixing,
		Wrap: overRead("x", masked),
	},
	{
		Name: "fn-tail-masked", Class: "unread-memory", Effect: "each row of fn takes in the element after it, times 0",
		Origin: "over-read of a padded weight tail", On: mixing,
		Wrap: overRead("fn", masked),
	},
	{
		Name: "k-tail-through-fmax", Class: "unread-memory", Effect: "each row of x takes in 1e-30 of the element after " +
			"it, NaN dropped by a maximum", Origin: "masking that NaN survives and infinity does not", On: every,
		Wrap: overRead("x", func(own, beyond float64) float64 { return own + 1e-30*bench.FMax(beyond, 0) }),
	},
	{
		Name: "rows-beyond-masked", Class: "unread-memory", Effect: "the first row of the tile takes in the row after the " +
			"last token, times 0", Origin: "partial tile of tokens read whole", On: every,
		Wrap: before(bench.RowsBeyondMasked("x")),
	},
	{
		Name: "stride-ignored", Class: "strides", Effect: "the rows of x are taken to lie without gaps",
		Origin: "a view treated as contiguous", On: every,
		Wrap: before(bench.StrideIgnored("x")),
	},
	{
		Name: "gates-offset-ignored", Class: "strides", Effect: "comb is read from the start of its storage",
		Origin: "a packed row of gates read without its offset", On: spread,
		Wrap: before(func(c *bench.Call) {
			v := c.Views["comb"]
			v.Offset = 0
			c.Views["comb"] = v
		}),
	},
	{
		Name: "last-tile-unwritten", Class: "unwritten", Effect: "rows of a last tile that is not full, tile 64, are never " +
			"written", Origin: "grid rounded down", On: every,
		Wrap: after(bench.LastTileUnwritten(64)),
	},
	{
		Name: "rows-missing", Class: "unwritten", Effect: "the output has one row too few", Origin: "shape rounded down",
		On: every,
		Wrap: after(func(c bench.Call, r *bench.Reply) {
			for name, s := range r.Outputs {
				if rows := c.Outputs[name].Shape[0]; rows > 0 {
					r.Outputs[name] = bench.Storage{DType: s.DType, Data: s.Data[:len(s.Data)/rows*(rows-1)]}
				}
			}
		}),
	},
	{
		Name: "input-overwritten", Class: "input-overwritten", Effect: "x is scaled in place",
		Origin: "an in-place norm on a shared residual", On: every,
		Wrap: after(func(c bench.Call, _ *bench.Reply) {
			v := c.Views["x"]
			data := c.Storage[v.Storage].Data
			v.Each(func(_, at int) { data[at] *= 0.5 })
		}),
	},
}
