package blind

// Tiles are the tiles of production kernels whose last, partial one is dropped, doubled or read from its neighbour.
var Tiles = []int{16, 32, 48, 64, 96, 128, 256}

// Extent is a size that ships, with where the figure is from: a public config.json and its key, or the default of a
// server.
type Extent struct {
	N      int
	Source string
}

// kind is what a dimension counts. A kernel that is right up to a tile or to one shipping extent only, where a larger
// one ships, is a mutant.
type kind string

const (
	rows       kind = "rows"
	requests   kind = "requests"
	heads      kind = "heads"
	kvHeads    kind = "kv heads"
	headDim    kind = "head dim"
	latent     kind = "latent"
	keys       kind = "keys"
	table      kind = "page table"
	list       kind = "list"
	splits     kind = "splits"
	chosen     kind = "experts of a token"
	experts    kind = "experts"
	local      kind = "experts of one device"
	hidden     kind = "hidden"
	inner      kind = "contraction"
	blocks     kind = "blocks of 128"
	streams    kind = "streams"
	mixes      kind = "mixes"
	ratio      kind = "compression ratio"
	vocab      kind = "vocabulary"
	rotary     kind = "rotary pairs"
	rotated    kind = "rotated channels"
	indexHeads kind = "index heads"
	indexDim   kind = "index head dim"
	gqaDim     kind = "head dim of grouped attention"
	ropePart   kind = "rotated part"
	valueDim   kind = "value dim"
	packed     kind = "bytes of a row" // no extent of its own
)

