package checkpoint

import (
	"encoding/json"
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
	Heads   int             `json:"num_attention_heads"`
	KVHeads int             `json:"num_key_value_heads"`
	HeadDim int             `json:"head_dim"`
	Inner   int             `json:"intermediate_size"`
	Expert  int             `json:"moe_intermediate_size"`
	N1      int             `json:"num_experts"`
	N2      int             `json:"n_routed_experts"`
	N3      int             `json:"num_local_experts"`
	Types   []string        `json:"layer_types"`
	Tied    *bool           `json:"tie_word_embeddings"`
	BOS     json.RawMessage `json:"bos_token_id"`
	EOS     json.RawMessage `json:"eos_token_id"`
	Pad     json.RawMessage `json:"pad_token_id"`
	Hidden  int             `json:"hidden_size"`
	Layers  int             `json:"num_hidden_layers"`
	Vocab   int             `json:"vocab_size"`
	MTP     int             `json:"num_nextn_predict_layers"`
	MTP2    int             `json:"mtp_num_hidden_layers"`
	MTP3    int             `json:"num_mtp_modules"`
	Text    *plainFile      `json:"text_config"`
	Model   string          `json:"model_type"`
	Dim2    int             `json:"attention_head_dim"` // Nemotron-H
	Rope    int             `json:"qk_rope_head_dim"`
	Nope    int             `json:"qk_nope_head_dim"`
	VDim    int             `json:"v_head_dim"`
	QRank   int             `json:"q_lora_rank"`
	KVRank  int             `json:"kv_lora_rank"`
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
		c.Vocab, c.Hidden, c.Layers, c.Heads = f.Vocab, f.Hidden, f.Layers, f.Heads
		c.RopeDim, c.NopeDim, c.VDim, c.QRank, c.KVRank = f.Rope, f.Nope, f.VDim, f.QRank, f.KVRank
	}
	for _, name := range []string{f.Model, strings.TrimSuffix(f.Model, "_text"), c.Name} {
		if c.Shapes = name; plainAttention[name] || latentAttention[name] {
			break
		}
	}
	if f.HeadDim == 0 {
		f.HeadDim = f.Dim2
	}
	c.KVHeads, c.PlainDim, c.PlainInner, c.ExpertInner = f.KVHeads, f.HeadDim, f.Inner, f.Expert
	if c.KVHeads == 0 {
		c.KVHeads = f.Heads
	}
	if c.PlainDim == 0 && f.Heads > 0 {
		c.PlainDim = f.Hidden / f.Heads
	}
	c.AllExperts = max(f.N1, f.N2, f.N3)
	c.Types, c.Tied = f.Types, f.Tied
	c.MTP = max(c.MTP, f.MTP, f.MTP2, f.MTP3)
	c.Special = f.special()
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
