package norm

import (
	"maps"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

// own are the contracts' own candidates.
var own = bench.Builder(built)

// plants lists the faults: the catalogue's, and this package's own in each operator, its call and in memory.
func plants() []bench.Plant {
	p2 := bench.RowPlant(faults.P2, []string{opRope}, own.Before(otherPairing))
	return slices.Concat([]bench.Plant{p2}, rmsPlants(), layerPlants(), ropePlants(), tablePlants(), callPlants(),
		writePlants())
}

// fault replaces a step of a kernel, under some contracts or, for nil, all.
type fault[K any] struct {
	name, effect, origin, class string
	put                         func(k *K)
	under                       []string
}

// planted are faults of an operator's kernel, which is the same under every contract.
func planted[K any](op string, kernel func(put func(k *K)) bench.Kernel, list []fault[K]) []bench.Plant {
	var out []bench.Plant
	for _, f := range list {
		out = append(out, bench.Faulty(op, f.name, f.effect, f.origin, f.class, kernel(f.put)).Under(f.under...))
	}
	return out
}

// callPlants are the contract's own candidate, called wrongly.
func callPlants() []bench.Plant {
	number := func(v float64) func(float64) float64 { return func(float64) float64 { return v } }
	later := func(_ int, position float64) float64 { return position + 1 }
	return []bench.Plant{
		own.Called(opRMS, "rms-eps-missing", "the norm has no eps", "eps dropped in a fused norm", "eps",
			bench.Mistaken("norm_eps", number(0))),
		own.Called(opRMS, "rms-eps-twice", "eps is added before and after the reduction", "eps in a split reduction", "eps",
			bench.Mistaken("norm_eps", func(v float64) float64 { return 2 * v })),
		own.Called(opRMS, "rms-weight-missing", "the weight is not applied", "weight dropped in a fused norm", "scale",
			bench.Lost("weight")),
		own.Called(opRMS, "rms-weight-plus-one", "the weight is applied as 1 + w", "Gemma's norm in place of Llama's",
			"scale", bench.Misread("weight", func(_ int, w float64) float64 { return w + 1 })),
		own.Called(opRMS, "rms-residual-stride-ignored", "the rows of residual are taken to lie without gaps",
			"residual with x's strides", "strides", bench.StrideIgnored("residual")),
		own.Called(opLayer, "layer-eps-missing", "the norm has no eps", "eps dropped", "eps",
			bench.Mistaken("norm_eps", number(0))),
		own.Called(opLayer, "layer-bias-missing", "the bias is not added", "a norm that knows no bias", "offset",
			bench.Lost("bias")),
		own.Called(opLayer, "layer-weight-missing", "the weight is not applied", "affine map without gain", "scale",
			bench.Lost("weight")),
		own.Called(opRope, "rope-position-off", "every position is one too large", "positions counted from 1", "offset",
			bench.Misread("positions", later)),
		own.Called(opRope, "rope-position-index", "token t is rotated for position t", "positions rebuilt in each chunk",
			"offset", bench.Misread("positions", func(t int, _ float64) float64 { return float64(t) })),
		own.Called(opRope, "rope-position-16-bit", "positions wrap at 2^15", "positions stored in 16 bits", "offset",
			bench.Misread("positions", func(_ int, p float64) float64 { return max(float64(int16(int(p))), 0) })),
		own.Called(opRope, "rope-inverse-ignored", "the inverse rotates forward", "AMD-AGI/Primus#928", "variant",
			func(c *bench.Call) { c.Attrs["inverse"] = false }),
		own.Called(opRope, "rope-backward", "every rotation is the inverse", "sign of the sine", "offset",
			func(c *bench.Call) { c.Attrs["inverse"] = !c.Attrs.Flag("inverse") }),
		own.Called(opRope, "rope-other-end", "the channels at the other end of a head are rotated",
			"V3.2's first 64 channels for V4's last 64", "layout", otherEnd),
		own.Called(opRope, "rope-theta-default", "the base is the default of another model", "ml-explore/mlx-lm#1189",
			"variant", bench.Mistaken("rope_theta", number(40000))),
		own.Called(opRope, "rope-captured-positions", "a replayed graph rotates by the positions that it was captured with",
			"host values baked into a graph", "graph", bench.StaleCapture("positions")),
		own.Called(opRope, "rope-cache-stride-ignored", "the rows of the table are taken to lie without gaps",
			"a table's width taken for its stride", "strides", bench.StrideIgnored("cos_sin_cache")),
		own.Called(opTable, "table-position-off", "every position is one too large", "positions counted from 1", "offset",
			bench.Misread("positions", later)),
		own.Called(opTable, "table-betas-swapped", "the betas are exchanged", "arguments in the other order", "variant",
			func(c *bench.Call) {
				c.Attrs["beta_fast"], c.Attrs["beta_slow"] = c.Attrs["beta_slow"], c.Attrs["beta_fast"]
			}),
		own.Called(opTable, "table-theta-default", "the base is 40000 for 160000", "a default in place of the configuration",
			"variant", bench.Mistaken("rope_theta", func(v float64) float64 { return v / 4 })),
		own.Called(opTable, "table-amplitude-added", "the table has YaRN's amplitude where the model has none",
			"Avarok-Cybersecurity/atlas#342", "scale", bench.Mistaken("mscale", number(1))),
		own.Called(opTable, "table-amplitude-missing", "the table lacks the amplitude", "mscale ignored", "scale",
			bench.Mistaken("mscale", number(0))),
	}
}

// writePlants read or write what is not theirs, or not all that is.
func writePlants() []bench.Plant {
	out := []bench.Plant{own.Wrote(opRMS, "rms-residual-normalised", "the next residual is the normalised row",
		"both outputs share a buffer", "variant", residualNormalised)}
	out = append(out, own.Wrote(opTable, "table-bf16", "the table is rounded to bf16", "a buffer cast with the model",
		"accumulation", func(_ bench.Call, r *bench.Reply) { bench.RoundAll(bench.BF16, r.Outputs["cos_sin"].Data) }))
	for _, of := range []struct {
		op, prefix string
		past       map[string]string // operands by their names in the plants'
	}{
		{opRMS, "rms", map[string]string{"x": "x", "weight": "weight", "residual": "residual"}},
		{opLayer, "layer", map[string]string{"x": "x"}},
		{opRope, "rope", map[string]string{"x": "x", "cache": "cos_sin_cache"}},
	} {
		out = append(out,
			own.Called(of.op, of.prefix+"-stride-ignored", "the rows of x are taken to lie without gaps",
				"a view treated as contiguous", "strides", bench.StrideIgnored("x")),
			own.Wrote(of.op, of.prefix+"-last-tile", "rows of a last tile that is not full, tile 64, are never written",
				"grid rounded down", "unwritten", bench.LastTileUnwritten(64)),
			own.Wrote(of.op, of.prefix+"-in-place", "the result is written over x as well",
				"an in-place kernel behind an out-of-place call", "input-overwritten", overwritten),
		)
		for _, name := range slices.Sorted(maps.Keys(of.past)) {
			operand := of.past[name]
			out = append(out, own.Called(of.op, of.prefix+"-reads-past-"+name, "a row past "+operand+" enters, times 0",
				"a last tile masked by a product", "unread-memory", bench.RowsBeyondMasked(operand)))
		}
	}
	return out
}

// overwritten stores the output where x lies.
func overwritten(c bench.Call, r *bench.Reply) {
	v := c.Views["x"]
	y := r.Outputs["y"].Data
	v.Each(func(i, at int) { c.Storage[v.Storage].Data[at] = y[i] })
}
