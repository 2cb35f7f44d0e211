package gemm

import "github.com/assay-suite/assay/kernels_test/bench"

// Operators of the suite.
const (
	opDense    = "dense_gemm"
	opBF16     = "bf16_gemm"
	opFP8      = "fp8_gemm"
	opBlock    = "block_fp8_gemm"
	opBatched  = "batched_mxfp8_gemm"
	opMXFP4    = "mxfp4_gemm"
	opNVFP4    = "nvfp4_gemm"
	opGrouped  = "grouped_gemm"
	opGroupedN = "grouped_nvfp4_gemm"
	opMasked   = "masked_gemm"
	opQuantFP8 = "quantise_fp8"
	opQuantNV  = "quantise_nvfp4"
)

func tensor(name, dtype, shape, meaning string) bench.TensorDoc {
	return bench.TensorDoc{Name: name, DType: dtype, Shape: shape, Meaning: meaning}
}

// swizzled says how scales in tiles are addressed.
const swizzled = "in tiles of 128 rows x 4 columns: scale [r, c] of a matrix with C columns is byte ((r div " +
	"128)*ceil(C/4) + c div 4)*512 + (r mod 32)*16 + (r mod 128 div 32)*4 + c mod 4; the padding of a tile is " +
	"undefined, may be NaN, and must not affect the output"

// nibbles says how 4-bit codes are packed.
const nibbles = "two e2m1 codes per byte along K, even k in the low nibble (0, .5, 1, 1.5, 2, 3, 4, 6; bit 3 is " +
	"the sign)"

// plain is the document of a product of plain operands.
func plain(dtype, out, note string) bench.Doc {
	return bench.Doc{
		Summary: "y = x · wᵀ of unscaled operands: y[m, n] = Σ_k x[m, k] w[n, k]" + note,
		Operands: []bench.TensorDoc{
			tensor("x", dtype, "[M, K]", "rows, any strides"),
			tensor("w", dtype, "[N, K]", "weights, one row per output channel, any strides"),
		},
		Outputs: []bench.TensorDoc{
			tensor("y", out, "[M, N]", "the product, accumulated as the contract states and rounded once"),
		},
	}
}

var (
	docDense = plain(bench.F32, bench.F32, "; fp32 accumulation, operands rounded or truncated to TF32, or 3xTF32")
	docBF16  = plain(bench.BF16, bench.BF16, "; accumulated in fp32 or in the tensor core")
	docFP8   = plain(bench.E4M3, bench.BF16, "; no scales; accumulated in fp32, or in the tensor core with promotion "+
		"to fp32 at least every 128 consecutive products")
)

var docBlock = bench.Doc{
	Summary: "block-scaled fp8 GEMM: y[m, n] = Σ_b x_scale[m, b] w_scale[n div 128, b] Σ_(k in b) x[m, k] w[n, k], " +
		"b the blocks of 128 along K",
	Operands: []bench.TensorDoc{
		tensor("x", "F8_E4M3", "[M, K]", "activations; K need not be a multiple of 128: the last block is short"),
		tensor("x_scale", "F32 or F8_E8M0", "[M, ceil(K/128)]", "scale of each 1 x 128 block of x"),
		tensor("w", "F8_E4M3", "[N, K]", "weights; N need not be a multiple of 128"),
		tensor("w_scale", "F32 or F8_E8M0", "[ceil(N/128), ceil(K/128)]", "scale of each 128 x 128 block of w"),
	},
	Outputs: []bench.TensorDoc{tensor("y", "BF16", "[M, N]", "the product, rounded once")},
}

var docBatched = bench.Doc{
	Summary: "batched MXFP8 GEMM with swizzled scales, padded separately for each batch: " +
		"y[b] = (x[b] scaled) · (w[b] scaled)ᵀ",
	Operands: []bench.TensorDoc{
		tensor("x", "F8_E4M3", "[B, M, K]", "activations, K a multiple of 32"),
		tensor("x_scale", "F8_E8M0", "[B, P]", "P = ceil(M/128)*128 * ceil(C/4)*4 with C = K/32: batch b's scale of each "+
			"1 x 32 block, "+swizzled),
		tensor("w", "F8_E4M3", "[B, N, K]", "weights"),
		tensor("w_scale", "F8_E8M0", "[B, Q]", "Q = ceil(N/128)*128 * ceil(C/4)*4: as x_scale, rows are output channels"),
	},
	Outputs: []bench.TensorDoc{tensor("y", "BF16", "[B, M, N]", "the products, rounded once")},
}

