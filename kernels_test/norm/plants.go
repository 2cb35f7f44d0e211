package norm

import (
	"github.com/assay-suite/assay/kernels_test/bench"
	"github.com/assay-suite/assay/oracle/faults"
)

// building builds a candidate that has one kernel, the same under every contract.
func building(op string, k bench.Kernel) func(string) (bench.Candidate, error) {
	return func(string) (bench.Candidate, error) { return bench.FromKernel("faulty", op, k), nil }
}

func rmsPlant(name, effect, origin, class string, o rmsOptions) bench.Plant {
	return bench.Plant{
		Name:   name,
		Effect: effect,
		Origin: origin,
		Class:  class,
		On:     []string{opRMS},
		Build:  building(opRMS, rmsNormWith(bench.Sequential, o)),
	}
}

func layerPlant(name, effect, origin, class string, o layerOptions) bench.Plant {
	return bench.Plant{
		Name:   name,
		Effect: effect,
		Origin: origin,
		Class:  class,
		On:     []string{opLayer},
		Build:  building(opLayer, layerNormWith(bench.Sequential, o)),
	}
}

func ropePlant(name, effect, origin, class string, o ropeOptions) bench.Plant {
	return bench.Plant{
		Name:   name,
		Effect: effect,
		Origin: origin,
		Class:  class,
		On:     []string{opRope},
		Build:  building(opRope, ropeWith(o)),
	}
}

func tablePlant(name, effect, origin, class string, o tableOptions) bench.Plant {
	return bench.Plant{
		Name:   name,
		Effect: effect,
		Origin: origin,
		Class:  class,
		On:     []string{opTable},
		Build:  building(opTable, tableWith(o)),
	}
}

// on limits a plant to contracts.
func on(p bench.Plant, contracts ...string) bench.Plant {
	p.Declared = contracts
	return p
}

