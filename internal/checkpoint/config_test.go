package checkpoint_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// beside is a sound folder with settings and files put beside its weights.
func beside(t *testing.T, pair string, config map[string]any, files map[string]string) *folder {
	t.Helper()
	scheme, fam, _ := strings.Cut(pair, "/")
	f := drawn(t, scheme, fam, 3)
	for key, v := range config {
		if v == nil {
			delete(f.config, key)
		} else {
			f.config[key] = v
		}
	}
	for name, text := range files {
		f.files[name] = []byte(text)
	}
	return f
}

const chatML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"

type object = map[string]any

// Settings of the rotation as published configs have them.
var soundRopes = []object{
	{"rope_theta": 10000.0},
	{"rope_theta": 500000, "rope_scaling": object{
		"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
		"original_max_position_embeddings": 8192,
	}},
	{"rope_scaling": object{"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}},
	{"rope_scaling": object{"type": "longrope", "short_factor": ones(gDim / 2), "long_factor": ones(gDim / 2)}},
	{"rope_scaling": object{"type": "mrope", "mrope_section": []int{4, 6, 6}}},
	{"rope_scaling": nil, "partial_rotary_factor": 0.5},
	{"rope_parameters": object{"rope_theta": 1e6, "rope_type": "default"}},
	{"rope_parameters": object{
		"full_attention":    object{"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
		"sliding_attention": object{"rope_theta": 1e4, "rope_type": "default"},
	}},
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

func TestSettingsBesideSoundWeights(t *testing.T) {
	t.Parallel()
	template, err := json.Marshal(object{"chat_template": chatML, "model_max_length": 1e30})
	require.NoError(t, err)
	named, err := json.Marshal(object{"chat_template": []object{{"name": "default", "template": chatML}}})
	require.NoError(t, err)
	for _, config := range soundRopes {
		noFault(t, beside(t, "bf16/llama", config, nil))
	}
	for _, files := range []map[string]string{
		{"tokenizer_config.json": string(template)},
		{"tokenizer_config.json": string(named), "generation_config.json": `{"eos_token_id":[1,2],"temperature":0.6}`},
		{"tokenizer_config.json": `{"model_max_length":Infinity}`, "chat_template.jinja": chatML},
		{"tokenizer.json": `{"added_tokens":[{"id":511}],"model":{"vocab":{"a":0,"b":510}}}`},
	} {
		noFault(t, beside(t, "bf16/llama", nil, files))
	}
	// The plan of a folder from before config.json had one.
	noFault(t, beside(t, "gptq-sym/llama", object{"quantization_config": nil}, map[string]string{
		"quantize_config.json": `{"bits":4,"group_size":32,"desc_act":false,"sym":true,"damp_percent":0.01}`,
	}))
	noFault(t, beside(t, "awq/llama", object{"quantization_config": nil}, map[string]string{
		"quant_config.json": `{"zero_point":true,"q_group_size":32,"w_bit":4,"version":"GEMM"}`,
	}))
}

func noFault(t *testing.T, f *folder) {
	t.Helper()
	r := examine(t, f)
	if code, text := r.Verdict(); code != 0 {
		t.Errorf("%v: code %d, %s", f.config["rope_scaling"], code, text)
	}
}

// Each contradiction is named; that without a severity is worth a look and no fault.
func TestSettingsThatContradict(t *testing.T) {
	t.Parallel()
	scaling := func(v object) object { return object{"rope_scaling": v} }
	for name, c := range map[string]struct {
		pair   string
		config object
		files  map[string]string
		kind   string
		look   bool
	}{
		"theta-zero":     {config: object{"rope_theta": 0}, kind: checkpoint.KindRope},
		"theta-negative": {config: object{"rope_parameters": object{"rope_theta": -1e4}}, kind: checkpoint.KindRope},
		"yarn-no-factor": {config: scaling(object{"type": "yarn"}), kind: checkpoint.KindRope},
		"factor-below-1": {config: scaling(object{"rope_type": "linear", "factor": 0.25}), kind: checkpoint.KindRope},
		"llama3-halved": {
			config: scaling(object{"rope_type": "llama3", "factor": 8, "low_freq_factor": 1}), kind: checkpoint.KindRope,
		},
		"longrope-short": {config: scaling(object{
			"type": "longrope", "short_factor": ones(16), "long_factor": ones(12),
		}), kind: checkpoint.KindRope},
		"mrope-sum": {
			config: scaling(object{"type": "mrope", "mrope_section": []int{4, 6, 8}}), kind: checkpoint.KindRope,
		},
		"partial-over-1": {config: object{"partial_rotary_factor": 2}, kind: checkpoint.KindRope},
		"rotary-dim":     {config: object{"rotary_dim": 33}, kind: checkpoint.KindRope},
		"type-unknown":   {config: scaling(object{"rope_type": "spiral"}), kind: checkpoint.KindRope, look: true},
		"rope-head-dim": {
			pair: "bf16/deepseek-v3", config: object{"qk_rope_head_dim": 24}, kind: checkpoint.KindConfigShape,
		},
		"kv-rank": {
			pair: "bf16/kimi-k2", config: object{"kv_lora_rank": 64}, kind: checkpoint.KindConfigShape,
		},
		"q-heads": {
			pair: "bf16/deepseek-v2", config: object{"num_attention_heads": 8}, kind: checkpoint.KindConfigShape,
		},
		"hidden-size":  {pair: "bf16/qwen3", config: object{"hidden_size": 256}, kind: checkpoint.KindConfigShape},
		"head-dim":     {pair: "bf16/qwen3", config: object{"head_dim": 64}, kind: checkpoint.KindConfigShape},
		"template-cut": {files: map[string]string{"chat_template.jinja": chatML[:40]}, kind: checkpoint.KindChat},
		"template-in-json": {
			files: map[string]string{"tokenizer_config.json": `{"chat_template":"{% if x %}"}`}, kind: checkpoint.KindChat,
		},
		"template-missing": {files: map[string]string{"tokenizer_config.json": `{}`}, kind: checkpoint.KindChat, look: true},
		"tokenizer-cut": {
			files: map[string]string{"tokenizer.json": `{"model":{"vocab":{"a":`}, kind: checkpoint.KindTokenizer,
		},
		"tokenizer-beyond": {
			files: map[string]string{"tokenizer.json": `{"model":{"vocab":{"a":700}}}`}, kind: checkpoint.KindTokenizer,
		},
		"generation-id": {
			files: map[string]string{"generation_config.json": `{"eos_token_id":[1,900]}`}, kind: checkpoint.KindTokenizer,
		},
		"undeclared": {
			pair: "fp8-block/qwen3-moe", config: object{"quantization_config": nil}, kind: checkpoint.KindDeclared,
		},
		"declared-only": {
			config: object{"quantization_config": object{"quant_method": "gptq", "bits": 4, "group_size": 32}},
			kind:   checkpoint.KindDeclared,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.pair == "" {
				c.pair = "bf16/llama"
			}
			r := examine(t, beside(t, c.pair, c.config, c.files))
			want := 1
			if c.look {
				want = 0
			}
			found := false
			for _, f := range r.Findings {
				found = found || f.Kind == c.kind && (f.Severity >= checkpoint.Likely) != c.look
			}
			if code, text := r.Verdict(); int(code) != want || !found {
				t.Errorf("code %d, %s; %v", code, text, first(r.Findings, 3))
			}
		})
	}
}

// Sound and full of zeros: a 2:4 pattern, biases, an expert that no token reaches.
func TestSoundZeros(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(20261201, 11))
	for _, pair := range []string{
		"bf16/qwen3-moe", "fp8-block/qwen3-moe", "ct-fp8-channel/llama", "modelopt-nvfp4/qwen3-moe",
	} {
		scheme, fam, _ := strings.Cut(pair, "/")
		s := schemes[scheme]
		inner := s.linear
		s.linear = func(rng *rand.Rand, m string, w []float32, rows, cols int) []*stored {
			for i := 0; i < len(w); i += 4 { // two of four
				a := rng.IntN(4)
				w[i+a], w[i+(a+1+rng.IntN(3))%4] = 0, 0
			}
			return inner(rng, m, w, rows, cols)
		}
		f := families[fam]()
		noFault(t, written(t, f.config, f.build(rng, s)...))
	}
	for _, row := range []bool{true, false} { // with its router's row zero, and without
		f := drawn(t, "bf16", "qwen3-moe", 12)
		for _, s := range f.tensors {
			if strings.Contains(s.name, "layers.1.mlp.experts.3.") {
				s.raw = make([]byte, len(s.raw))
			}
			if row && s.name == "model.layers.1.mlp.gate.weight" {
				n := len(s.raw) / gE
				clear(s.raw[3*n : 4*n])
			}
		}
		code, text := examine(t, f).Verdict()
		if (code == 0) != row {
			t.Errorf("the router's row is zero: %t; code %d, %s", row, code, text)
		}
	}
	f := drawn(t, "bf16", "qwen2", 13)
	for _, s := range f.tensors {
		if strings.HasSuffix(s.name, ".bias") {
			s.raw = make([]byte, len(s.raw))
		}
	}
	noFault(t, f)
}
