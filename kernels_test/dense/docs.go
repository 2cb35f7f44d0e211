package dense

import "github.com/assay-suite/assay/kernels_test/bench"

// Texts that several operators share.
const (
	causalWord = "on: query i of a request with n queries and L keys is at position p = L-n+i (bottom-right aligned) " +
		"and attends to keys j <= p; off: to all L keys that the window allows"
	windowLeft = "limit on keys before the query's own: j >= p - window_left, so window_left+1 keys with its own; -1 is " +
		"no limit. Applies with causal off, too"
	windowRight = "limit on keys after it: j <= p + window_right; -1 is no limit"
	splitsWord  = "number of contiguous key ranges that a split-K kernel should compute and merge; a hint that changes " +
		"no result"
	baseWord = "e: lse is ln(sum e^z); 2: it is log2 of the same sum"
	pageWord = "tokens per page; token j of request b is row j mod page_size of page page_table[b, j div page_size]"
	indptr   = "queries of request b are rows qo_indptr[b] to qo_indptr[b+1]-1 of q; qo_indptr[0] = 0; a request may " +
		"have none"
	padding   = "; rows from qo_indptr[B] on are padding: they are not read and their results are not judged"
	seqLens   = "number of keys L of request b, including those of its queries; may be 0"
	tableWord = "physical pages of request b in order; entries from ceil(seq_lens[b]/page_size) on are not read"
	beyond    = "; rows from a sequence's length on, and pages that no table refers to, are not read"
)

var gqaDoc = bench.Doc{
	Summary: "o = sum_j softmax(z)_j v_j, z_j = softmax_scale · <q, k_j> over the visible keys j; grouped-query " +
		"attention, ragged (k, v) or paged (k_cache, v_cache)",
	Operands: []bench.TensorDoc{
		{
			Name:    "q",
			DType:   "BF16; F32 under fp32",
			Shape:   "[T, H, D]",
			Meaning: "queries of all requests, concatenated" + padding,
		},
		{Name: "qo_indptr", DType: "I32", Shape: "[B+1]", Meaning: indptr},
		{
			Name:    "k",
			DType:   "BF16; F32 under fp32; F8_E4M3 under fp8-kv",
			Shape:   "[S, G, D]",
			Meaning: "ragged calls: keys; query head h reads key-value head h div (H/G)",
		},
		{Name: "v", DType: "as k", Shape: "[S, G, DV]", Meaning: "ragged calls: values"},
		{
			Name:  "kv_indptr",
			DType: "I32",
			Shape: "[B+1]",
			Meaning: "ragged calls: keys of request b are rows kv_indptr[b] to kv_indptr[b+1]-1 of k and v, L of them; rows " +
				"from kv_indptr[B] on are not read",
		},
		{Name: "k_cache", DType: "as k", Shape: "[P, page_size, G, D]", Meaning: "paged calls, in place of k" + beyond},
		{Name: "v_cache", DType: "as k", Shape: "[P, page_size, G, DV]", Meaning: "paged calls, in place of v" + beyond},
		{Name: "page_table", DType: "I32", Shape: "[B, W]", Meaning: "paged calls: " + tableWord},
		{Name: "seq_lens", DType: "I32", Shape: "[B]", Meaning: "paged calls: " + seqLens},
		{
			Name:  "sink",
			DType: "F32",
			Shape: "[H]",
			Meaning: "optional logit of head h that is added to the softmax's denominator only; it is not scaled and not part " +
				"of lse",
		},
		{
			Name:    "k_scales",
			DType:   "F32",
			Shape:   "[G]",
			Meaning: "with kv_scales head: dequantisation scale of each key-value head of an F8_E4M3 k or k_cache",
		},
		{Name: "v_scales", DType: "F32", Shape: "[G]", Meaning: "with kv_scales head: the same for v and v_cache"},
		{
			Name:  "workspace",
			DType: "F32",
			Shape: "[T, H, DV+1]",
			Meaning: "optional: stale contents of the scratch buffer for partial states (o, then lse) from earlier calls; no " +
				"result may depend on it, and it must not be modified (work on a copy)",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "o",
			DType:   "BF16; F32 under fp32",
			Shape:   "[T, H, DV]",
			Meaning: "0 for a query without visible keys, with or without a sink",
		},
		{
			Name:  "lse",
			DType: "F32",
			Shape: "[T, H]",
			Meaning: "if requested: log-sum-exp of z over the visible keys, without the sink; -inf for a query without " +
				"visible keys",
		},
	},
	Attrs: []bench.AttrDoc{
		{Name: "softmax_scale", Meaning: "multiplies the scores"},
		{
			Name:    "k_scale",
			Meaning: "dequantisation scale of an F8_E4M3 k or k_cache; must be ignored for other dtypes",
		},
		{Name: "v_scale", Meaning: "the same for v and v_cache"},
		{Name: "kv_scales", Meaning: "head: k_scales and v_scales count in place of k_scale and v_scale; absent: not"},
		{Name: "logit_softcap", Meaning: "c > 0: c·tanh(z/c) takes the place of z, for lse as well; 0 or absent: none"},
		{Name: "causal", Meaning: causalWord},
		{Name: "window_left", Meaning: windowLeft},
		{Name: "window_right", Meaning: windowRight},
		{Name: "page_size", Meaning: "paged calls: " + pageWord},
		{Name: "num_splits", Meaning: splitsWord},
		{Name: "lse_base", Meaning: baseWord},
	},
}

