package nano

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/assay-suite/assay/fixtures"
	"github.com/assay-suite/assay/oracle"
)

// Config holds what the model's math depends on, read from a Hugging Face config.json.
type Config struct {
	Vocab, Hidden, Layers             int
	Heads, HeadDim, RopeDims          int
	QRank, OGroups, ORank             int
	Window, TopK                      int
	IndexHeads, IndexDim              int
	Experts, ExpertsPerToken, Inner   int
	Ratios                            []int  // per layer: 0 window only, else tokens per compressed row
	Sparse                            []bool // per layer: overlapping compressor and indexer
	Hash                              []bool // per layer: hash-routed
	RopeBase, CompressedRopeBase      float64
	NormEps, RoutedScaling, ClampSwiG float64
	HC                                oracle.HCConfig
	MaxPositions                      int
}

type configFile struct {
	HiddenSize     int            `json:"hidden_size"`
	VocabSize      int            `json:"vocab_size"`
	LayerTypes     []string       `json:"layer_types"`
	MLPLayerTypes  []string       `json:"mlp_layer_types"`
	CompressRates  map[string]int `json:"compress_rates"`
	Ratios         []int          `json:"compress_ratios"`
	HashLayers     int            `json:"num_hash_layers"`
	Heads          int            `json:"num_attention_heads"`
	HeadDim        int            `json:"head_dim"`
	RopeDims       int            `json:"qk_rope_head_dim"`
	QRank          int            `json:"q_lora_rank"`
	OGroups        int            `json:"o_groups"`
	ORank          int            `json:"o_lora_rank"`
	Window         int            `json:"sliding_window"`
	IndexHeads     int            `json:"index_n_heads"`
	IndexDim       int            `json:"index_head_dim"`
	IndexTopK      int            `json:"index_topk"`
	Experts        int            `json:"n_routed_experts"`
	ExpertsPerTok  int            `json:"num_experts_per_tok"`
	Inner          int            `json:"moe_intermediate_size"`
	RopeTheta      float64        `json:"rope_theta"`
	CompressTheta  float64        `json:"compress_rope_theta"`
	NormEps        float64        `json:"rms_norm_eps"`
	RoutedScaling  float64        `json:"routed_scaling_factor"`
	SwiGLULimit    float64        `json:"swiglu_limit"`
	HCMult         int            `json:"hc_mult"`
	HCIters        int            `json:"hc_sinkhorn_iters"`
	HCEps          float64        `json:"hc_eps"`
	MaxPositions   int            `json:"max_position_embeddings"`
	ScoringFunc    string         `json:"scoring_func"`
	RopeParameters map[string]struct {
		Type string `json:"rope_type"`
	} `json:"rope_parameters"`
}

// LoadConfig reads config.json in fsys; a folder without one (the quantised twins) has nano-v4's.
func LoadConfig(fsys fs.FS) (Config, error) {
	raw, err := fs.ReadFile(fsys, "config.json")
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = fixtures.FS.ReadFile("nano-v4/config.json")
	}
	if err != nil {
		return Config{}, fmt.Errorf("config.json cannot be read: %w", err)
	}
	var f configFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return Config{}, fmt.Errorf("config.json is not a Hugging Face config: %w", err)
	}
	f.release()
	return f.config()
}

// release turns the release's way of saying the kinds of layers, a ratio each and the number of hash-routed ones, into
// Hugging Face's. In the release ratio 4 is the sparse one.
func (f *configFile) release() {
	if len(f.LayerTypes) > 0 {
		return
	}
	f.CompressRates = map[string]int{}
	for i, ratio := range f.Ratios {
		kind, experts := "heavily_compressed_attention", "moe"
		switch ratio {
		case 0:
			kind = "sliding_attention"
		case 4:
			kind = "compressed_sparse_attention"
		}
		if i < f.HashLayers {
			experts = "hash_moe"
		}
		f.CompressRates[kind] = ratio
		f.LayerTypes, f.MLPLayerTypes = append(f.LayerTypes, kind), append(f.MLPLayerTypes, experts)
	}
}

func (f configFile) config() (Config, error) {
	c := Config{
		Vocab: f.VocabSize, Hidden: f.HiddenSize, Layers: len(f.LayerTypes),
		Heads: f.Heads, HeadDim: f.HeadDim, RopeDims: f.RopeDims,
		QRank: f.QRank, OGroups: f.OGroups, ORank: f.ORank,
		Window: f.Window, TopK: f.IndexTopK, IndexHeads: f.IndexHeads, IndexDim: f.IndexDim,
		Experts: f.Experts, ExpertsPerToken: f.ExpertsPerTok, Inner: f.Inner,
		RopeBase: f.RopeTheta, CompressedRopeBase: f.CompressTheta,
		NormEps: f.NormEps, RoutedScaling: f.RoutedScaling, ClampSwiG: f.SwiGLULimit,
		HC:           oracle.HCConfig{Streams: f.HCMult, Iterations: f.HCIters, Eps: f.HCEps, NormEps: f.NormEps},
		MaxPositions: f.MaxPositions,
	}
	for name, v := range map[string]int{
		"hidden_size": c.Hidden, "vocab_size": c.Vocab, "num_attention_heads": c.Heads, "head_dim": c.HeadDim,
		"q_lora_rank": c.QRank, "o_groups": c.OGroups, "o_lora_rank": c.ORank, "sliding_window": c.Window,
		"hc_mult": f.HCMult, "hc_sinkhorn_iters": f.HCIters, "n_routed_experts": c.Experts,
		"num_experts_per_tok": c.ExpertsPerToken, "moe_intermediate_size": c.Inner, "layer_types": c.Layers,
		"max_position_embeddings": c.MaxPositions,
	} {
		if v <= 0 {
			return Config{}, fmt.Errorf("config.json: %s is missing or %d; it must be positive", name, v)
		}
	}
	if f.ScoringFunc != "sqrtsoftplus" {
		return Config{}, fmt.Errorf("config.json: scoring_func is %q; this model knows %q", f.ScoringFunc, "sqrtsoftplus")
	}
	for name, p := range f.RopeParameters {
		if p.Type != "default" {
			return Config{}, fmt.Errorf("config.json: rope_parameters.%s.rope_type is %q; this model knows %q", name, p.Type,
				"default")
		}
	}
	if len(f.MLPLayerTypes) != c.Layers {
		return Config{}, fmt.Errorf("config.json: mlp_layer_types has %d entries for %d layers", len(f.MLPLayerTypes),
			c.Layers)
	}
	if c.Heads%c.OGroups != 0 || c.RopeDims%2 != 0 || c.RopeDims > c.HeadDim {
		return Config{}, fmt.Errorf("config.json: %d heads in %d groups with %d of %d dims rotated do not fit together",
			c.Heads, c.OGroups, c.RopeDims, c.HeadDim)
	}
	for i, kind := range f.LayerTypes {
		ratio := 0
		switch kind {
		case "sliding_attention":
		case "compressed_sparse_attention", "heavily_compressed_attention":
			if ratio = f.CompressRates[kind]; ratio <= 0 {
				return Config{}, fmt.Errorf("config.json: compress_rates has no rate for layer %d, a %q", i, kind)
			}
		default:
			return Config{}, fmt.Errorf("config.json: layer_types[%d] is %q; known are sliding_attention, "+
				"compressed_sparse_attention, heavily_compressed_attention", i, kind)
		}
		c.Ratios = append(c.Ratios, ratio)
		c.Sparse = append(c.Sparse, kind == "compressed_sparse_attention")
		c.Hash = append(c.Hash, f.MLPLayerTypes[i] == "hash_moe")
	}
	return c, nil
}