func plants() []bench.Plant {
	out := []bench.Plant{
		rmsPlant("rms-eps-missing", "the norm has no eps", "eps dropped in a fused norm", "eps", rmsOptions{noEps: true}),
		rmsPlant("rms-eps-outside", "eps is added to the root instead of the mean of squares", "eps outside of the root",
			"eps", rmsOptions{epsOutside: true}),
		rmsPlant("rms-eps-twice", "eps is added before and after the reduction", "eps in a split reduction", "eps",
			rmsOptions{epsTwice: true}),
		rmsPlant("rms-half-lanes", "half of the lanes enter the sum of squares", "vllm-project/vllm#56342", "scale",
			rmsOptions{halfLanes: true}),
		rmsPlant("rms-last-vector", "channels after the last whole vector of 4 are left out of the sum",
			"a loop over whole vectors", "tile", rmsOptions{wholeVectors: true}),
		rmsPlant("rms-padded-width", "the mean divides by the width rounded up to 8", "a padded width taken for the width",
			"scale", rmsOptions{padded: true}),
		rmsPlant("rms-no-mean", "the sum of squares is not divided by the width", "sum taken for mean", "scale",
			rmsOptions{noDivisor: true}),
		rmsPlant("rms-whole-token", "all heads of a token are normalised together", "head norm over the flattened token",
			"layout", rmsOptions{wholeToken: true}),
		rmsPlant("rms-weight-missing", "the weight is not applied", "weight dropped in a fused norm", "scale",
			rmsOptions{noWeight: true}),
		rmsPlant("rms-weight-plus-one", "the weight is applied as 1 + w", "Gemma's norm in place of Llama's", "scale",
			rmsOptions{plusOne: true}),
		rmsPlant("rms-weight-shifted", "head h takes the weight shifted by h", "a running index into the weight", "layout",
			rmsOptions{headWeight: true}),
		rmsPlant("rms-residual-missing", "x is normalised without its residual", "residual dropped by a fusion", "variant",
			rmsOptions{noResidual: true}),
		rmsPlant("rms-residual-stale", "the next residual is x and not the sum", "residual stored before the sum", "variant",
			rmsOptions{residualStale: true}),
		rmsPlant("rms-residual-twice", "the residual is added twice", "a fused norm after an add", "variant",
			rmsOptions{residualSecond: true}),
		rmsPlant("rms-residual-normalised", "the next residual is the normalised row", "both outputs share a buffer",
			"variant", rmsOptions{
				residualNormalised: true,
			}),
		on(rmsPlant("rms-residual-bf16", "x and residual are rounded to bf16 before the sum",
			"a fused add in the activations' dtype", "accumulation", rmsOptions{roundedBefore: true}), "fp32"),
		on(bench.Plant{
			Name:   "rms-narrow-sum",
			Effect: "the squares are added in bf16",
			Origin: "an accumulator of the input's dtype",
			Class:  "accumulation",
			On:     []string{opRMS},
			Build:  building(opRMS, rmsNormWith(narrow, rmsOptions{})),
		}, plain...),
		on(rmsPlant("rms-steps", "every step is rounded to bf16 where fp32 is declared",
			"V4's head norm in place of the others", "accumulation", rmsOptions{steps: true}), plain...),
		layerPlant("layer-mean-missing", "rows are divided by their deviation and not centred",
			"RMSNorm's output with LayerNorm's scale", "variant", layerOptions{notCentred: true}),
		layerPlant("layer-rms", "the deviation is taken around 0", "RMSNorm's scale in LayerNorm", "variant", layerOptions{
			varianceAroundZero: true,
		}),
		layerPlant("layer-unbiased", "the variance is divided by D-1", "torch.var's default", "scale",
			layerOptions{unbiased: true}),
		on(layerPlant("layer-one-pass", "the variance is mean(x^2) - mean^2", "one pass over the row in fp32", "accumulation",
			layerOptions{onePass: true}), "fp32"),
		layerPlant("layer-mean-bf16", "the mean is rounded to bf16", "a mean in the input's dtype", "variant",
			layerOptions{meanBF16: true}),
		layerPlant("layer-eps-missing", "the norm has no eps", "eps dropped", "eps", layerOptions{noEps: true}),
		layerPlant("layer-eps-outside", "eps is added to the deviation", "eps outside of the root", "eps",
			layerOptions{epsOutside: true}),
		layerPlant("layer-bias-missing", "the bias is not added", "a norm that knows no bias", "offset",
			layerOptions{noBias: true}),
		layerPlant("layer-bias-first", "the bias is added before the weight multiplies", "affine map in the other order",
			"scale", layerOptions{biasFirst: true}),
		layerPlant("layer-weight-missing", "the weight is not applied", "affine map without gain", "scale",
			layerOptions{noWeight: true}),
		ropePlant("rope-position-off", "every position is one too large", "positions counted from 1", "offset",
			ropeOptions{positionOff: 1}),
		ropePlant("rope-position-index", "token t is turned for position t", "positions rebuilt in each chunk", "offset",
			ropeOptions{byIndex: true}),
		ropePlant("rope-position-16-bit", "positions wrap at 2^15", "positions stored in 16 bits", "offset",
			ropeOptions{shortPosition: true}),
		ropePlant("rope-inverse-ignored", "the inverse turns forward", "AMD-AGI/Primus#928", "variant",
			ropeOptions{forward: true}),
		ropePlant("rope-backward", "every rotation is the inverse", "sign of the sine", "offset", ropeOptions{
			backward: true,
			forward:  true,
		}),
		ropePlant("rope-twice", "the rotation is applied twice", "rotated in the projection and again in the kernel",
			"offset", ropeOptions{twice: true}),
		ropePlant("rope-other-end", "the other end of a head turns", "V3.2's first 64 channels for V4's last 64", "layout",
			ropeOptions{otherEnd: true}),
		ropePlant("rope-one-head", "the first head alone turns", "one key head taken for all", "layout",
			ropeOptions{oneHead: true}),
		ropePlant("rope-rest-zero", "channels that do not turn are 0", "an output that is written in part", "unwritten",
			ropeOptions{restZero: true}),
		ropePlant("rope-last-pair", "the last pair does not turn", "a loop that ends early", "tile",
			ropeOptions{lastPairLost: true}),
		ropePlant("rope-theta-default", "the base is the default of another model", "ml-explore/mlx-lm#1189", "variant",
			ropeOptions{otherTheta: 40000}),
		ropePlant("rope-theta-width", "the exponent divides by the width of the head",
			"partial rotation with the whole head's frequencies", "variant", ropeOptions{thetaByWidth: true}),
		ropePlant("rope-frequency-bf16", "inverse frequencies are rounded to bf16", "a buffer cast with the model",
			"accumulation", ropeOptions{frequencyBF16: true}),
		on(ropePlant("rope-table-bf16", "cosines and sines are rounded to bf16", "a table in the activations' dtype",
			"accumulation", ropeOptions{tableBF16: true}), "float64-angle", "fp32-table"),
		on(ropePlant("rope-angle-fp32", "the angle is rounded to fp32 where float64 is declared", "a table in fp32",
			"accumulation", ropeOptions{angle32: true}), "float64-angle"),
		on(ropePlant("rope-angle-float64", "the product with a given frequency is not rounded where fp32 is declared",
			"a float64 angle against the model's own table", "accumulation", ropeOptions{angle64: true}), "fp32-table",
			"bf16-out"),
		ropePlant("rope-cache-swapped", "sines are taken for cosines", "halves of the table swapped", "layout",
			ropeOptions{cacheSwapped: true}),
		ropePlant("rope-cache-neighbours", "cosine and sine are read side by side", "a table of another layout", "layout",
			ropeOptions{cacheNeighbours: true}),
		tablePlant("table-position-off", "every position is one too large", "positions counted from 1", "offset",
			tableOptions{positionOff: true}),
		tablePlant("table-yarn-missing", "frequencies are not stretched", "ml-explore/mlx-lm#1189", "variant",
			tableOptions{noYaRN: true}),
		tablePlant("table-interpolated", "every frequency is divided by the factor", "linear interpolation in place of YaRN",
			"variant", tableOptions{allDivided: true}),
		tablePlant("table-ramp-reversed", "fast pairs are divided and slow ones kept", "the ramp for its complement",
			"variant", tableOptions{rampReversed: true}),
		tablePlant("table-betas-swapped", "the betas are exchanged", "arguments in the other order", "variant",
			tableOptions{betasSwapped: true}),
		tablePlant("table-range-unrounded", "the blend's range is not rounded to whole pairs",
			"truncate off, as a later YaRN has it", "variant", tableOptions{noFloor: true}),
		tablePlant("table-range-uncut", "the blend may end beyond rotary_dim - 1", "a clamp that is left out", "variant",
			tableOptions{uncut: true}),
		tablePlant("table-range-cut-at-pairs", "the blend ends at the last pair", "channels and pairs mixed up in the clamp",
			"variant", tableOptions{cutAtPairs: true}),
		tablePlant("table-factor-inverted", "slow frequencies are multiplied by the factor", "a reciprocal factor", "variant",
			tableOptions{factorInverted: true}),
		tablePlant("table-amplitude-added", "the table has YaRN's amplitude where the model has none",
			"Avarok-Cybersecurity/atlas#342", "scale", tableOptions{v4Amplitude: true}),
		tablePlant("table-amplitude-missing", "the table lacks the amplitude", "mscale ignored", "scale",
			tableOptions{noAmplitude: true}),
		tablePlant("table-amplitude-twice", "the amplitude is applied twice", "mscale in the table and again at its use",
			"scale", tableOptions{amplitudeTwice: true}),
		tablePlant("table-theta-default", "the base is 40000 for 160000", "a default in place of the configuration",
			"variant", tableOptions{otherTheta: true}),
		tablePlant("table-sin-first", "sines come first", "halves of the table swapped", "layout",
			tableOptions{sinFirst: true}),
		tablePlant("table-neighbours", "cosine and sine of a pair lie side by side", "another layout of the table", "layout",
			tableOptions{neighbours: true}),
		tablePlant("table-bf16", "the table is rounded to bf16", "a buffer cast with the model", "accumulation",
			tableOptions{bf16: true}),
		tablePlant("table-frequency-bf16", "inverse frequencies are rounded to bf16",
			"inverse frequencies cast with the model", "accumulation", tableOptions{frequencyBF16: true}),
		on(tablePlant("table-angle-fp32", "the angle is rounded to fp32 where float64 is declared", "a table in fp32",
			"accumulation", tableOptions{angle32: true}), "float64-angle"),
	}
	if row, err := faults.ByRow("P2"); err == nil {
		p := ropePlant(row.Slug, row.Effect, row.Origin, row.Class, ropeOptions{otherPairing: true})
		p.Row = row.ID
		out = append(out, p)
	}
	return append(out, memoryPlants()...)
}

