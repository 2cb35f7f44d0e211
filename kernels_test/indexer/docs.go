package indexer

import "github.com/assay-suite/assay/kernels_test/bench"

// Words that several operators share.
const (
	cleanWord   = "true: elements of keys not visible to the query are set to -inf; false: they are undefined"
	weightsWord = "head weights w of each query, with all scales except the keys' folded in; may be negative or 0"
	formatWord  = "fp8, bf16 or fp4: layout of a page of page_size keys with D channels, U8 [page_bytes], numbers " +
		"little-endian. " +
		"fp8: channel d of token i is the e4m3 byte i·D + d, its scale the fp32 at byte page_size·D + 4·i; page_bytes = " +
		"page_size·(D + 4). " +
		"bf16: channel d of token i is the bf16 at byte 2·(i·D + d), no scale; page_bytes = 2·page_size·D. " +
		"fp4: channel d of token i is the e2m1 code in byte i·D/2 + d div 2, low nibble for even d, its scale 2^(e-127) " +
		"with e the byte page_size·D/2 + 4·i + d div 32 (D <= 128; scale bytes from D/32 on must not be " +
		"read); page_bytes = page_size·(D/2 + 4)"
	contractWord = ". Contracts: fp32, products and sums in fp32 in any order; fp32-bitwise, the same, bit-identical " +
		"from run to run; " +
		"hopper-fp8, dot products over d by the tensor cores of an H100/H200 (e4m3 operands: blocks of 32 with 13 bits, " +
		"truncating; bf16 operands: blocks of 16 with 25 bits, truncating), the rest in fp32; " +
		"bf16-dot, keys times their scales rounded to bf16 (or the scale of fp8 keys applied after the dot product), " +
		"dot products in fp32 and rounded to bf16, the rest in fp32; " +
		"v4-reference, as bf16-dot, and each product with a weight and the sum over heads rounded to bf16, result BF16. A " +
		"kernel may be more accurate than it declares"
)

var logitsDoc = bench.Doc{
	Summary: "logits[t, s] = ks[s] · sum_h weights[t, h] · relu(sum_d q[t, h, d] · k[s, d]) for start[t] <= s < " +
		"end[t]; lightning indexer over concatenated sequences (DeepGEMM fp8_mqa_logits)" + contractWord,
	Operands: []bench.TensorDoc{
		{Name: "q", DType: "F8_E4M3, or BF16 with bf16 keys", Shape: "[T, H, D]", Meaning: "queries"},
		{
			Name:    "k",
			DType:   "as q",
			Shape:   "[S, D]",
			Meaning: "concatenated keys of all sequences, shared by all heads; rows in no range must not be read",
		},
		{
			Name:    "ks",
			DType:   "F32",
			Shape:   "[S]",
			Meaning: "scale of each key, positive; with F8_E4M3 keys only, otherwise 1",
		},
		{Name: "weights", DType: "F32", Shape: "[T, H]", Meaning: weightsWord},
		{Name: "start", DType: "I32", Shape: "[T]", Meaning: "first key visible to query t"},
		{
			Name:    "end",
			DType:   "I32",
			Shape:   "[T]",
			Meaning: "one past the last visible key, 0 <= start <= end <= S; empty ranges are allowed",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "logits",
			DType:   "F32; BF16 under v4-reference",
			Shape:   "[T, S], or [T, max_seqlen_k]",
			Meaning: "0 where every dot product is negative or 0; for elements outside the range see clean_logits",
		},
	},
	Attrs: []bench.AttrDoc{
		{Name: "clean_logits", Meaning: cleanWord},
		{
			Name: "max_seqlen_k",
			Meaning: "0: column s is key s; otherwise rows are compressed: column j of row t is key start[t]+j, and columns " +
				"from end[t]-start[t] on are undefined (clean_logits is then false)",
		},
	},
}