var docMXFP4 = bench.Doc{
	Summary: "GEMM of fp8 activations with MXFP4 weights: y[m, n] = Σ_k x[m, k] x_scale[m, k div 128] w[n, k] " +
		"w_scale[n, k div 32]",
	Operands: []bench.TensorDoc{
		tensor("x", "F8_E4M3", "[M, K]", "activations, K a multiple of 32"),
		tensor("x_scale", "F8_E8M0", "[M, ceil(K/128)]", "scale of each 1 x 128 block of x"),
		tensor("w", "U8", "[N, K/2]", nibbles),
		tensor("w_scale", "F8_E8M0", "[N, K/32]", "scale of each 1 x 32 block of w"),
	},
	Outputs: []bench.TensorDoc{tensor("y", "BF16", "[M, N]", "the product, rounded once")},
}

var docNVFP4 = bench.Doc{
	Summary: "NVFP4 GEMM: y[m, n] = input_scale · weight_scale_2 · Σ_k x[m, k] x_scale[m, k div 16] w[n, k] " +
		"w_scale[n, k div 16]",
	Operands: []bench.TensorDoc{
		tensor("x", "U8", "[M, K/2]", nibbles+"; K is a multiple of 16"),
		tensor("x_scale", "F8_E4M3", "[P]", "P = ceil(M/128)*128 * ceil(C/4)*4 with C = K/16: scale of each 1 x 16 block "+
			"of x, "+swizzled),
		tensor("input_scale", "F32", "[1]", "global scale of x"),
		tensor("w", "U8", "[N, K/2]", "as x"),
		tensor("w_scale", "F8_E4M3", "[Q]", "Q = ceil(N/128)*128 * ceil(C/4)*4: as x_scale, rows are output channels"),
		tensor("weight_scale_2", "F32", "[1]; [2] with global_scales halves", "global scale of w, or of each half of it"),
	},
	Outputs: []bench.TensorDoc{tensor("y", "BF16", "[M, N]", "the product, rounded once")},
	Attrs: []bench.AttrDoc{{
		Name:    "global_scales",
		Meaning: "halves: N is even, and rows 0 to N/2-1 of w have the first of two weight_scale_2, the others the second",
	}},
}

var docGrouped = bench.Doc{
	Summary: "contiguous grouped block-fp8 GEMM for MoE: each row is multiplied by the weights of its expert; scales " +
		"as in block_fp8_gemm",
	Operands: []bench.TensorDoc{
		tensor("x", "F8_E4M3", "[M, K]", "rows grouped by expert, each expert starting at a multiple of an alignment; "+
			"padding rows (expert -1) are undefined and must not be read"),
		tensor("x_scale", "F32", "[M, ceil(K/128)]", "scale of each 1 x 128 block of x; must not be read for padding rows"),
		tensor("w", "F8_E4M3", "[E, N, K]", "weights of each expert"),
		tensor("w_scale", "F32", "[E, ceil(N/128), ceil(K/128)]", "scale of each 128 x 128 block of an expert"),
		tensor("expert", "I32", "[M]", "expert of each row, -1 for padding rows; an expert may have no rows"),
	},
	Outputs: []bench.TensorDoc{
		tensor("y", "BF16", "[M, N]", "y[m] = w[expert[m]] · x[m], rounded once; padding rows are not judged"),
	},
}

var docGroupedN = bench.Doc{
	Summary: "grouped NVFP4 GEMM for MoE: each row is multiplied by the weights of its expert; weight scales are " +
		"swizzled and padded separately for each expert",
	Operands: []bench.TensorDoc{
		tensor("x", "U8", "[M, K/2]", nibbles+"; K is a multiple of 16; padding rows (expert -1) must not be read"),
		tensor("x_scale", "F8_E4M3", "[M, K/16]", "scale of each 1 x 16 block of x, row-major, not swizzled"),
		tensor("w", "U8", "[E, N, K/2]", "as x"),
		tensor("w_scale", "F8_E4M3", "[E, Q]", "Q = ceil(N/128)*128 * ceil(C/4)*4 with C = K/16: expert e's scale of each "+
			"1 x 16 block, "+swizzled),
		tensor("alpha", "F32", "[E]", "global scale of an expert: input_scale · weight_scale_2"),
		tensor("expert", "I32", "[M]", "expert of each row, -1 for padding rows; an expert may have no rows"),
	},
	Outputs: []bench.TensorDoc{tensor("y", "BF16", "[M, N]", "rounded once; padding rows are not judged")},
}