// memoryPlants are faults of what is read or written.
func memoryPlants() []bench.Plant {
	ops := map[string][]string{
		opRMS:   {"x", "weight", "residual"},
		opLayer: {"x"},
		opRope:  {"x", "cos_sin_cache"},
	}
	var out []bench.Plant
	add := func(name, effect, origin, class string, on []string, wrap func(bench.Candidate) bench.Candidate) {
		out = append(out, bench.Plant{
			Name:   name,
			Effect: effect,
			Origin: origin,
			Class:  class,
			On:     on,
			Build: func(c string) (bench.Candidate, error) {
				under, err := built(c)
				return wrap(under), err
			},
		})
	}
	for _, op := range []string{opRMS, opLayer, opRope} {
		short := map[string]string{opRMS: "rms", opLayer: "layer", opRope: "rope"}[op]
		add(short+"-stride-ignored", "the rows of x are taken to lie without gaps", "a view treated as contiguous", "strides",
			[]string{op}, func(c bench.Candidate) bench.Candidate {
				return bench.Before(c, bench.StrideIgnored("x"))
			})
		add(short+"-last-tile", "rows of a last tile that is not full, tile 64, are never written", "grid rounded down",
			"unwritten", []string{op}, func(c bench.Candidate) bench.Candidate {
				return bench.After(c, bench.LastTileUnwritten(64))
			})
		add(short+"-in-place", "the result is written over x as well", "an in-place kernel behind an out-of-place call",
			"input-overwritten", []string{op}, func(c bench.Candidate) bench.Candidate {
				return bench.After(c, overwritten)
			})
		for _, operand := range ops[op] {
			add(short+"-reads-past-"+slugOf(operand), "a row past "+operand+" enters, times 0",
				"a last tile masked by a product", "unread-memory", []string{op}, func(c bench.Candidate) bench.Candidate {
					return bench.Before(c, pastRows(operand))
				})
		}
	}
	add("rope-captured-positions", "a replayed graph turns by the positions that it was captured with",
		"host values baked into a graph", "graph", []string{opRope}, func(c bench.Candidate) bench.Candidate {
			return bench.Before(c, func(call *bench.Call) {
				if call.CaptureWith != nil {
					call.Storage["positions_storage"] = call.CaptureWith.Storage["positions_storage"]
				}
			})
		})
	add("rms-residual-stride-ignored", "the rows of residual are taken to lie without gaps", "residual with x's strides",
		"strides", []string{opRMS}, func(c bench.Candidate) bench.Candidate {
			return bench.Before(c, bench.StrideIgnored("residual"))
		})
	add("rope-cache-stride-ignored", "the rows of the table are taken to lie without gaps",
		"a table's width taken for its stride", "strides", []string{opRope}, func(c bench.Candidate) bench.Candidate {
			return bench.Before(c, bench.StrideIgnored("cos_sin_cache"))
		})
	return out
}

// pastRows is bench.RowsBeyondMasked where the call has the operand.
func pastRows(operand string) func(*bench.Call) {
	return func(c *bench.Call) {
		if _, has := c.Views[operand]; has {
			bench.RowsBeyondMasked(operand)(c)
		}
	}
}

func slugOf(operand string) string {
	return map[string]string{"x": "x", "weight": "weight", "residual": "residual", "cos_sin_cache": "cache"}[operand]
}

// overwritten stores the first output where x lies.
func overwritten(c bench.Call, r *bench.Reply) {
	v := c.Views["x"]
	y := r.Outputs["y"].Data
	v.Each(func(i, at int) { c.Storage[v.Storage].Data[at] = y[i] })
}