var pagedDoc = bench.Doc{
	Summary: "logits[b·N+i, j] = scale_j · sum_h weights[b·N+i, h] · relu(sum_d q[b, i, h, d] · key_j[d]) for j < " +
		"context_lens[b, i]; key j of request b is token j mod page_size of page block_table[b, j div page_size] (DeepGEMM " +
		"fp8_paged_mqa_logits)" + contractWord,
	Operands: []bench.TensorDoc{
		{
			Name:    "q",
			DType:   "F8_E4M3 with fp8 pages, else BF16",
			Shape:   "[B, N, H, D]",
			Meaning: "N = next_n queries per request",
		},
		{
			Name:  "pages",
			DType: "U8",
			Shape: "[P, page_bytes]",
			Meaning: "paged cache of index keys, see page_format; tokens beyond the longest context of a request, and pages " +
				"in no table, must not be read",
		},
		{Name: "weights", DType: "F32", Shape: "[B·N, H]", Meaning: weightsWord},
		{
			Name:    "context_lens",
			DType:   "I32",
			Shape:   "[B, N]",
			Meaning: "number of keys visible to query i of request b; may be 0 and may differ between queries of a request",
		},
		{
			Name:  "block_table",
			DType: "I32",
			Shape: "[B, W]",
			Meaning: "pages of request b in order; requests may share pages; entries from ceil(max_i context_lens[b, " +
				"i]/page_size) on must not be read",
		},
		{
			Name:  "prefix_lens",
			DType: "I32",
			Shape: "[B]",
			Meaning: "extend calls only: number of the request's keys cached before this chunk (earlier chunks, prefix cache " +
				"hit); does not change the result",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "logits",
			DType:   "F32; BF16 under v4-reference",
			Shape:   "[B·N, M]",
			Meaning: "M >= the longest context; for elements from context_lens[b, i] on see clean_logits",
		},
	},
	Attrs: []bench.AttrDoc{
		{Name: "page_size", Meaning: "tokens per page"},
		{Name: "page_format", Meaning: formatWord},
		{Name: "clean_logits", Meaning: cleanWord},
		{
			Name:    "num_splits",
			Meaning: "number of splits of the keys across thread blocks; a hint that does not change the result",
		},
	},
}

var storeDoc = bench.Doc{
	Summary: "quantise an index key and store it in the paged cache: quantise(hadamard(rope(norm(x)))). Contracts: " +
		"fp32, all steps before quantisation in fp32; bf16-steps, the results of norm, rope and hadamard each rounded to " +
		"bf16 (a kernel may skip these roundings)",
	Operands: []bench.TensorDoc{
		{Name: "x", DType: "BF16; F32 under fp32", Shape: "[T, D]", Meaning: "raw keys; rows with slot -1 must not be read"},
		{Name: "norm_weight", DType: "F32", Shape: "[D]", Meaning: "gain; absent with norm none"},
		{Name: "norm_bias", DType: "F32", Shape: "[D]", Meaning: "with layernorm only"},
		{
			Name:  "inv_freq",
			DType: "F32",
			Shape: "[E/2]",
			Meaning: "inverse frequencies: pair i is rotated by a = fp32(positions[t] · inv_freq[i]), (x, y) -> (x cos a - " +
				"y sin a, x sin a + y cos a); E rotated channels; absent: no rotation",
		},
		{
			Name:    "positions",
			DType:   "I32",
			Shape:   "[T]",
			Meaning: "position of row t; for a compressed row, that of its first token",
		},
		{
			Name:    "slot_mapping",
			DType:   "I32",
			Shape:   "[T]",
			Meaning: "row t is stored as token slot mod page_size of page slot div page_size; -1: not stored",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:  "pages",
			DType: "U8",
			Shape: "[P, page_bytes]",
			Meaning: "paged cache of index keys; bytes of slots that no row is stored in must not change; scale bytes of fp4 " +
				"pages from D/32 on may be unchanged or 0",
		},
	},
	Attrs: []bench.AttrDoc{
		{
			Name: "norm",
			Meaning: "layernorm: (x - mean) / sqrt(var + norm_eps) · weight + bias with the biased variance; rmsnorm: x / " +
				"sqrt(mean(x²) + norm_eps) · weight; none",
		},
		{Name: "norm_eps", Meaning: "see norm"},
		{Name: "rope_leading", Meaning: "true: the first E channels are rotated; false: the last"},
		{Name: "rope_interleaved", Meaning: "true: pair i is channels 2i and 2i+1 of the rotated ones; false: i and E/2+i"},
		{
			Name:    "hadamard",
			Meaning: "true: y[i] = D^-1/2 · sum_j (-1)^popcount(i and j) · x[j] (Sylvester order; D a power of two)",
		},
		{Name: "page_size", Meaning: "tokens per page"},
		{Name: "page_format", Meaning: formatWord},
		{
			Name: "scale_format",
			Meaning: "fp8 pages: fp32, scale = max(amax, 1e-4)/448; ue8m0, the same rounded up to a power of two, stored " +
				"as fp32. fp4 pages: blocks of 32 channels, scale = max(amax, 6·2^-126)/6 rounded up to a power of two. amax is " +
				"the largest magnitude of the key (fp8) or the block (fp4). Codes are key/scale, round to nearest even, " +
				"saturating",
		},
	},
}
