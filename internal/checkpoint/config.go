package checkpoint

import (
	"encoding/json"
	"fmt"

	"github.com/assay-suite/assay/internal/quant"
)

// The families whose names are known.
const (
	FamilyV4  = "v4"
	FamilyV32 = "v3.2"
)

// Config is what of config.json fixes names and shapes of tensors.
type Config struct {
	Family                  string // of those with a complete list of names
	Name                    string // model_type, or Family
	Vocab, Hidden, Layers   int
	Heads, HeadDim, RopeDim int
	NopeDim, VDim           int // V3.2 only
	QRank, KVRank           int // KVRank: V3.2 only
	OGroups, ORank          int // V4 only
	IndexHeads, IndexDim    int
	Experts, PerToken       int
	Shared, Inner           int
	Dense, DenseInner       int // V3.2: the first Dense layers have a plain feed-forward of DenseInner
	Streams, MTP            int
	Ratios                  []int  // V4, per main layer: tokens per compressed row, 0 for window only
	Sparse                  []bool // V4, per main layer: overlapping compressor and indexer
	Hash                    []bool // V4, per main layer: routed by tid2eid

	// Of any family; see plain.
	KVHeads, PlainDim, PlainInner, ExpertInner, AllExperts int
	Types                                                  []string
	Tied                                                   *bool
	Special                                                []Special
	Shapes                                                 string // model_type of the language model
	Architecture                                           string // the first of architectures
	OtherDim                                               int    // of a head, where config.json leaves it out
	TwoStacks                                              bool   // encoder and decoder, each with a number of layers
	Unlike                                                 bool   // settings are listed layer by layer
}

type configFile struct {
	DecoderLayers  count                  `json:"decoder_layers"`
	ModelType      string                 `json:"model_type"`
	Architectures  ifFits[[]string]       `json:"architectures"`
	Vocab          count                  `json:"vocab_size"`
	Hidden         count                  `json:"hidden_size"`
	Layers         count                  `json:"num_hidden_layers"`
	Heads          count                  `json:"num_attention_heads"`
	HeadDim        count                  `json:"head_dim"`
	RopeDim        count                  `json:"qk_rope_head_dim"`
	NopeDim        count                  `json:"qk_nope_head_dim"`
	VDim           count                  `json:"v_head_dim"`
	QRank          count                  `json:"q_lora_rank"`
	KVRank         count                  `json:"kv_lora_rank"`
	OGroups        count                  `json:"o_groups"`
	ORank          count                  `json:"o_lora_rank"`
	IndexHeads     count                  `json:"index_n_heads"`
	IndexDim       count                  `json:"index_head_dim"`
	Experts        count                  `json:"n_routed_experts"`
	PerToken       count                  `json:"num_experts_per_tok"`
	Shared         count                  `json:"n_shared_experts"`
	Inner          count                  `json:"moe_intermediate_size"`
	Dense          count                  `json:"first_k_dense_replace"`
	DenseInner     count                  `json:"intermediate_size"`
	Streams        count                  `json:"hc_mult"`
	MTP            count                  `json:"num_nextn_predict_layers"`
	CompressRatios ifFits[[]int]          `json:"compress_ratios"`
	HashLayers     count                  `json:"num_hash_layers"`
	LayerTypes     ifFits[[]string]       `json:"layer_types"`
	CompressRates  ifFits[map[string]int] `json:"compress_rates"`
	MLPLayerTypes  ifFits[[]string]       `json:"mlp_layer_types"`
	Quantization   json.RawMessage        `json:"quantization_config"`
}

// ParseConfig reads a config.json of the V4 family (original keys compress_ratios and num_hash_layers, or
// Hugging Face's layer_types, compress_rates and mlp_layer_types) or of V3.2. Of any other architecture
// only Layers is taken, and Family is "".
func ParseConfig(raw []byte) (Config, error) {
	var f configFile
	if err := json.Unmarshal(quant.PlainJSON(raw), &f); err != nil {
		return Config{}, fmt.Errorf("config.json is not a JSON object of a model's settings: %w", err)
	}
	c := Config{
		Vocab: int(f.Vocab), Hidden: int(f.Hidden), Layers: int(f.Layers), Heads: int(f.Heads),
		HeadDim: int(f.HeadDim), RopeDim: int(f.RopeDim), NopeDim: int(f.NopeDim), VDim: int(f.VDim),
		QRank: int(f.QRank), KVRank: int(f.KVRank), OGroups: int(f.OGroups), ORank: int(f.ORank),
		IndexHeads: int(f.IndexHeads), IndexDim: int(f.IndexDim), Experts: int(f.Experts),
		PerToken: int(f.PerToken), Shared: int(f.Shared), Inner: int(f.Inner), Dense: int(f.Dense),
		DenseInner: int(f.DenseInner), Streams: int(f.Streams), MTP: int(f.MTP),
	}
	named := func(name string) bool { return f.ModelType == name }
	c.Name = f.ModelType
	if len(f.Architectures.v) > 0 {
		c.Architecture = f.Architectures.v[0]
	}
	c.TwoStacks = f.DecoderLayers > 0
	c.Unlike = unlikeLayers(quant.PlainJSON(raw))
	c.plain(quant.PlainJSON(raw))
	switch {
	case named("deepseek_v4") || f.Streams > 0 && f.OGroups > 0:
		c.Family, c.Name = FamilyV4, FamilyV4
		if err := c.layersV4(f); err != nil {
			return Config{}, err
		}
	case named("deepseek_v32") || f.KVRank > 0 && f.IndexHeads > 0:
		c.Family, c.Name = FamilyV32, FamilyV32
	default:
		return c, nil
	}
	return c, c.positive()
}