var docMasked = bench.Doc{
	Summary: "masked grouped block-fp8 GEMM for decode: expert e has a buffer of R rows, of which the first " +
		"masked_m[e] hold tokens; scales as in block_fp8_gemm",
	Operands: []bench.TensorDoc{
		tensor("x", "F8_E4M3", "[E, R, K]", "tokens of each expert; rows from masked_m[e] on must not be read"),
		tensor("x_scale", "F32", "[E, R, ceil(K/128)]", "scale of each 1 x 128 block; must not be read from masked_m[e] on"),
		tensor("w", "F8_E4M3", "[E, N, K]", "weights of each expert"),
		tensor("w_scale", "F32", "[E, ceil(N/128), ceil(K/128)]", "scale of each 128 x 128 block of an expert"),
		tensor("masked_m", "I32", "[E]", "number of tokens of each expert, 0 to R"),
	},
	Outputs: []bench.TensorDoc{
		tensor("y", "BF16", "[E, R, N]", "y[e, r] = w[e] · x[e, r], rounded once; rows from masked_m[e] on are not judged"),
	},
}

var docQuantFP8 = bench.Doc{
	Summary: "quantise rows to e4m3 in blocks: code = e4m3(clamp(x / s, -448, 448)), round to nearest even; all " +
		"arithmetic in fp32. Contracts: exact, each operation rounded once, bit-exact; two-roundings, divisions may be " +
		"products with a rounded reciprocal, and codes are judged by the stored scale; ue8m0-log2, besides, the power of " +
		"two may come from a logarithm in fp32",
	Operands: []bench.TensorDoc{
		tensor("x", "F32 or BF16", "[M, K]", "values; K need not be a multiple of group_size"),
	},
	Outputs: []bench.TensorDoc{
		tensor("codes", "U8", "[M, K]", "e4m3 bytes; the sign of a zero is kept"),
		tensor("scale", "F32, or U8 for e8m0 bytes", "[M, ceil(K/group_size)]; [1] for group_size 0",
			"the scale s of each block; e8m0 where scale_fmt is ue8m0 or ocp"),
	},
	Attrs: []bench.AttrDoc{
		{
			Name: "group_size",
			Meaning: "elements of a row that share a scale: 128, 64 or 32; 0 is one scale per tensor (amax over the elements " +
				"of the view only)",
		},
		{
			Name: "scale_fmt",
			Meaning: "fp32: s = a / 448. ue8m0: s = 2^ceil(log2(a / 448)), computed from the bits of the fp32 quotient " +
				"(its exponent, plus one if its mantissa is not zero). ocp: s = 2^(floor(log2 a) - 8), 2^-127 for a = 0",
		},
		{Name: "amax_floor", Meaning: "a = max(amax of the block, amax_floor); 0 for none"},
	},
}

var docQuantNV = bench.Doc{
	Summary: "quantise rows to NVFP4: t = global_amax / 2688, block scale s = e4m3(clamp(a / fp32(6 t), 2^-9, 448)) " +
		"with 1 where the quotient is 0, code = e2m1(x / fp32(s t)), round to nearest even; fp32, each operation " +
		"rounded once; bit-exact",
	Operands: []bench.TensorDoc{
		tensor("x", "F32 or BF16", "[M, K]", "values, K a multiple of 16; a is the largest magnitude in each 1 x 16 block"),
	},
	Outputs: []bench.TensorDoc{
		tensor("codes", "U8", "[M, K/2]", nibbles+"; the code of a negative value that becomes 0 keeps its sign, -0 "+
			"becomes +0"),
		tensor("scale", "U8", "[P]", "P = ceil(M/128)*128 * ceil(C/4)*4 with C = K/16: e4m3 bytes, swizzled as in "+
			"nvfp4_gemm; padding bytes of a tile are 0"),
	},
	Attrs: []bench.AttrDoc{
		{Name: "global_amax", Meaning: "amax from which the tensor scale t is computed, fp32"},
	},
}
