package checkpoint

import (
	"encoding/json"
	"slices"
	"strings"
)

// plainAttention lists the families whose attention and feed-forward shapes follow from hidden_size, head counts and
// intermediate_size alone, alike in every layer.
var plainAttention = map[string]bool{
	"llama": true, "mistral": true, "mixtral": true, "qwen2": true, "qwen2_moe": true, "qwen3": true, "qwen3_moe": true,
	"gemma": true, "gemma2": true, "gemma3_text": true, "phi3": true, "glm4": true, "glm4_moe": true, "minimax_m2": true,
	"gpt_oss": true, "granite": true, "olmo": true, "olmo2": true, "smollm3": true, "seed_oss": true, "starcoder2": true,
	"qwen2_vl": true, "qwen2_5_vl": true, "qwen2_vl_text": true, "qwen2_5_vl_text": true, "qwen3_next": true,
	"nemotron_h": true, "llama4_text": true, "gemma3": true,
}

// latentAttention lists the families with compressed keys and values (MLA), whose shapes follow from their ranks.
var latentAttention = map[string]bool{
	"deepseek_v2": true, "deepseek_v3": true, "kimi_k2": true, "kimi_k25": true, "glm4_moe_lite": true,
	"glm_moe_dsa": true,
}

// plainFile is what of config.json every language model has, in text_config where there are other parts.
type plainFile struct {
	Heads   count            `json:"num_attention_heads"`
	KVHeads count            `json:"num_key_value_heads"`
	HeadDim count            `json:"head_dim"`
	Inner   count            `json:"intermediate_size"`
	Expert  count            `json:"moe_intermediate_size"`
	N1      count            `json:"num_experts"`
	N2      count            `json:"n_routed_experts"`
	N3      count            `json:"num_local_experts"`
	Types   ifFits[[]string] `json:"layer_types"`
	Tied    *bool            `json:"tie_word_embeddings"`
	BOS     json.RawMessage  `json:"bos_token_id"`
	EOS     json.RawMessage  `json:"eos_token_id"`
	Pad     json.RawMessage  `json:"pad_token_id"`
	Hidden  count            `json:"hidden_size"`
	Layers  count            `json:"num_hidden_layers"`
	Vocab   count            `json:"vocab_size"`
	MTP     count            `json:"num_nextn_predict_layers"`
	MTP2    count            `json:"mtp_num_hidden_layers"`
	MTP3    count            `json:"num_mtp_modules"`
	Text    *plainFile       `json:"text_config"`
	Model   string           `json:"model_type"`
	Dim2    count            `json:"attention_head_dim"` // Nemotron-H
	Rope    count            `json:"qk_rope_head_dim"`
	Nope    count            `json:"qk_nope_head_dim"`
	VDim    count            `json:"v_head_dim"`
	QRank   count            `json:"q_lora_rank"`
	KVRank  count            `json:"kv_lora_rank"`
}

// plain fills what the general checks need; settings that are lists, one for each layer, stay 0.
func (c *Config) plain(raw []byte) {
	var f plainFile
	if json.Unmarshal(raw, &f) != nil {
		return // a setting has another form in this family
	}
	if f.Text != nil {
		tied := f.Tied
		f = *f.Text
		if f.Tied == nil {
			f.Tied = tied
		}
		c.Vocab, c.Hidden, c.Layers, c.Heads = int(f.Vocab), int(f.Hidden), int(f.Layers), int(f.Heads)
		c.RopeDim, c.NopeDim, c.VDim = int(f.Rope), int(f.Nope), int(f.VDim)
		c.QRank, c.KVRank = int(f.QRank), int(f.KVRank)
	}
	for _, name := range []string{f.Model, strings.TrimSuffix(f.Model, "_text"), c.Name} {
		if c.Shapes = name; plainAttention[name] || latentAttention[name] {
			break
		}
	}
	c.KVHeads, c.PlainDim, c.PlainInner, c.ExpertInner = int(f.KVHeads), int(f.HeadDim), int(f.Inner), int(f.Expert)
	if c.PlainDim == 0 {
		c.PlainDim = int(f.Dim2)
	}
	c.defaults(int(f.Heads), int(f.Hidden))
	c.AllExperts = int(max(f.N1, f.N2, f.N3))
	c.Types, c.Tied = f.Types.v, f.Tied
	c.MTP = max(c.MTP, int(f.MTP), int(f.MTP2), int(f.MTP3))
	c.Special = f.special()
}