var mlaDoc = bench.Doc{
	Summary: "o = sum_j softmax(z)_j c_j, z_j = s · (<q_nope, c_j> + <q_pe, r_j>) over the visible keys j; multi-head " +
		"latent attention in its absorbed form: the latent c is key and value, shared by all heads",
	Operands: []bench.TensorDoc{
		{
			Name:    "q_nope",
			DType:   "BF16; F32 under fp32",
			Shape:   "[T, H, R]",
			Meaning: "queries with the key up-projection applied, of all requests, concatenated" + padding,
		},
		{Name: "q_pe", DType: "as q_nope", Shape: "[T, H, E]", Meaning: "rotated part of the queries"},
		{Name: "qo_indptr", DType: "I32", Shape: "[B+1]", Meaning: indptr},
		{
			Name:    "ckv_cache",
			DType:   "BF16; F32 under fp32; F8_E4M3 under fp8-kv",
			Shape:   "[P, page_size, R]",
			Meaning: "latents c after their norm" + beyond,
		},
		{Name: "kpe_cache", DType: "as ckv_cache", Shape: "[P, page_size, E]", Meaning: "rotated key parts r" + beyond},
		{Name: "page_table", DType: "I32", Shape: "[B, W]", Meaning: tableWord},
		{Name: "seq_lens", DType: "I32", Shape: "[B]", Meaning: seqLens},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "o",
			DType:   "BF16; F32 under fp32",
			Shape:   "[T, H, R]",
			Meaning: "in the latent space, before the value up-projection; 0 for a query without visible keys",
		},
		{
			Name:    "lse",
			DType:   "F32",
			Shape:   "[T, H]",
			Meaning: "if requested: log-sum-exp of z; -inf for a query without visible keys",
		},
	},
	Attrs: []bench.AttrDoc{
		{
			Name: "qk_nope_head_dim",
			Meaning: "N, channels of a head's key before absorption (128 in V3.2), for the softmax scale: s = (N + E)^-1/2 · " +
				"m^2",
		},
		{
			Name:    "rope_factor",
			Meaning: "YaRN's scaling factor: m = 0.1 · mscale · ln(rope_factor) + 1, and m = 1 for a factor up to 1",
		},
		{Name: "mscale", Meaning: "see rope_factor"},
		{
			Name: "k_scale",
			Meaning: "dequantisation scale of F8_E4M3 caches (latent and rotated part, and the latent as value); must be " +
				"ignored for other dtypes",
		},
		{Name: "causal", Meaning: causalWord},
		{Name: "page_size", Meaning: pageWord},
		{Name: "num_splits", Meaning: splitsWord},
		{Name: "lse_base", Meaning: baseWord},
	},
}

