package inflate

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Shape is the sizes of a large model of the DeepSeek-V4 architecture. What changes the function is not among them:
// window, compress ratios of the layers that carry the function, index top-k, hyper-connection streams.
type Shape struct {
	Name                 string
	Hidden, QRank        int
	Heads, HeadDim       int
	RopeDims             int // the last of HeadDim and of IndexDim
	IndexHeads, IndexDim int
	Groups, ORank        int // of the output projection
	Inner, TopExperts    int // of an expert; experts of a token
	HashLayers           int // the first layers, whose experts a table chooses
	Ratios               []int
	Experts              int // of the model itself; a folder has fewer, unless asked

	KeyHeads, Layers int // of a plain Llama, which has none of the sizes below HeadDim but Inner; 0: DeepSeek-V4
}

// ratios are first, then the pair (4, 128) n times, then a last 4.
func ratios(n int, first ...int) []int {
	return append(append(first, slices.Repeat([]int{4, 128}, n)...), 4)
}

// Shapes are the shapes that are known by name. Sources: config.json of the models; v3.2-like has V3.2's hidden size,
// heads and query rank in V4's architecture, since V3.2 itself has another one; small and llama-small are of no model,
// for CPUs. The last two are plain Llamas, for nano-llama.
func Shapes() []Shape {
	flash := Shape{
		Name: "v4-flash", Hidden: 4096, QRank: 1024, Heads: 64, HeadDim: 512, RopeDims: 64, IndexHeads: 64, IndexDim: 128,
		Groups: 8, ORank: 1024, Inner: 2048, TopExperts: 6, HashLayers: 3, Ratios: ratios(20, 0, 0), Experts: 256,
	}
	pro := flash
	pro.Name, pro.Hidden, pro.QRank, pro.Heads, pro.Groups, pro.Inner = "v4-pro", 7168, 1536, 128, 16, 3072
	pro.Ratios, pro.Experts = ratios(29, 128, 128), 384
	v32 := flash
	v32.Name, v32.Hidden, v32.QRank, v32.Heads, v32.TopExperts = "v3.2-like", 7168, 1536, 128, 8
	v32.Ratios = ratios(29, 0, 0)
	return []Shape{flash, pro, v32, {
		Name: "small", Hidden: 512, QRank: 160, Heads: 16, HeadDim: 128, RopeDims: 32, IndexHeads: 8, IndexDim: 64,
		Groups: 4, ORank: 96, Inner: 160, TopExperts: 6, HashLayers: 3, Ratios: ratios(4, 0, 0), Experts: 64,
	}, {
		Name: "llama-3-8b", Hidden: 4096, Heads: 32, KeyHeads: 8, HeadDim: 128, Inner: 14336, Layers: 32,
	}, {
		Name: "llama-small", Hidden: 512, Heads: 16, KeyHeads: 4, HeadDim: 128, Inner: 480, Layers: 8,
	}}
}

// Lookup gives the shape of a name, or of a config.json of this architecture at that path.
func Lookup(name string) (Shape, error) {
	var known []string
	for _, s := range Shapes() {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return Shape{}, fmt.Errorf("shape %q is neither known (%s) nor a config.json that can be read: %w", name,
			strings.Join(known, ", "), err)
	}
	return parseShape(name, raw)
}

func parseShape(name string, raw []byte) (Shape, error) {
	var f struct {
		Hidden     int    `json:"hidden_size"`
		QRank      int    `json:"q_lora_rank"`
		Heads      int    `json:"num_attention_heads"`
		HeadDim    int    `json:"head_dim"`
		RopeDims   int    `json:"qk_rope_head_dim"`
		IndexHeads int    `json:"index_n_heads"`
		IndexDim   int    `json:"index_head_dim"`
		Groups     int    `json:"o_groups"`
		ORank      int    `json:"o_lora_rank"`
		Inner      int    `json:"moe_intermediate_size"`
		TopExperts int    `json:"num_experts_per_tok"`
		HashLayers int    `json:"num_hash_layers"`
		Ratios     []int  `json:"compress_ratios"`
		Experts    int    `json:"n_routed_experts"`
		Layers     int    `json:"num_hidden_layers"`
		KeyHeads   int    `json:"num_key_value_heads"`
		LlamaInner int    `json:"intermediate_size"`
		Type       string `json:"model_type"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return Shape{}, fmt.Errorf("%s is not a config.json: %w", name, err)
	}
	if f.Type == "llama" {
		s := Shape{
			Name: name, Hidden: f.Hidden, Heads: f.Heads, KeyHeads: f.KeyHeads, HeadDim: f.HeadDim, Inner: f.LlamaInner,
			Layers: f.Layers,
		}
		if s.HeadDim == 0 && s.Heads > 0 {
			s.HeadDim = s.Hidden / s.Heads // as transformers fills it in
		}
		if s.Hidden < 1 || s.Heads < 1 || s.KeyHeads < 1 || s.HeadDim < 1 || s.Inner < 1 || s.Layers < 1 {
			return Shape{}, fmt.Errorf("%s: a size of the Llama is missing or below 1: hidden_size %d, num_attention_heads %d, "+
				"num_key_value_heads %d, intermediate_size %d, num_hidden_layers %d", name, s.Hidden, s.Heads, s.KeyHeads, s.Inner,
				s.Layers)
		}
		return s, nil
	}
	s := Shape{
		Name: name, Hidden: f.Hidden, QRank: f.QRank, Heads: f.Heads, HeadDim: f.HeadDim, RopeDims: f.RopeDims,
		IndexHeads: f.IndexHeads, IndexDim: f.IndexDim, Groups: f.Groups, ORank: f.ORank, Inner: f.Inner,
		TopExperts: f.TopExperts, HashLayers: f.HashLayers, Experts: f.Experts,
		Ratios: f.Ratios[:min(len(f.Ratios), max(f.Layers, 0))], // a further entry is the MTP layer's
	}
	for _, field := range []struct {
		name string
		v    int
	}{
		{"hidden_size", s.Hidden},
		{"q_lora_rank", s.QRank},
		{"num_attention_heads", s.Heads},
		{"head_dim", s.HeadDim},
		{"qk_rope_head_dim", s.RopeDims},
		{"index_n_heads", s.IndexHeads},
		{"index_head_dim", s.IndexDim},
		{"o_groups", s.Groups},
		{"o_lora_rank", s.ORank},
		{"moe_intermediate_size", s.Inner},
		{"num_experts_per_tok", s.TopExperts},
	} {
		if field.v <= 0 {
			return Shape{}, fmt.Errorf("%s: %s is missing or %d; a shape needs a config.json of the DeepSeek-V4 architecture",
				name, field.name, field.v)
		}
	}
	return s, nil
}
