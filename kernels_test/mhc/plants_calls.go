package mhc

import "github.com/assay-suite/assay/kernels_test/bench"

// callPlants are the contract's own candidate, which sees an edited call: other parameters, other memory.
func callPlants() []bench.Plant {
	plant := func(name, class, effect, origin string, on []string, edit func(c *bench.Call)) bench.Plant {
		return bench.Plant{
			Name: name, Class: class, Effect: effect, Origin: origin, On: on, Build: bench.Builder(built).Before(edit),
		}
	}
	masked := func(own, beyond float64) float64 { return own + 0*beyond }
	return []bench.Plant{
		plant("norm-eps-missing", "eps", "the norm of the mixes has no eps", "eps dropped in a fused norm", mixing,
			bench.Mistaken("norm_eps", func(float64) float64 { return 0 })),
		plant("sinkhorn-10-iterations", "variant", "Sinkhorn runs 10 iterations in place of 20",
			"H4: a default of another library", splits,
			bench.Mistaken("sinkhorn_iterations", func(float64) float64 { return 10 })),
		plant("scales-swapped", "scale", "the scales of pre and post are swapped", "parameter order", splits,
			bench.Rearranged("scale", func(i int, _ []int) int { return []int{1, 0, 2}[i] })),
		plant("base-dropped", "gate", "the logits lack their bases", "bias not loaded", mixing,
			bench.Misread("base", func(int, float64) float64 { return 0 })),
		plant("streams-interleaved", "layout", "x is read channel-major, [C, n] in place of [n, C]",
			"layout of the residual", spread, bench.Rearranged("x", func(i int, shape []int) int {
				n, width := shape[1], shape[2]
				return i/(n*width)*n*width + i%width*n + i/width%n
			})),
		plant("post-gate-dropped", "gate", "the sublayer's output is added without its gate",
			"plain residual in place of a hyper-connection", spread,
			bench.Misread("post", func(int, float64) float64 { return 1 })),
		plant("k-tail-masked", "unread-memory", "each row of x takes in the element after it, times 0",
			"over-read of a padded K tail, masked by a product", mixing, overRead("x", masked)),
		plant("fn-tail-masked", "unread-memory", "each row of fn takes in the element after it, times 0",
			"over-read of a padded weight tail", mixing, overRead("fn", masked)),
		plant("k-tail-through-fmax", "unread-memory",
			"each row of x takes in 1e-30 of the element after it, NaN dropped by a maximum",
			"masking that NaN survives and infinity does not", every, overRead("x", func(own, beyond float64) float64 {
				return own + 1e-30*bench.FMax(beyond, 0)
			})),
		plant("rows-beyond-masked", "unread-memory",
			"the first row of the tile takes in the row after the last token, times 0", "partial tile of tokens read whole",
			every, bench.RowsBeyondMasked("x")),
		plant("stride-ignored", "strides", "the rows of x are taken to lie without gaps", "a view treated as contiguous",
			every, bench.StrideIgnored("x")),
		plant("gates-offset-ignored", "strides", "comb is read from the start of its storage",
			"a packed row of gates read without its offset", spread, bench.OffsetIgnored("comb")),
	}
}

// overRead lets every row of an operand take in the element after its end, weighed by f: what a vector load past the
// end of a row does. Where the storage ends there is nothing to read.
func overRead(operand string, f func(own, beyond float64) float64) func(c *bench.Call) {
	return func(c *bench.Call) {
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
	}
}

// writePlants are the contract's own candidate, whose outputs or caller's memory are edited.
func writePlants() []bench.Plant {
	plant := func(name, class, effect, origin string, on []string,
		edit func(c bench.Call, r *bench.Reply),
	) bench.Plant {
		return bench.Plant{
			Name: name, Class: class, Effect: effect, Origin: origin, On: on, Build: bench.Builder(built).After(edit),
		}
	}
	return []bench.Plant{
		plant("eps-on-post", "eps", "the gate after the sublayer has an eps, too",
			"E3; huggingface/transformers first revision", splits, rewritten("post", func(c bench.Call, v []float64) {
				for i := range v {
					v[i] += c.Attrs.Num("hc_eps")
				}
			})),
		plant("post-factor-2-missing", "scale", "the gate after the sublayer is a plain sigmoid",
			"E2; huggingface/transformers first revision", splits, rewritten("post", func(_ bench.Call, v []float64) {
				for i := range v {
					v[i] /= 2
				}
			})),
		plant("sinkhorn-row-last", "variant", "a row step follows the last column step", "E2, H3: order of steps", splits,
			rewritten("comb", rowStep)),
		plant("last-tile-unwritten", "unwritten", "rows of a last tile that is not full, tile 64, are never written",
			"grid rounded down", every, bench.LastTileUnwritten(64)),
		plant("rows-missing", "unwritten", "the output has one row too few", "shape rounded down", every,
			func(c bench.Call, r *bench.Reply) {
				for name, s := range r.Outputs {
					if rows := c.Outputs[name].Shape[0]; rows > 0 {
						r.Outputs[name] = bench.Storage{DType: s.DType, Data: s.Data[:len(s.Data)/rows*(rows-1)]}
					}
				}
			}),
		plant("input-overwritten", "input-overwritten", "x is scaled in place",
			"an in-place norm on a shared residual", every, func(c bench.Call, _ *bench.Reply) {
				bench.Misread("x", func(_ int, v float64) float64 { return 0.5 * v })(&c)
			}),
	}
}

// rewritten edits an output and rounds it to its dtype.
func rewritten(output string, f func(c bench.Call, v []float64)) func(c bench.Call, r *bench.Reply) {
	return func(c bench.Call, r *bench.Reply) {
		s := r.Outputs[output]
		f(c, s.Data)
		bench.RoundAll(s.DType, s.Data)
	}
}

// rowStep divides every row of comb by its sum.
func rowStep(c bench.Call, comb []float64) {
	n := c.Outputs["comb"].Shape[2]
	for at := 0; at < len(comb); at += n {
		divide(comb, at, 1, n, c.Attrs.Num("hc_eps"))
	}
}