// headDims is head_dim where a config.json leaves it out, of families whose default is a number; of the others it is
// hidden_size over num_attention_heads. Source: the configuration classes of transformers.
var headDims = map[string]int{
	"gemma": 256, "gemma2": 256, "gemma3_text": 256, "gemma3": 256, "qwen3": 128, "qwen3_next": 256, "glm4": 128,
	"glm4_moe": 128, "gpt_oss": 64, "seed_oss": 128, "minimax_m2": 128, "nemotron_h": 128, "llama4_text": 128,
}

// ungrouped are the families that have as many key heads as query heads where num_key_value_heads is left out; others
// have a default of their own.
var ungrouped = map[string]bool{"llama": true, "phi3": true, "granite": true, "olmo": true, "olmo2": true}

// defaults fills what config.json leaves to the family.
func (c *Config) defaults(heads, hidden int) {
	if c.KVHeads == 0 && (ungrouped[c.Shapes] || !plainAttention[c.Shapes]) {
		c.KVHeads = heads
	}
	if c.PlainDim != 0 {
		return
	}
	if heads > 0 && hidden%heads == 0 {
		c.PlainDim = hidden / heads
	}
	if n := headDims[c.Shapes]; n > 0 {
		c.OtherDim, c.PlainDim = c.PlainDim, n
	}
}

// settle decides between the family's default and hidden_size over num_attention_heads, which writers that know no
// default mean, by a query projection.
func (c *Config) settle(tensors []*tensor) {
	if c == nil || c.OtherDim == 0 {
		return
	}
	for _, t := range tensors {
		if t.weight == nil || !strings.HasSuffix(t.weight.Module, ".q_proj") || !text(t.stored) {
			continue
		}
		got, q := t.elements(), c.Heads
		if c.Shapes == "qwen3_next" {
			q *= 2
		}
		if len(got) == 2 && got[0] != q*c.PlainDim && got[0] == q*c.OtherDim {
			c.PlainDim = c.OtherDim
		}
		return
	}
}

// Special is the id of a special token and the setting that names it.
type Special struct {
	Key string
	ID  int
}

// special lists the ids of special tokens, each a number or a list.
func (f plainFile) special() []Special {
	var out []Special
	for _, set := range []struct {
		key string
		raw json.RawMessage
	}{{"bos_token_id", f.BOS}, {"eos_token_id", f.EOS}, {"pad_token_id", f.Pad}} {
		var one int
		var many []int
		if json.Unmarshal(set.raw, &one) == nil {
			many = []int{one}
		} else if json.Unmarshal(set.raw, &many) != nil {
			continue
		}
		for _, id := range many {
			out = append(out, Special{set.key, id})
		}
	}
	return out
}

// fixesShapes tells families whose settings fix the shapes of their layers. A draft model has the name of the family
// that it drafts for and other inputs.
func (c *Config) fixesShapes() bool {
	return c != nil && (plainAttention[c.Shapes] || latentAttention[c.Shapes]) && !c.draft()
}

func (c *Config) draft() bool {
	return containsAny(c.Architecture, "Eagle", "Medusa", "Draft", "Speculator", "MTP", "NextN")
}

