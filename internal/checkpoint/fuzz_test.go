package checkpoint_test

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// FuzzFolder: whatever config, tokenizer, header and bytes say, the examination MUST end with a report or with an
// error of one line, alone and against the folder itself.
func FuzzFolder(f *testing.F) {
	rng := rand.New(rand.NewPCG(20261201, 31))
	for _, name := range slices.Sorted(maps.Keys(schemes)) {
		s := schemes[name]
		var tensors []*stored
		for l := range 2 {
			for _, m := range []string{"mlp.gate_proj", "mlp.experts.1.down_proj"} {
				module := "model.layers." + string(rune('0'+l)) + "." + m
				tensors = append(tensors, s.linear(rng, module, trained(rng, 32, 128), 32, 128)...)
			}
		}
		if s.fused != nil {
			for _, t := range s.fused(rng, "model.layers.0.mlp.experts.gate_up_proj", trained(rng, 64, 64), 64, 64) {
				if t.shape = []int{2, 32, 2, 16}; strings.HasSuffix(t.name, "_scales") {
					t.shape = t.shape[:3]
				}
				tensors = append(tensors, t)
			}
		}
		fam := base("llama", "LlamaForCausalLM", map[string]any{"rope_scaling": map[string]any{"type": "yarn", "factor": 2}})
		fam.config["num_hidden_layers"] = 2
		fam.declare(s)
		config, err := json.Marshal(fam.config)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(config, []byte(`{"chat_template":"{% for m in messages %}{{ m }}{% endfor %}","added_tokens":[{"id":7}]}`),
			encode(tensors, "model.safetensors"))
	}
	f.Fuzz(func(t *testing.T, config, tokenizer, file []byte) {
		if len(file) > 1<<20 {
			return
		}
		fsys := fstest.MapFS{
			"config.json": {Data: config}, "model.safetensors": {Data: file}, "tokenizer.json": {Data: tokenizer},
			"tokenizer_config.json": {Data: tokenizer}, "generation_config.json": {Data: tokenizer},
			"quantize_config.json": {Data: config}, "chat_template.jinja": {Data: tokenizer},
		}
		for _, o := range []checkpoint.Options{{}, {Base: fsys, Reference: true}} {
			r, err := checkpoint.Examine(context.Background(), fsys, o)
			if err != nil {
				if strings.ContainsRune(err.Error(), '\n') && !strings.ContainsRune(string(file), '\n') {
					t.Errorf("an error of several lines: %q", err)
				}
				continue
			}
			if code, text := r.Verdict(); text == "" || code == 0 && r.Tensors == 0 {
				t.Errorf("code %d, %q of %d tensors", code, text, r.Tensors)
			}
		}
	})
}

// FuzzIndexAlone: any index beside any config MUST end with a report or an error.
func FuzzIndexAlone(f *testing.F) {
	config, err := json.Marshal(flash())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"metadata":{"total_size":8},"weight_map":{"layers.0.attn.wkv.weight":"a.safetensors"}}`), config)
	f.Add([]byte(`{"weight_map":{"a":"../b","a":"c"}}`), []byte(`{"model_type":"deepseek_v32","num_hidden_layers":3}`))
	f.Fuzz(func(_ *testing.T, index, config []byte) {
		if len(config) < 1<<12 && len(index) < 1<<16 {
			_, _ = checkpoint.ExamineIndex(index, config)
		}
	})
}
