package llama

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Config holds what the math depends on, in the fields of a Hugging Face config.json of model_type llama.
type Config struct {
	ModelType    string  `json:"model_type"`
	Vocab        int     `json:"vocab_size"`
	Hidden       int     `json:"hidden_size"`
	Inner        int     `json:"intermediate_size"`
	Layers       int     `json:"num_hidden_layers"`
	Heads        int     `json:"num_attention_heads"`
	KVHeads      int     `json:"num_key_value_heads"`
	HeadDim      int     `json:"head_dim"`
	MaxPositions int     `json:"max_position_embeddings"`
	RopeBase     float64 `json:"rope_theta"`
	NormEps      float64 `json:"rms_norm_eps"`
}

// declared are fields that this package does not compute: present and true or set means another function.
type declared struct {
	Tied        bool           `json:"tie_word_embeddings"`
	Bias        bool           `json:"attention_bias"`
	MLPBias     bool           `json:"mlp_bias"`
	RopeScaling map[string]any `json:"rope_scaling"`
	Activation  string         `json:"hidden_act"`
}

// Is tells whether the folder's config.json declares a plain Llama. A folder without a readable config.json is none.
func Is(fsys fs.FS) bool {
	raw, err := fs.ReadFile(fsys, "config.json")
	var c Config
	return err == nil && json.Unmarshal(raw, &c) == nil && c.ModelType == "llama"
}

// LoadConfig reads config.json. It fails on another model_type, on sizes that do not fit each other and on options that
// this package does not compute.
func LoadConfig(fsys fs.FS) (Config, error) {
	raw, err := fs.ReadFile(fsys, "config.json")
	if err != nil {
		return Config{}, fmt.Errorf("reading config.json: %w", err)
	}
	var c Config
	var d declared
	if err := errors.Join(json.Unmarshal(raw, &c), json.Unmarshal(raw, &d)); err != nil {
		return Config{}, fmt.Errorf("config.json is not a model config: %w", err)
	}
	switch {
	case c.ModelType != "llama":
		return Config{}, fmt.Errorf("config.json: model_type is %q, want \"llama\"", c.ModelType)
	case d.Tied || d.Bias || d.MLPBias || len(d.RopeScaling) > 0 || d.Activation != "silu":
		return Config{}, errors.New("config.json: tied embeddings, biases, rope_scaling and activations other than silu " +
			"are not supported; nano-llama has none of them")
	case c.Vocab < 1 || c.Hidden < 1 || c.Inner < 1 || c.Layers < 1 || c.HeadDim < 2 || c.MaxPositions < 1:
		return Config{}, fmt.Errorf("config.json: a size is missing or below 1: %+v", c)
	case c.KVHeads < 1 || c.Heads < 1 || c.Heads%c.KVHeads != 0 || c.HeadDim%2 != 0:
		return Config{}, fmt.Errorf("config.json: %d heads over %d key heads of %d channels: heads must be a multiple of "+
			"key heads, and channels even", c.Heads, c.KVHeads, c.HeadDim)
	case !(c.RopeBase > 1) || !(c.NormEps > 0):
		return Config{}, fmt.Errorf("config.json: rope_theta is %v, want above 1; rms_norm_eps is %v, want above 0",
			c.RopeBase, c.NormEps)
	}
	return c, nil
}
