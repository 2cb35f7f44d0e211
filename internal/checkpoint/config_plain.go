package checkpoint

import (
	"encoding/json"
	"strings"
)

// plainAttention lists the families whose attention and feed-forward shapes follow from hidden_size, head counts and
// intermediate_size alone, alike in every layer.
var plainAttention = map[string]bool{
	"llama": true, "mistral": true, "mixtral": true, "qwen2": true, "qwen2_moe": true, "qwen3": true, "qwen3_moe": true,
	"gemma2": true, "gemma3_text": true, "phi3": true, "glm4_moe": true, "minimax_m2": true, "gpt_oss": true,
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
	for _, id := range []json.RawMessage{f.BOS, f.EOS, f.Pad} {
		var one int
		var many []int
		if json.Unmarshal(id, &one) == nil {
			many = []int{one}
		} else if json.Unmarshal(id, &many) != nil {
			continue
		}
		c.Special = append(c.Special, many...)
	}
}

func (c *Config) allExperts() int {
	if c == nil {
		return 0
	}
	return c.AllExperts
}

func (c *Config) tied() (tied, said bool) { return c.Tied != nil && *c.Tied, c.Tied != nil }

func (c *Config) special() []int { return c.Special }

// shapeOf lists the shapes that a module may have, outputs first, and the setting that fixes it.
func (c *Config) shapeOf(module string) (shapes [][2]int, key string) {
	h, q, kv, inner := c.Hidden, c.Heads*c.PlainDim, c.KVHeads*c.PlainDim, c.PlainInner
	if h == 0 || q == 0 || kv == 0 {
		return nil, ""
	}
	last := module[strings.LastIndexByte(module, '.')+1:]
	routed := strings.Contains(module, ".experts.")
	var inners []int
	for _, n := range []int{inner, c.ExpertInner} {
		if n > 0 && (!routed || c.ExpertInner == 0 || n == c.ExpertInner) {
			inners = append(inners, n)
		}
	}
	if strings.Contains(module, "shared_expert") {
		return nil, ""
	}
	switch last {
	case "q_proj":
		return [][2]int{{q, h}}, "num_attention_heads"
	case "k_proj", "v_proj":
		return [][2]int{{kv, h}}, "num_key_value_heads"
	case "o_proj":
		return [][2]int{{h, q}}, "num_attention_heads"
	case "qkv_proj":
		return [][2]int{{q + 2*kv, h}}, "num_attention_heads"
	case "gate_proj", "up_proj", "w1", "w3":
		for _, n := range inners {
			shapes = append(shapes, [2]int{n, h})
		}
		return shapes, "intermediate_size"
	case "down_proj", "w2":
		for _, n := range inners {
			shapes = append(shapes, [2]int{h, n})
		}
		return shapes, "intermediate_size"
	case "gate_up_proj":
		for _, n := range inners {
			shapes = append(shapes, [2]int{2 * n, h})
		}
		return shapes, "intermediate_size"
	}
	return nil, ""
}