// layersV4 fills what each layer is made of, from either form of the config.
func (c *Config) layersV4(f configFile) error {
	if c.Layers == 0 {
		c.Layers = len(f.LayerTypes.v)
	}
	if c.Layers <= 0 || c.Layers > 10_000 {
		return fmt.Errorf("config.json: num_hidden_layers is %d; it must be from 1 to 10000", c.Layers)
	}
	c.Ratios, c.Sparse, c.Hash = make([]int, c.Layers), make([]bool, c.Layers), make([]bool, c.Layers)
	switch {
	case len(f.CompressRatios.v) >= c.Layers: // one more entry for each MTP layer
		copy(c.Ratios, f.CompressRatios.v)
		for i, r := range c.Ratios {
			c.Sparse[i] = r == 4
		}
	case len(f.LayerTypes.v) == c.Layers:
		for i, kind := range f.LayerTypes.v {
			c.Ratios[i] = f.CompressRates.v[kind]
			c.Sparse[i] = kind == "compressed_sparse_attention"
		}
	default:
		return fmt.Errorf("config.json: num_hidden_layers is %d, but compress_ratios has %d entries and layer_types %d; "+
			"correct the one that is wrong", c.Layers, len(f.CompressRatios.v), len(f.LayerTypes.v))
	}
	if n := len(f.MLPLayerTypes.v); n != 0 && n != c.Layers {
		return fmt.Errorf("config.json: num_hidden_layers is %d, but mlp_layer_types has %d entries; correct the one that "+
			"is wrong", c.Layers, n)
	}
	for i := range c.Hash {
		c.Hash[i] = i < int(f.HashLayers) || i < len(f.MLPLayerTypes.v) && f.MLPLayerTypes.v[i] == "hash_moe"
	}
	return nil
}

// positive refuses settings that no tensor can have.
func (c *Config) positive() error {
	rows := []struct {
		key string
		v   int
		v4  bool
		v32 bool
	}{
		{"vocab_size", c.Vocab, true, true},
		{"hidden_size", c.Hidden, true, true},
		{"num_hidden_layers", c.Layers, true, true},
		{"num_attention_heads", c.Heads, true, true},
		{"head_dim", c.HeadDim, true, false},
		{"qk_rope_head_dim", c.RopeDim, false, true},
		{"qk_nope_head_dim", c.NopeDim, false, true},
		{"v_head_dim", c.VDim, false, true},
		{"q_lora_rank", c.QRank, true, true},
		{"kv_lora_rank", c.KVRank, false, true},
		{"o_groups", c.OGroups, true, false},
		{"o_lora_rank", c.ORank, true, false},
		{"index_n_heads", c.IndexHeads, true, true},
		{"index_head_dim", c.IndexDim, true, true},
		{"n_routed_experts", c.Experts, true, true},
		{"num_experts_per_tok", c.PerToken, true, true},
		{"n_shared_experts", c.Shared, true, true},
		{"moe_intermediate_size", c.Inner, true, true},
		{"hc_mult", c.Streams, true, false},
	}
	for _, r := range rows {
		wanted := r.v4 && c.Family == FamilyV4 || r.v32 && c.Family == FamilyV32
		if wanted && (r.v <= 0 || r.v > 1<<30) {
			return fmt.Errorf("config.json: %s is missing or %d; a %s model needs a positive one", r.key, r.v, c.Family)
		}
	}
	if c.MTP < 0 || c.MTP > 1000 || c.Layers > 10_000 || (c.Layers+c.MTP)*c.Experts > 10_000_000 || c.Experts > 1<<20 {
		return fmt.Errorf("config.json: %d layers, %d that predict ahead and %d experts; no model has as "+
			"many", c.Layers, c.MTP,
			c.Experts)
	}
	if c.Family == FamilyV4 && c.Heads%c.OGroups != 0 {
		return fmt.Errorf("config.json: %d heads do not divide into o_groups %d", c.Heads, c.OGroups)
	}
	if c.Dense > 0 && c.DenseInner <= 0 {
		return fmt.Errorf("config.json: first_k_dense_replace is %d, but intermediate_size is missing", c.Dense)
	}
	return nil
}
