package blind

// Tiles are the tiles of production kernels whose last, partial one is dropped, doubled or read from its neighbour.
var Tiles = []int{16, 32, 48, 64, 96, 128, 256}

// Extent is a size that ships, with the models that have it and the key of their configuration; or what else it is of.
type Extent struct {
	N      int
	Source string
}

// Configs says where the models' figures were read: public repositories, at a commit. Keys have the names of a Hugging
// Face config.json, whatever the file calls them (n_heads, --num-attention-heads).
var Configs = map[string]string{
	"DeepSeek-V3.2":  "awesome-mini-project/DeepSeek-V3.2-Exp@09c734b inference/config_671B_v3.2.json (a copy)",
	"V4-Flash":       "Mockingjay1316/deepseek-v4-flash-spark@0825add config.json (a copy)",
	"V4-Pro":         "Nicooo-Wang/DeepSeek-V4-Pro-code@2074660 config.json (a copy)",
	"GLM-5":          "huggingface/transformers@598881b models/glm_moe_dsa/configuration_glm_moe_dsa.py, the defaults",
	"Kimi-K2":        "vllm-project/vime@b332ffc scripts/models/kimi-k2.sh; its context is 32 times the 4,096 of YaRN",
	"Qwen3-235B":     "zyzshishui/slime@a293863 scripts/models/qwen3-235B-A22B.sh",
	"Qwen3-Next-80B": "huggingface/transformers@249ef81 models/qwen3_next/configuration_qwen3_next.py, the defaults",
	"gpt-oss-120b":   "huggingface/transformers@828a27f models/gpt_oss/configuration_gpt_oss.py, the defaults",
	"Llama-3.1":      "meta-llama/llama-models@084b88e models/sku_list.py",
	"Gemma":          "google/gemma_pytorch@03e6575 gemma/config.py: 2B, 7B, and Gemma 2 27B",
}

