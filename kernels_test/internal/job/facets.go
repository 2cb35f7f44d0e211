package job

import "github.com/assay-suite/assay/kernels_test/bench"

// facetRules says for every operator which operands a worker's `dtypes` mean (Main), which others belong to the storage
// format, and which contracts are looser than what that format stands for: fp32 operands stand for fp32 products, bf16
// operands for the tensor cores' bf16 products (and, in attention, for weights that are rounded to bf16 before the
// product with V, as FlashAttention does), fp8 operands for the tensor cores' fp8 products. Contracts that differ in
// what they mean and not in how exact they are (base of the log-sum-exp, tie-break, empty rows) are not looser.
var facetRules = map[string]bench.FacetRule{
	"indexer_logits": {Main: []string{"q", "k"}, Scales: []string{"ks"}, Looser: []string{"bf16-dot"}},
	"indexer_logits_paged": {
		Main: []string{"q", "pages"}, Paged: "block_table", Attr: "page_format", Looser: []string{"bf16-dot"},
	},
	"index_key_store":  {Main: []string{"x"}},
	"topk":             {Main: []string{"scores"}},
	"topk_pages":       {Main: []string{"scores"}, Paged: "block_table"},
	"sparse_attention": {Main: []string{"q", "kv"}, Out: "o", Paged: "block_table", Attr: "kv_layout"},
	"merge_state":      {Main: []string{"prefix_o"}, Out: "merged_o"},
	"merge_states":     {Main: []string{"o"}, Out: "merged_o"},
	"extend_rows":      {Main: []string{}},
	"compress":         {Main: []string{"kv"}},
	"compress_extend":  {Main: []string{"kv"}, Out: "c"},
	"gqa_attention": {
		Main: []string{"q", "k", "k_cache"}, Out: "o", Paged: "page_table",
		OptIn: map[string]any{"kv_scales": "tensor", "logit_softcap": 0.0},
	},
	"mla_attention": {Main: []string{"q_nope", "ckv_cache"}, Out: "o", Paged: "page_table"},
	"kv_write":      {Main: []string{"k"}, Out: "k_cache"},
	"mla_kv_write":  {Main: []string{"latent"}},
	"page_table":    {Main: []string{}, Out: "page_table"},
	"window_mask":   {Main: []string{}},
	"mhc_pre": {
		Main: []string{"x", "fn"}, Out: "y", Half: []string{"x", "y"}, Looser: []string{"tf32-rn", "tf32-rz", "bf16"},
	},
	"mhc_post": {Main: []string{"x", "f"}, Half: []string{"x", "f", "out"}},
	"mhc_head": {
		Main: []string{"x", "fn"}, Out: "y", Half: []string{"x", "y"}, Looser: []string{"tf32-rn", "tf32-rz", "bf16"},
	},
	"sinkhorn": {Main: []string{"logits"}},
	"moe_gate": {
		Main: []string{"logits"}, Out: "topk_weights", Casts: map[string]string{"logits": bench.BF16},
		OptIn: map[string]any{"bias_in": "choice"},
	},
	"hash_gate":      {Main: []string{"logits"}, Out: "topk_weights", Casts: map[string]string{"logits": bench.BF16}},
	"moe_combine":    {Main: []string{"expert_out"}},
	"dense_gemm":     {Main: []string{"x", "w"}, Looser: []string{"tf32x3", "tf32-rn", "tf32-rz"}},
	"bf16_gemm":      {Main: []string{"x", "w"}},
	"fp8_gemm":       {Main: []string{"x", "w"}},
	"block_fp8_gemm": {Main: []string{"x", "w"}, Scales: []string{"x_scale", "w_scale"}},
	"batched_mxfp8_gemm": {
		Main: []string{"x", "w"}, Scales: []string{"x_scale", "w_scale"},
	},
	"mxfp4_gemm": {Main: []string{"x", "w"}, Scales: []string{"x_scale", "w_scale"}},
	"nvfp4_gemm": {
		Main: []string{"x", "w"}, Scales: []string{"x_scale", "w_scale"},
		OptIn: map[string]any{"global_scales": "one"},
	},
	"grouped_gemm":       {Main: []string{"x", "w"}, Scales: []string{"x_scale", "w_scale"}},
	"grouped_nvfp4_gemm": {Main: []string{"x", "w"}, Scales: []string{"x_scale", "w_scale"}},
	"masked_gemm":        {Main: []string{"x", "w"}, Scales: []string{"x_scale", "w_scale"}},
	"quantise_fp8": {
		Main: []string{"x"}, Out: "scale", Casts: map[string]string{"x": bench.BF16}, Looser: []string{"ue8m0-log2"},
	},
	"quantise_nvfp4": {Main: []string{"x"}, Out: "codes", Casts: map[string]string{"x": bench.BF16}},
	"rms_norm": {
		Main: []string{"x"}, Scales: []string{"weight"}, Out: "y", Half: []string{"weight"}, Looser: []string{"bf16-steps"},
	},
	"layer_norm": {Main: []string{"x"}, Scales: []string{"weight"}, Half: []string{"weight", "bias"}},
	"rope":       {Main: []string{"x"}},
	"rope_table": {Main: []string{}},
}

// nanRules says for some operators what else than "it reaches what depends on it" a NaN in an operand does.
var nanRules = map[string]bench.NaNRule{
	"topk":             {Off: "a ranked row holds no NaN by the operator's Doc"},
	"topk_pages":       {Off: "a ranked row holds no NaN by the operator's Doc"},
	"index_key_store":  {Loose: []string{"values", "scales"}},
	"mla_kv_write":     {Loose: []string{"values", "scales"}},
	"sparse_attention": {Loose: []string{"max_logits"}},
	"moe_gate":         {Whole: []string{"logits"}, Never: []string{"bias"}},
	"hash_gate":        {Whole: []string{"logits"}, Avoid: []string{"one-expert"}},
	"compress_extend":  {Places: 3},
	"quantise_fp8":     {Drops: []string{"scale"}, Own: map[string]string{"codes": "x"}},
	"quantise_nvfp4":   {Drops: []string{"scale"}},
}

// withFacets puts the rules into a suite's families.
func withFacets(s bench.Suite) bench.Suite {
	for i := range s.Families {
		s.Families[i].Facets = facetRules[s.Families[i].Op]
		s.Families[i].NaN = nanRules[s.Families[i].Op]
	}
	return s
}