var kvWriteDoc = bench.Doc{
	Summary: "stores keys and values of new tokens in the slots of a paged cache: fp8 caches hold round_e4m3(x / " +
		"scale), to nearest even, saturating at ±448. The quotient is computed in fp32, as a division or as a product " +
		"with fp32(1 / scale): where the two round to different codes either is accepted; where scale is a power of two " +
		"they agree, and ties go to even",
	Operands: []bench.TensorDoc{
		{Name: "k", DType: "BF16; F32 under fp32", Shape: "[T, G, D]", Meaning: "keys of the new tokens"},
		{Name: "v", DType: "as k", Shape: "[T, G, DV]", Meaning: "values"},
		{
			Name:  "slot_mapping",
			DType: "I32",
			Shape: "[T]",
			Meaning: "slot of token t: row slot mod page_size of page slot div page_size; -1 is a padding token, which is not " +
				"stored (its k and v are not read)",
		},
		{
			Name:  "full_to_swa",
			DType: "I32",
			Shape: "[N]",
			Meaning: "optional: the layer's cache is the sliding-window pool and slot_mapping refers to the full pool of N " +
				"slots: token t is stored in slot full_to_swa[slot_mapping[t]], or not at all where that is -1; entries that " +
				"no token refers to are not read",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "k_cache",
			DType:   "BF16; F32 under fp32; F8_E4M3 under fp8-kv",
			Shape:   "[P, page_size, G, D]",
			Meaning: "the cache; slots that no token is stored in keep their prefill",
		},
		{Name: "v_cache", DType: "as k_cache", Shape: "[P, page_size, G, DV]", Meaning: "the same for values"},
	},
	Attrs: []bench.AttrDoc{
		{Name: "page_size", Meaning: "tokens per page; repeats the cache's dimension: does not change the result"},
		{
			Name: "k_scale",
			Meaning: "quantisation scale of keys in an F8_E4M3 cache, applied in fp32 as a divisor or as its reciprocal; must " +
				"be ignored for other dtypes",
		},
		{Name: "v_scale", Meaning: "the same for values"},
	},
}

var pageTableDoc = bench.Doc{
	Summary: "converts the token-granular slots of requests into the page table and slot mapping that paged attention " +
		"and the cache write take",
	Operands: []bench.TensorDoc{
		{
			Name:  "req_to_token",
			DType: "I32",
			Shape: "[R, M]",
			Meaning: "slot of token j of the request in row r; pages are whole: slots of tokens i·page_size to " +
				"(i+1)·page_size-1 are consecutive, and the first is a multiple of page_size; entries beyond a length, and rows " +
				"of no request, are not read",
		},
		{Name: "req_pool_indices", DType: "I32", Shape: "[B]", Meaning: "row of request b"},
		{Name: "seq_lens", DType: "I32", Shape: "[B]", Meaning: "number of tokens L of request b, including the new ones"},
		{
			Name:    "qo_indptr",
			DType:   "I32",
			Shape:   "[B+1]",
			Meaning: "request b has qo_indptr[b+1]-qo_indptr[b] new tokens, the last of its L; T = qo_indptr[B]",
		},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "page_table",
			DType:   "I32",
			Shape:   "[B, W]",
			Meaning: "entry i: req_to_token[r, i·page_size] div page_size; -1 from ceil(L/page_size) on",
		},
		{Name: "kv_indptr", DType: "I32", Shape: "[B+1]", Meaning: "running sum of the requests' pages, from 0"},
		{
			Name:    "kv_last_page_len",
			DType:   "I32",
			Shape:   "[B]",
			Meaning: "tokens on the last page, 1 to page_size; 0 for L = 0",
		},
		{
			Name:  "slot_mapping",
			DType: "I32",
			Shape: "[T]",
			Meaning: "slots of the new tokens, request by request; with window_size w > 0, -1 for positions below L-w: they " +
				"have left the window of the last token",
		},
	},
	Attrs: []bench.AttrDoc{
		{Name: "page_size", Meaning: "tokens per page"},
		{
			Name:    "window_size",
			Meaning: "keys that a query of a sliding-window layer attends to, including its own; 0 for full attention",
		},
	},
}

var windowMaskDoc = bench.Doc{
	Summary: "mask[t, j] = 1 where query t attends to key j of its request, else 0",
	Operands: []bench.TensorDoc{
		{
			Name:    "qo_indptr",
			DType:   "I32",
			Shape:   "[B+1]",
			Meaning: "queries of request b are rows qo_indptr[b] to qo_indptr[b+1]-1",
		},
		{Name: "seq_lens", DType: "I32", Shape: "[B]", Meaning: seqLens},
	},
	Outputs: []bench.TensorDoc{
		{
			Name:    "mask",
			DType:   "U8",
			Shape:   "[T, N]",
			Meaning: "T = qo_indptr[B]; N the longest of seq_lens; 0 for j >= seq_lens[b]",
		},
	},
	Attrs: []bench.AttrDoc{
		{Name: "causal", Meaning: causalWord},
		{Name: "window_left", Meaning: windowLeft},
		{Name: "window_right", Meaning: windowRight},
	},
}