// Unsourced are figures that public text has, and no repository that could be named.
var Unsourced = map[string]string{
	"40960": "Qwen3-235B max_position_embeddings: in text quoted by a code search, without its repository",
	"5376":  "Gemma-3-27B hidden_size: the same",
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
	indexPairs kind = "rotary pairs of an index key"
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
		{8, "Gemma (2B) num_attention_heads"},
		{16, "Qwen3-Next-80B num_attention_heads"},
		{32, "Llama-3.1 (8B), Gemma (2 27B) num_attention_heads"},
		{64, "V4-Flash, Kimi-K2, GLM-5, gpt-oss-120b, Qwen3-235B num_attention_heads"},
		{128, "DeepSeek-V3.2, V4-Pro, Llama-3.1 (405B) num_attention_heads"},
	},
	kvHeads: {
		{2, "Qwen3-Next-80B num_key_value_heads"},
		{4, "Qwen3-235B num_key_value_heads"},
		{8, "Llama-3.1, gpt-oss-120b num_key_value_heads"},
		{16, "Gemma (2 27B) num_key_value_heads"},
	},
	headDim: {
		{64, "gpt-oss-120b head_dim"},
		{128, "Llama-3.1, Qwen3-235B, Gemma (2 27B) head_dim"},
		{256, "Qwen3-Next-80B, Gemma (7B) head_dim"},
		{512, "V4-Flash, V4-Pro head_dim"},
		{576, "DeepSeek-V3.2 kv_lora_rank + qk_rope_head_dim"},
	},
	indexHeads: {{32, "GLM-5 index_n_heads"}, {64, "DeepSeek-V3.2, V4-Flash, V4-Pro index_n_heads"}},
	indexDim:   {{128, "DeepSeek-V3.2, V4-Flash, V4-Pro, GLM-5 index_head_dim"}},
	gqaDim: {
		{64, "gpt-oss-120b head_dim"},
		{128, "Llama-3.1, Qwen3-235B, Gemma (2 27B) head_dim"},
		{256, "Qwen3-Next-80B, Gemma (7B) head_dim"},
	},
	ropePart: {{64, "DeepSeek-V3.2, Kimi-K2, GLM-5 qk_rope_head_dim"}},
	valueDim: {
		{64, "gpt-oss-120b head_dim"},
		{128, "Llama-3.1, Qwen3-235B, Gemma (2 27B) head_dim"},
		{256, "Qwen3-Next-80B, Gemma (7B) head_dim"},
		{512, "DeepSeek-V3.2 kv_lora_rank, V4-Flash head_dim"},
	},
	latent: {{64, "DeepSeek-V3.2, Kimi-K2, GLM-5 qk_rope_head_dim"}, {512, "DeepSeek-V3.2, Kimi-K2, GLM-5 kv_lora_rank"}},
	keys: {
		{512, "V4-Flash index_topk"},
		{2048, "DeepSeek-V3.2 index_topk"},
		{8192, "a prefill chunk: SGLang's chunked_prefill_size on devices of 80 GB"},
		{40960, "Qwen3-235B max_position_embeddings (unsourced)"},
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
		{10, "Qwen3-Next-80B num_experts_per_tok"},
	},
	experts: {
		{128, "Qwen3-235B, gpt-oss-120b num_experts"},
		{256, "DeepSeek-V3.2, V4-Flash, GLM-5 n_routed_experts"},
		{384, "Kimi-K2, V4-Pro n_routed_experts"},
		{512, "Qwen3-Next-80B num_experts"},
	},
	local: {{8, "gpt-oss-120b on 16 devices"}, {32, "DeepSeek-V3.2 on 8 devices"}, {48, "Kimi-K2, V4-Pro on 8 devices"}},
	// The hidden sizes of Llama-3.1 (70B and 405B: 8,192 and 16,384) and intermediate sizes (18,432 in DeepSeek-V3.2,
	// 53,248 in Llama-3.1) are no extents yet: norm and gemm have no rows of that many channels.
	hidden: {
		{2048, "Qwen3-Next-80B, Gemma (2B) hidden_size"},
		{2880, "gpt-oss-120b hidden_size"},
		{4096, "V4-Flash, Llama-3.1 (8B), Qwen3-235B hidden_size"},
		{5376, "Gemma-3-27B hidden_size (unsourced)"},
		{6144, "GLM-5 hidden_size"},
		{7168, "DeepSeek-V3.2, V4-Pro, Kimi-K2 hidden_size"},
	},
	inner: {
		{512, "DeepSeek-V3.2, Kimi-K2, GLM-5 kv_lora_rank"},
		{2048, "DeepSeek-V3.2, V4-Flash, Kimi-K2, GLM-5 moe_intermediate_size"},
		{2880, "gpt-oss-120b hidden_size"},
		{4096, "V4-Flash hidden_size"},
		{7168, "DeepSeek-V3.2, V4-Pro, Kimi-K2 hidden_size"},
	},
	blocks:     {{4, "512 in blocks of 128"}, {16, "2,048 in blocks of 128"}, {56, "7,168 in blocks of 128"}},
	streams:    {{4, "V4-Flash, V4-Pro hc_mult"}, {8, "the largest hc_mult that kernels are written for"}},
	mixes:      {{24, "V4-Flash (2 + hc_mult) · hc_mult"}, {80, "the same for hc_mult 8"}},
	ratio:      {{4, "V4-Flash compress_ratios"}, {128, "V4-Flash compress_ratios"}},
	vocab:      {{65536, "a 16-bit id"}, {129280, "DeepSeek-V3.2, V4-Flash vocab_size"}},
	rotated:    {{64, "DeepSeek-V3.2, V4-Flash qk_rope_head_dim"}, {128, "Llama-3.1, Qwen3-235B, Gemma (2 27B) head_dim"}},
	indexPairs: {{32, "half of the qk_rope_head_dim of DeepSeek-V3.2, V4-Flash, GLM-5"}},
	rotary:     {{32, "half of DeepSeek-V3.2's qk_rope_head_dim"}, {64, "half of Llama-3.1's head_dim"}},
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
