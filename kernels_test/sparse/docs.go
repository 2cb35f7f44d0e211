package sparse

import "github.com/assay-suite/assay/kernels_test/bench"

// The operators' names, as a candidate offers them.
const (
	opAttention   = "sparse_attention"
	opMergeState  = "merge_state"
	opMergeStates = "merge_states"
	opExtendRows  = "extend_rows"
)

// attentionDoc describes sparse_attention. The operands have FlashMLA's names: V4's window is the main list, its
// compressed rows are the extra one.
func attentionDoc() bench.Doc {
	return bench.Doc{
		Summary: "o = Σ_i e^(z_i) v_i / (Σ_i e^(z_i) + e^(attn_sink[h])) with z_i = softmax_scale · <q[t,h], kv_i>, " +
			"over the rows i of the main list and then of the extra list; " +
			"key and value are the same row, v_i its first d_v channels; a row listed twice counts twice; a query without " +
			"rows gives o = 0, with or without a sink",
		Operands: []bench.TensorDoc{
			{Name: "q", DType: "F32 or BF16", Shape: "[T, H, D]", Meaning: "queries, rotated"},
			{
				Name:    "kv",
				DType:   "F32 or BF16; U8",
				Shape:   "[S, D]; [P, page_size, D] where block_table is given; [P, bytes of a page] where kv_layout is not rows",
				Meaning: "main cache: keys and values, rotated. A page of bytes is laid out as kv_layout says",
			},
			{
				Name:  "indices",
				DType: "I32",
				Shape: "[T, N]",
				Meaning: "main list of each query. Without block_table: rows of kv, page · page_size + offset for pages; an " +
					"index below 0 or beyond the last row of the cache is no row. With it: positions in the query's sequence, -1 is " +
					"no row",
			},
			{
				Name:    "topk_length",
				DType:   "I32",
				Shape:   "[T]",
				Meaning: "number of valid leading entries of indices, 0 to N; later entries are stale",
			},
			{
				Name:  "block_table",
				DType: "I32",
				Shape: "[B, M]",
				Meaning: "optional: page of entries [i·page_size, (i+1)·page_size) of each sequence; position j is row " +
					"block_table[request[t]][j div page_size] · page_size + j mod page_size",
			},
			{
				Name:    "extra_kv",
				DType:   "as kv",
				Shape:   "[S2, D]; [P2, extra_page_size, D]; [P2, bytes of a page]",
				Meaning: "optional: extra cache",
			},
			{
				Name:    "extra_indices",
				DType:   "I32",
				Shape:   "[T, N2]",
				Meaning: "with extra_kv: extra list of each query, as indices",
			},
			{Name: "extra_topk_length", DType: "I32", Shape: "[T]", Meaning: "with extra_kv: as topk_length"},
			{
				Name:    "extra_block_table",
				DType:   "I32",
				Shape:   "[B, M2]",
				Meaning: "given with block_table where extra_kv is: as block_table",
			},
			{Name: "request", DType: "I32", Shape: "[T]", Meaning: "given with block_table: the sequence of each query"},
			{
				Name:  "attn_sink",
				DType: "F32",
				Shape: "[H]",
				Meaning: "optional: natural logits added to the denominator once and not multiplied by softmax_scale; " +
					"-Inf is no sink, +Inf makes o = 0",
			},
		},
		Outputs: []bench.TensorDoc{
			{Name: "o", DType: "F32 or BF16", Shape: "[T, H, d_v]", Meaning: "attention output"},
			{
				Name:  "lse",
				DType: "F32",
				Shape: "[T, H]",
				Meaning: "if requested: log of Σ_i e^(z_i) to the base lse_base, without the sink; empty_lse for a query " +
					"without rows",
			},
			{
				Name:    "max_logits",
				DType:   "F32",
				Shape:   "[T, H]",
				Meaning: "if requested: the largest z_i, in natural units for either lse_base; -Inf for a query without rows",
			},
		},
		Attrs: []bench.AttrDoc{
			{Name: "softmax_scale", Meaning: "multiplies the scores"},
			{Name: "d_v", Meaning: "leading channels of a row that are its value: D, or 512 of 576"},
			{
				Name:    "num_splits",
				Meaning: "number of parts that the kernel splits a query's rows into; changes the result by rounding only",
			},
			{Name: "lse_base", Meaning: `"e" or "2"`},
			{Name: "empty_lse", Meaning: `"-inf" or "+inf": lse of a query without rows`},
			{Name: "page_size", Meaning: "rows per page of kv; 0 where kv is [S, D]"},
			{
				Name:    "extra_page_size",
				Meaning: "rows per page of extra_kv; may differ from page_size. 0 where it is [S2, D] or absent",
			},
			{
				Name: "kv_layout",
				Meaning: `"rows": real values. "v4-kv": a page of n tokens is n rows of 448 e4m3 + 64 bf16 (576 bytes), then n ` +
					`rows of 8 scale bytes (7 e8m0, one for 64 e4m3 each, and one of padding), padded to a multiple of 576 bytes; D ` +
					`= 512. "v32-kv": each token is 512 e4m3, 4 fp32 scales (one for 128 e4m3 each), 64 bf16 (656 bytes); D = 576. ` +
					`A value is code · scale; little-endian; both caches alike`,
			},
			{
				Name: "kv_rounding",
				Meaning: `"none", or "fp8": the leading D - rope_dims channels of every row are rounded before use, each group ` +
					`of 64 (the last may be short) to s · e4m3(v / s), s the smallest power of two that is not below max(amax |v|, ` +
					`1e-4) · fp32(1/448) in fp32`,
			},
			{Name: "rope_dims", Meaning: "trailing channels that kv_rounding leaves unchanged"},
		},
	}
}