// Extents are the shipping extents of each kind, rising.
var Extents = map[kind][]Extent{
	rows: {
		{16, "a tile"},
		{32, "a tile"},
		{48, "a tile"},
		{64, "a tile"},
		{96, "a tile"},
		{128, "a tile"},
		{256, "a tile"},
		{257, "one row beyond the largest tile"},
	},
	requests: {{8, "a decode batch"}, {32, "the lanes of a warp"}, {33, "one request beyond a warp"}},
	heads: {
		{8, "Gemma 2B num_attention_heads"},
		{16, "Qwen3-Next-80B-A3B num_attention_heads"},
		{32, "Llama-3.1-8B num_attention_heads"},
		{64, "V4-Flash, Kimi-K2, GLM-5, gpt-oss-120b, Qwen3-235B num_attention_heads"},
		{128, "DeepSeek-V3.2, V4-Pro, Llama-3.1-405B num_attention_heads"},
	},
	kvHeads: {
		{2, "Qwen3-Next-80B-A3B num_key_value_heads"},
		{4, "Qwen3-235B num_key_value_heads"},
		{8, "Llama-3.1, gpt-oss-120b num_key_value_heads"},
		{16, "Gemma-3-27B num_key_value_heads"},
	},
	headDim: {
		{64, "gpt-oss-120b head_dim"},
		{128, "Llama-3.1, Qwen3 head_dim"},
		{256, "Qwen3-Next-80B-A3B, Gemma head_dim"},
		{512, "V4-Flash, V4-Pro head_dim"},
		{576, "DeepSeek-V3.2 kv_lora_rank + qk_rope_head_dim"},
	},
	indexHeads: {{64, "DeepSeek-V3.2, V4-Flash, V4-Pro index_n_heads"}},
	indexDim:   {{128, "DeepSeek-V3.2, V4-Flash, V4-Pro index_head_dim"}},
	gqaDim: {
		{64, "gpt-oss-120b head_dim"},
		{128, "Llama-3.1, Qwen3 head_dim"},
		{256, "Qwen3-Next-80B-A3B, Gemma head_dim"},
	},
	ropePart: {{64, "DeepSeek-V3.2 qk_rope_head_dim"}},
	valueDim: {
		{64, "gpt-oss-120b head_dim"},
		{128, "Llama-3.1, Qwen3 head_dim"},
		{256, "Qwen3-Next-80B-A3B, Gemma head_dim"},
		{512, "DeepSeek-V3.2 kv_lora_rank, V4-Flash head_dim"},
	},
	latent: {{64, "DeepSeek-V3.2 qk_rope_head_dim"}, {512, "DeepSeek-V3.2 kv_lora_rank"}},
	keys: {
		{512, "V4-Flash index_topk"},
		{2048, "DeepSeek-V3.2 index_topk"},
		{8192, "one prefill chunk, default of SGLang and vLLM"},
		{40960, "Qwen3-235B max_position_embeddings"},
		{131072, "Llama-3.1, gpt-oss-120b, Kimi-K2 max_position_embeddings"},
	},
	table: {
		{128, "8,192 tokens in pages of 64"},
		{1024, "65,536 tokens in pages of 64"},
		{2048, "131,072 tokens in pages of 64"},
	},
	list: {
		{128, "V4-Flash, V4-Pro, gpt-oss-120b sliding_window"},
		{512, "V4-Flash index_topk"},
		{1024, "V4-Pro index_topk"},
		{2048, "DeepSeek-V3.2, GLM-5 index_topk"},
	},
	splits: {
		{2, "a prefix and a suffix"},
		{16, "split-KV of a short context"},
		{64, "split-KV of one request on a large device"},
	},
	chosen: {
		{4, "gpt-oss-120b num_experts_per_tok"},
		{6, "V4-Flash, V4-Pro num_experts_per_tok"},
		{8, "DeepSeek-V3.2, Kimi-K2, GLM-5, Qwen3-235B num_experts_per_tok"},
		{10, "Qwen3-Next-80B-A3B num_experts_per_tok"},
	},
	experts: {
		{128, "Qwen3-235B, gpt-oss-120b num_experts"},
		{256, "DeepSeek-V3.2, V4-Flash, GLM-5 n_routed_experts"},
		{384, "Kimi-K2, V4-Pro n_routed_experts"},
		{512, "Qwen3-Next-80B-A3B num_experts"},
	},
	local: {{8, "gpt-oss-120b on 16 devices"}, {32, "DeepSeek-V3.2 on 8 devices"}, {48, "Kimi-K2, V4-Pro on 8 devices"}},
	hidden: {
		{2048, "Qwen3-Next-80B-A3B hidden_size"},
		{2880, "gpt-oss-120b hidden_size"},
		{4096, "V4-Flash, Llama-3.1-8B, Qwen3-235B hidden_size"},
		{5376, "Gemma-3-27B hidden_size"},
		{6144, "GLM-5 hidden_size"},
		{7168, "DeepSeek-V3.2, V4-Pro, Kimi-K2 hidden_size"},
	},
	inner: {
		{512, "DeepSeek-V3.2 kv_lora_rank"},
		{2048, "DeepSeek-V3.2, V4-Flash moe_intermediate_size"},
		{2880, "gpt-oss-120b hidden_size"},
		{4096, "V4-Flash hidden_size"},
		{7168, "DeepSeek-V3.2, V4-Pro, Kimi-K2 hidden_size"},
	},
	blocks:  {{4, "512 in blocks of 128"}, {16, "2,048 in blocks of 128"}, {56, "7,168 in blocks of 128"}},
	streams: {{4, "V4-Flash, V4-Pro hc_mult"}, {8, "the largest hc_mult that kernels are written for"}},
	mixes:   {{24, "V4-Flash (2 + hc_mult) · hc_mult"}, {80, "the same for hc_mult 8"}},
	ratio:   {{4, "V4-Flash compress_ratios"}, {128, "V4-Flash compress_ratios"}},
	vocab:   {{65536, "a 16-bit id"}, {129280, "DeepSeek-V3.2, V4-Flash vocab_size"}},
	rotated: {{64, "DeepSeek-V3.2, V4-Flash qk_rope_head_dim"}, {128, "Llama-3.1, Qwen3 head_dim"}},
	rotary:  {{32, "half of qk_rope_head_dim"}, {64, "half of Llama's head_dim"}},
}

// lastRight lists the extents up to which a mutant is right: tiles and shipping extents below the largest, and the
// largest less one.
func lastRight(k kind) []int {
	ships := Extents[k]
	if len(ships) == 0 {
		return nil
	}
	largest := ships[len(ships)-1].N
	seen := map[int]bool{largest - 1: true}
	if largest > 64 {
		for _, t := range Tiles {
			seen[t] = t < largest || seen[t]
		}
	}
	for _, e := range ships {
		seen[e.N] = e.N < largest || seen[e.N]
	}
	return sortedTrue(seen)
}

// partialTiles lists the tiles that leave a part of a shipping extent.
func partialTiles(k kind) []int {
	var out []int
	for _, t := range Tiles {
		for _, e := range Extents[k] {
			if e.N > t && e.N%t != 0 {
				out = append(out, t)
				break
			}
		}
	}
	return out
}
