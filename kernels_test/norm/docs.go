package norm

import "github.com/assay-suite/assay/kernels_test/bench"

// Operators of the suite.
const (
	opRMS   = "rms_norm"
	opLayer = "layer_norm"
	opRope  = "rope"
	opTable = "rope_table"
)

// Descriptions that several operators share.
const (
	xType     = "F32; BF16 under bf16-out"
	angleWord = "Contracts: float64-angle, whose calls have angle float64; fp32-table, whose calls have angle fp32, as " +
		"the models' tables do; cos, sin and the rest are fp32 under both"
	angleAttr = "what angle a is: float64, the exact product of position and inverse frequency, both in float64; fp32, " +
		"the inverse frequency rounded to fp32 and its product with the position rounded to fp32 once more, cos and sin of " +
		"which are taken"
	thetaWord = "inverse frequency of pair i: rope_theta^(-2i/rotary_dim)"
	pairsWord = "interleaved: pair i is channels 2i and 2i+1 of the rotated ones; half: i and rotary_dim/2 + i (NeoX)"
)

var rmsDoc = bench.Doc{
	Summary: "y = w · x / sqrt(mean(x²) + norm_eps) over each vector along the last dimension, with residual x + " +
		"residual in place of x. " +
		"Contracts: fp32; bf16-out, from and to BF16, computed in fp32 and rounded once (the sum x + residual may be " +
		"normalised before or after it is rounded to BF16); " +
		"bf16-steps, from and to BF16, where squares, their mean (added in fp32), mean + norm_eps, its inverse root and " +
		"every product may each be rounded to BF16",
	Operands: []bench.TensorDoc{
		{
			Name:    "x",
			DType:   "F32; BF16 under bf16-out and bf16-steps",
			Shape:   "[T, D] or [T, H, D]",
			Meaning: "vectors; each head of a token is normalised separately",
		},
		{Name: "weight", DType: "F32 or BF16", Shape: "[D]", Meaning: "gain; absent: 1 (per-head query norm)"},
		{Name: "residual", DType: "as x", Shape: "as x", Meaning: "optional; added to x in fp32 first"},
	},
	Outputs: []bench.TensorDoc{
		{Name: "y", DType: "as x", Shape: "as x", Meaning: "normalised vectors"},
		{Name: "residual_out", DType: "as x", Shape: "as x", Meaning: "with residual only: x + residual, rounded once"},
	},
	Attrs: []bench.AttrDoc{{Name: "norm_eps", Meaning: "added to the mean of squares, inside the root"}},
}

var layerDoc = bench.Doc{
	Summary: "y = w · (x - mean(x)) / sqrt(mean((x - mean(x))²) + norm_eps) + b over each row; the variance is that " +
		"of the centred row, divided by D. Contracts: fp32; bf16-out, from and to BF16, rounded once",
	Operands: []bench.TensorDoc{
		{Name: "x", DType: xType, Shape: "[T, D]", Meaning: "rows"},
		{Name: "weight", DType: "F32 or BF16", Shape: "[D]", Meaning: "gain; absent: 1"},
		{Name: "bias", DType: "as weight", Shape: "[D]", Meaning: "absent: 0"},
	},
	Outputs: []bench.TensorDoc{{Name: "y", DType: xType, Shape: "[T, D]", Meaning: "normalised rows"}},
	Attrs:   []bench.AttrDoc{{Name: "norm_eps", Meaning: "added to the variance, inside the root"}},
}

var ropeDoc = bench.Doc{
	Summary: "rotates pair i of the rotated channels of every head by a = positions[t] · inverse frequency i: (u, v) " +
		"-> (u cos a - v sin a, u sin a + v cos a); the other channels are copied. " + angleWord +
		"; bf16-out, as fp32-table with x and y in BF16, rounded once",
	Operands: []bench.TensorDoc{
		{Name: "x", DType: xType, Shape: "[T, H, D]", Meaning: "heads"},
		{Name: "positions", DType: "I32", Shape: "[T]", Meaning: "absolute, from 0, in any order, to 2^20"},
		{
			Name:  "inv_freq",
			DType: "F32",
			Shape: "[rotary_dim/2]",
			Meaning: "inverse frequencies, in place of rope_theta, used as they are: a is the exact product positions[t] · " +
				"inv_freq[i] where angle is float64 (contract float64-angle), fp32(positions[t] · inv_freq[i]) where it is fp32 " +
				"(fp32-table, bf16-out)",
		},
		{
			Name:  "cos_sin_cache",
			DType: "F32",
			Shape: "[M, rotary_dim]",
			Meaning: "in place of rope_theta: cos of pair i at position p is element [p, i], sin [p, rotary_dim/2 + i], used " +
				"as they are; rows of positions that no token has are not read",
		},
	},
	Outputs: []bench.TensorDoc{
		{Name: "y", DType: xType, Shape: "[T, H, D]", Meaning: "rotated heads; unrotated channels are copied bit for bit"},
	},
	Attrs: []bench.AttrDoc{
		{Name: "rotary_dim", Meaning: "number of rotated channels per head; even"},
		{Name: "rotary_offset", Meaning: "first rotated channel: 0, or D - rotary_dim for the last channels"},
		{Name: "pairing", Meaning: pairsWord},
		{Name: "inverse", Meaning: "true: rotates by -a"},
		{Name: "rope_theta", Meaning: thetaWord + "; absent with inv_freq or cos_sin_cache"},
		{Name: "angle", Meaning: angleAttr + "; absent with cos_sin_cache"},
	},
}

var tableDoc = bench.Doc{
	Summary: "rotary table: cos_sin[t, i] = m cos a, cos_sin[t, rotary_dim/2 + i] = m sin a, a = positions[t] · g_i; g " +
		"is rope_theta^(-2i/rotary_dim) scaled by YaRN. " + angleWord,
	Operands: []bench.TensorDoc{
		{Name: "positions", DType: "I32", Shape: "[T]", Meaning: "absolute, from 0, in any order, to 2^20"},
	},
	Outputs: []bench.TensorDoc{
		{Name: "cos_sin", DType: "F32", Shape: "[T, rotary_dim]", Meaning: "cosines of all pairs, then sines"},
	},
	Attrs: []bench.AttrDoc{
		{Name: "rope_theta", Meaning: "theta_i = rope_theta^(-2i/rotary_dim)"},
		{Name: "rotary_dim", Meaning: "number of rotated channels per head; even"},
		{Name: "angle", Meaning: angleAttr + ", where the blend and its ramp, too, may be fp32"},
		{
			Name: "factor",
			Meaning: "YaRN's factor: g_i = theta_i · (1 - r_i) + theta_i / factor · r_i, r_i = clamp((i - low)/(high - " +
				"low), 0, 1), low = max(floor(dim(beta_fast)), 0), high = min(ceil(dim(beta_slow)), rotary_dim - 1), dim(n) = " +
				"rotary_dim · ln(original_max_position / (2 pi n)) / (2 ln rope_theta)",
		},
		{Name: "original_max_position", Meaning: "trained context; 0: no YaRN, g_i = theta_i and m = 1"},
		{Name: "beta_fast", Meaning: "pairs with at least this many rotations over the trained context keep their frequency"},
		{Name: "beta_slow", Meaning: "pairs with at most this many rotations have their frequency divided by factor"},
		{
			Name:    "mscale",
			Meaning: "m = 0.1 · mscale · ln(factor) + 1 for a factor above 1; 0: m is 1 (V4, whose tables have no amplitude)",
		},
	},
}