// mergeDoc describes what merge_state and merge_states compute.
const mergeFormula = "with l_i the natural logarithm that lse_i stands for: L = ln Σ_i e^(l_i), o = Σ_i e^(l_i - " +
	"L') o_i, L' = L, or ln(e^L + e^(attn_sink[h])) with a sink; " +
	"an empty state (lse = -Inf or +Inf) has weight 0 and its o is not read; if all states are empty, o = 0 with or " +
	"without a sink"

func mergeStateDoc() bench.Doc {
	return bench.Doc{
		Summary: "merges two attention states over disjoint keys; " + mergeFormula,
		Operands: []bench.TensorDoc{
			{Name: "prefix_o", DType: "F32 or BF16", Shape: "[T, H, D]", Meaning: "normalised output over the first keys"},
			{Name: "prefix_lse", DType: "F32", Shape: "[T, H]", Meaning: "its log-sum-exp, to the base lse_base"},
			{
				Name:    "suffix_o",
				DType:   "as prefix_o",
				Shape:   "[T, H, D]",
				Meaning: "normalised output over the other keys; strides of its own",
			},
			{
				Name:    "suffix_lse",
				DType:   "F32",
				Shape:   "[T, H]",
				Meaning: "its log-sum-exp, to the base lse_base; strides of its own",
			},
		},
		Outputs: mergeOutputs(),
		Attrs:   mergeAttrs(),
	}
}

func mergeStatesDoc() bench.Doc {
	return bench.Doc{
		Summary: "merges N attention states over disjoint keys (splits of a launch, ranks of context parallelism); " +
			mergeFormula,
		Operands: []bench.TensorDoc{
			{Name: "o", DType: "F32 or BF16", Shape: "[N, T, H, D]", Meaning: "normalised outputs of the states"},
			{Name: "lse", DType: "F32", Shape: "[N, T, H]", Meaning: "their log-sum-exp without the sink, to the base lse_base"},
			{
				Name:  "num_states",
				DType: "I32",
				Shape: "[T]",
				Meaning: "optional: number of valid leading states of each query, 0 to N; the others are undefined. All where it " +
					"is absent",
			},
			{
				Name:    "attn_sink",
				DType:   "F32",
				Shape:   "[H]",
				Meaning: "optional: natural logits added to the denominator once; -Inf is no sink, +Inf makes o = 0",
			},
		},
		Outputs: mergeOutputs(),
		Attrs:   mergeAttrs(),
	}
}

func mergeOutputs() []bench.TensorDoc {
	return []bench.TensorDoc{
		{Name: "merged_o", DType: "as the states", Shape: "[T, H, D]", Meaning: "normalised output over all keys"},
		{
			Name:    "merged_lse",
			DType:   "F32",
			Shape:   "[T, H]",
			Meaning: "if requested: L in base out_lse_base, without the sink; empty_lse where all states are empty",
		},
	}
}

func mergeAttrs() []bench.AttrDoc {
	return []bench.AttrDoc{
		{Name: "lse_base", Meaning: `"e" or "2": base of the states' log-sum-exps`},
		{Name: "out_lse_base", Meaning: `"e" or "2": base of merged_lse`},
		{Name: "empty_lse", Meaning: `"-inf" or "+inf": merged_lse where all states are empty`},
	}
}

func extendRowsDoc() bench.Doc {
	return bench.Doc{
		Summary: "lists of sparse attention for a chunk of each request: for the query at position p its selected " +
			"compressed rows, min(floor((p+1)/ratio), top_k) of them (none where ratio is 0), " +
			"then its window, the rows of positions max(0, p-window_size+1) .. p, then -1. The queries of request b are its " +
			"last extend_len[b] positions, requests one after the other",
		Operands: []bench.TensorDoc{
			{Name: "seq_len", DType: "I32", Shape: "[B]", Meaning: "tokens of each request, including this chunk"},
			{Name: "extend_len", DType: "I32", Shape: "[B]", Meaning: "tokens of it in this chunk, 0 to seq_len"},
			{
				Name:  "window_base",
				DType: "I32",
				Shape: "[B]",
				Meaning: "row of the first gathered window row, which holds position seq_len - min(seq_len, extend_len + " +
					"window_size - 1)",
			},
			{Name: "compressed_base", DType: "I32", Shape: "[B]", Meaning: "row of the request's compressed row 0"},
			{
				Name:  "selected",
				DType: "I32",
				Shape: "[Q, K]",
				Meaning: "compressed rows that each query selects, counted within its request; -1 stays -1 in its place. Entries " +
					"beyond the ones taken are stale. Q = Σ extend_len",
			},
		},
		Outputs: []bench.TensorDoc{
			{
				Name:    "indices",
				DType:   "I32",
				Shape:   "[Q, W]",
				Meaning: "selected + compressed_base, window rows, -1; W = top_k + window_size rounded up to a multiple of align",
			},
			{
				Name:    "topk_length",
				DType:   "I32",
				Shape:   "[Q]",
				Meaning: "entries before the padding: min(floor((p+1)/ratio), top_k) + min(p+1, window_size)",
			},
		},
		Attrs: []bench.AttrDoc{
			{Name: "top_k", Meaning: "maximum number of compressed rows in a list"},
			{Name: "ratio", Meaning: "tokens per compressed row; 0 for a layer without compression"},
			{Name: "window_size", Meaning: "rows of the window, including the query's own"},
			{Name: "align", Meaning: "W is a multiple of it"},
		},
	}
}