// makesTokens tells models with an output head from encoders, reward models and drafts, which have none of their own.
func (c *Config) makesTokens() bool {
	return c.Architecture == "" || !c.draft() &&
		containsAny(c.Architecture, "CausalLM", "ConditionalGeneration", "LMHead", "ForGeneration")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

func (c *Config) allExperts() int {
	if c == nil {
		return 0
	}
	return c.AllExperts
}

func (c *Config) tied() (tied, said bool) { return c.Tied != nil && *c.Tied, c.Tied != nil }

func (c *Config) special() []Special { return c.Special }

// shapeOf lists the shapes that a module may have, outputs first, and the setting that fixes it.
func (c *Config) shapeOf(module string) (shapes [][2]int, key string) {
	if c.Hidden == 0 || c.Heads == 0 {
		return nil, ""
	}
	last := module[strings.LastIndexByte(module, '.')+1:]
	if latentAttention[c.Shapes] {
		shapes, key = c.latentShape(last)
	} else {
		shapes, key = c.headShape(last)
	}
	if key == "" {
		shapes, key = c.innerShape(module, last)
	}
	for _, s := range shapes {
		if s[0] <= 0 || s[1] <= 0 {
			return nil, ""
		}
	}
	return shapes, key
}

func (c *Config) headShape(last string) (shapes [][2]int, key string) {
	h, q, kv := c.Hidden, c.Heads*c.PlainDim, c.KVHeads*c.PlainDim
	switch last {
	case "q_proj":
		if c.Shapes == "qwen3_next" {
			q *= 2 // an output gate beside the query
		}
		return [][2]int{{q, h}}, "num_attention_heads"
	case "k_proj", "v_proj":
		return [][2]int{{kv, h}}, "num_key_value_heads"
	case "o_proj":
		return [][2]int{{h, q}}, "num_attention_heads"
	case "qkv_proj":
		return [][2]int{{q + 2*kv, h}}, "num_attention_heads"
	}
	return nil, ""
}

// latentShape: DeepSeek-V2/V3 modeling, DeepseekV3Attention.
func (c *Config) latentShape(last string) (shapes [][2]int, key string) {
	query := c.Heads * (c.NopeDim + c.RopeDim)
	switch last {
	case "q_proj":
		return [][2]int{{query, c.Hidden}}, "num_attention_heads, qk_nope_head_dim and qk_rope_head_dim"
	case "q_a_proj":
		return [][2]int{{c.QRank, c.Hidden}}, "q_lora_rank"
	case "q_b_proj":
		return [][2]int{{query, c.QRank}}, "num_attention_heads, qk_nope_head_dim and qk_rope_head_dim"
	case "kv_a_proj_with_mqa":
		return [][2]int{{c.KVRank + c.RopeDim, c.Hidden}}, "kv_lora_rank and qk_rope_head_dim"
	case "kv_b_proj":
		return [][2]int{{c.Heads * (c.NopeDim + c.VDim), c.KVRank}}, "kv_lora_rank, qk_nope_head_dim and v_head_dim"
	case "o_proj":
		return [][2]int{{c.Hidden, c.Heads * c.VDim}}, "num_attention_heads and v_head_dim"
	}
	return nil, ""
}

// innerShape is that of feed-forward layers; an expert has moe_intermediate_size where there is one.
func (c *Config) innerShape(module, last string) (shapes [][2]int, key string) {
	if strings.Contains(module, "shared_expert") || c.Shapes == "llama4_text" || c.Shapes == "qwen3_next" {
		return nil, ""
	}
	h, routed := c.Hidden, strings.Contains(module, ".experts.")
	var inners []int
	for _, n := range []int{c.PlainInner, c.ExpertInner} {
		if n > 0 && (!routed || c.ExpertInner == 0 || n == c.ExpertInner) {
			inners = append(inners, n)
		}
	}
	for _, n := range inners {
		switch last {
		case "gate_proj", "up_proj", "w1", "w3":
			shapes = append(shapes, [2]int{n, h})
		case "down_proj", "w2":
			shapes = append(shapes, [2]int{h, n})
		case "gate_up_proj":
			shapes = append(shapes, [2]int{2 * n, h})
		case "c_fc":
			shapes = append(shapes, [2]int{n, h})
		case "c_proj":
			shapes = append(shapes, [2]int{h, n})
		}
	}
	return shapes, "intermediate_size"
}

// vectorOf is the length of a norm, or the shape of a bias of fused experts, that the config fixes; nil where it does
// not.
func (c *Config) vectorOf(name string) (shape []int, key string) {
	switch {
	case c.Hidden <= 0:
	case strings.HasSuffix(name, ".input_layernorm.weight"), strings.HasSuffix(name, ".post_attention_layernorm.weight"),
		name == "model.norm.weight":
		return []int{c.Hidden}, "hidden_size"
	case strings.HasSuffix(name, ".q_a_layernorm.weight") && c.QRank > 0:
		return []int{c.QRank}, "q_lora_rank"
	case strings.HasSuffix(name, ".kv_a_layernorm.weight") && c.KVRank > 0:
		return []int{c.KVRank}, "kv_lora_rank"
	case (strings.HasSuffix(name, ".q_norm.weight") || strings.HasSuffix(name, ".k_norm.weight")) &&
		strings.HasPrefix(c.Shapes, "qwen3") && c.PlainDim > 0:
		return []int{c.PlainDim}, "head_dim"
	case strings.HasSuffix(name, ".experts.gate_up_proj_bias") && c.AllExperts > 0 && c.PlainInner > 0:
		return []int{c.AllExperts, 2 * c.PlainInner}, "num_local_experts and intermediate_size"
	case strings.HasSuffix(name, ".experts.down_proj_bias") && c.AllExperts > 0:
		return []int{c.AllExperts, c.Hidden}, "num_local_experts and hidden_size"
	}
	return nil, ""
}
