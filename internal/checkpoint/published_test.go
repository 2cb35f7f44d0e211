package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// convention is something that published folders have and that is no fault, with the fault that looks like it.
type convention struct {
	name, scheme, family string
	sound                func(f *folder)
	fault                func(f *folder) // nil: there is none that looks alike
	kind                 string          // of the fault
}

func set(key string, value any) func(f *folder) {
	return func(f *folder) { f.config[key] = value }
}

func (f *folder) zeroRows(name string, from, to int) {
	for _, s := range f.tensors {
		if s.name == name {
			row := len(s.raw) / s.shape[0]
			s.raw = bytes.Clone(s.raw)
			clear(s.raw[from*row : to*row])
		}
	}
}

func (f *folder) dropping(part string) {
	f.drop(func(s *stored) bool { return strings.Contains(s.name, part) })
}

// resized gives a module other outputs, and the next one as many inputs.
func (f *folder) resized(layer, rows int) {
	at := fmt.Sprintf("model.layers.%d.mlp.", layer)
	for _, s := range f.tensors {
		switch s.name {
		case at + "gate_proj.weight", at + "up_proj.weight":
			s.shape, s.raw = []int{rows, s.shape[1]}, s.raw[:2*rows*s.shape[1]]
		case at + "down_proj.weight":
			s.shape, s.raw = []int{s.shape[0], rows}, s.raw[:2*rows*s.shape[0]]
		}
	}
}

func reserved(f *folder, added ...int) {
	var list []map[string]any
	for _, id := range added {
		list = append(list, map[string]any{"id": id, "content": fmt.Sprintf("<|reserved_%d|>", id), "special": true})
	}
	vocab := map[string]int{}
	for i := range gV - 64 {
		vocab[fmt.Sprintf("t%d", i)] = i
	}
	raw, err := json.Marshal(map[string]any{"added_tokens": list, "model": map[string]any{"vocab": vocab}})
	require.NoError(f.t, err)
	f.files["tokenizer.json"] = raw
}

func span(from, to int) []int {
	var out []int
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

func (f *folder) vectors(name string, values func(layer int) []float32, shape ...int) {
	for l := range gL {
		f.tensors = append(f.tensors, &stored{
			fmt.Sprintf("model.layers.%d.%s", l, name), "BF16", shape, rawBF16(values(l)), f.tensors[0].shard,
		})
	}
}

func repeated(v float32, n int) []float32 { return slices.Repeat([]float32{v}, n) }

var conventions = []convention{
	{
		// Gemma 3 12B leaves head_dim out, and its heads are not hidden_size over num_attention_heads.
		name: "head-dim-of-the-class", scheme: "bf16", family: "gemma3",
		sound: func(f *folder) {
			delete(f.config, "head_dim")
			f.config["num_attention_heads"], f.config["num_key_value_heads"] = 1, 1
			for l := range gL {
				at := fmt.Sprintf("model.layers.%d.self_attn.", l)
				f.plain(at+"q_proj", 256, gH)
				f.plain(at+"k_proj", 256, gH)
				f.plain(at+"v_proj", 256, gH)
				f.plain(at+"o_proj", gH, 256)
			}
		},
	},
	{
		name: "head-dim-left-out", scheme: "bf16", family: "qwen3", kind: checkpoint.KindConfigShape,
		sound: func(f *folder) { delete(f.config, "head_dim") },
		fault: func(f *folder) { delete(f.config, "head_dim"); f.config["num_attention_heads"] = 2 * gHeads },
	},
	{
		// Embedding models (e5-mistral) have no output head, tied or not.
		name: "no-head", scheme: "bf16", family: "mistral", kind: checkpoint.KindTied,
		sound: func(f *folder) { f.dropping("lm_head"); f.config["architectures"] = []string{"MistralModel"} },
		fault: func(f *folder) { f.dropping("lm_head") },
	},
	{
		// Llama 3 never trained its reserved tokens: rows of zeros inside of the tokenizer's ids.
		name: "reserved-rows", scheme: "bf16", family: "llama", kind: checkpoint.KindHole,
		sound: func(f *folder) {
			reserved(f, span(gV-64, gV)...)
			f.zeroRows("model.embed_tokens.weight", gV-40, gV)
			f.zeroRows("lm_head.weight", gV-40, gV)
		},
		fault: func(f *folder) {
			reserved(f, span(gV-64, gV)...)
			f.zeroRows("model.embed_tokens.weight", 100, 140)
		},
	},
	{
		// Gemma 3 1B has the tokenizer of the larger ones, with a token that stands for images.
		name: "placeholder-beyond", scheme: "bf16", family: "llama", kind: checkpoint.KindTokenizer,
		sound: func(f *folder) {
			reserved(f)
			f.files["tokenizer.json"] = bytes.Replace(f.files["tokenizer.json"], []byte(`"added_tokens":null`),
				fmt.Appendf(nil, `"added_tokens":[{"id":%d,"content":"<image_soft_token>"}]`, gV), 1)
		},
		fault: func(f *folder) { reserved(f, gV) },
	},
	{
		// Gemma 3n, OpenELM: a list, one entry for each layer.
		name: "list-of-sizes", scheme: "bf16", family: "llama", kind: checkpoint.KindConfig,
		sound: func(f *folder) {
			f.config["model_type"], f.config["intermediate_size"] = "openelm", []int{gI, gI, 128, gI}
			f.resized(2, 128)
		},
		fault: set("intermediate_size", "256"),
	},
	{
		name: "list-of-one-size", scheme: "bf16", family: "llama", kind: checkpoint.KindConfigShape,
		sound: set("intermediate_size", []int{gI, gI, gI, gI}),
		fault: set("intermediate_size", []int{gI + 8, gI + 8, gI + 8, gI + 8}),
	},
	{
		// Searched architectures leave attention out of some layers, with the norm before it.
		name: "no-attention", scheme: "bf16", family: "llama", kind: checkpoint.KindMissing,
		sound: func(f *folder) {
			f.config["model_type"] = "nemotron-nas"
			f.dropping("layers.2.self_attn")
			f.dropping("layers.2.input_layernorm")
		},
		fault: func(f *folder) { f.dropping("layers.2.self_attn") },
	},
	{
		// mlx-lm summed the sizes of files.
		name: "total-size", scheme: "bf16", family: "llama",
		sound: func(f *folder) { f.indexed, f.total = true, 4096 },
	},
	{
		// nn.Sequential numbers activations too, which have no weights.
		name: "sequence", scheme: "bf16", family: "llama", kind: checkpoint.KindLayerCount,
		sound: func(f *folder) {
			for _, n := range []int{0, 2} {
				f.tensors = append(f.tensors, &stored{
					fmt.Sprintf("visual.merger.mlp.%d.weight", n), "BF16",
					[]int{gH, gH},
					rawBF16(trained(own(n), gH, gH)), f.tensors[0].shard,
				})
			}
		},
		fault: func(f *folder) { f.dropping("layers.1.") },
	},
	{
		// Gains that stay at 1, masks and A_log are the same in every layer.
		name: "as-initialised", scheme: "bf16", family: "llama", kind: checkpoint.KindConstant,
		sound: func(f *folder) {
			f.vectors("mixer.D", func(int) []float32 { return repeated(1, gH) }, gH)
			f.vectors("attn.bias", func(int) []float32 { return triangle(64) }, 1, 1, 64, 64)
		},
		fault: func(f *folder) {
			for _, s := range f.tensors {
				if strings.HasSuffix(s.name, "layers.1.input_layernorm.weight") {
					s.raw = rawBF16(repeated(1, gH))
				}
			}
		},
	},
	{
		// BERT's table of two rows is no vocabulary.
		name: "token-types", scheme: "bf16", family: "llama",
		sound: func(f *folder) {
			f.tensors = append(f.tensors, &stored{
				"embeddings.token_type_embeddings.weight", "BF16",
				[]int{2, gH},
				rawBF16(trained(own(9), 2, gH)),
				f.tensors[0].shard,
			})
		},
	},
	{
		// EAGLE's draft has the name of its family, twice its inputs, and no head.
		name: "draft", scheme: "bf16", family: "llama", kind: checkpoint.KindTied,
		sound: func(f *folder) { f.dropping("lm_head"); f.config["architectures"] = []string{"LlamaForCausalLMEagle"} },
		fault: func(f *folder) { f.dropping("lm_head") },
	},
	{
		// AutoRound says how its backend packs.
		name: "auto-round", scheme: "gptq-sym", family: "llama", kind: checkpoint.KindScaleMissing,
		sound: func(f *folder) { autoRound(f) },
		fault: func(f *folder) { autoRound(f); f.dropping("layers.1.mlp.up_proj.scales") },
	},
	{
		// GPTQModel leaves modules out by dynamic rules.
		name: "dynamic", scheme: "gptq-sym", family: "llama", kind: checkpoint.KindDeclared,
		sound: func(f *folder) {
			f.declared()["dynamic"] = map[string]any{`-:.*layers\.1\..*up_proj`: map[string]any{}}
			f.plain("model.layers.1.mlp.up_proj", gI, gH)
		},
		fault: func(f *folder) { f.plain("model.layers.1.mlp.up_proj", gI, gH) },
	},
	{
		// Mistral ships the weights twice, each copy with an index.
		name: "two-copies", scheme: "bf16", family: "llama", kind: checkpoint.KindShardUnlisted,
		sound: func(f *folder) { f.twice(true) },
		fault: func(f *folder) { f.twice(false) },
	},
}

func own(n int) *rand.Rand { return rand.New(rand.NewPCG(20261201, uint64(n))) }

func triangle(n int) []float32 {
	out := make([]float32, n*n)
	for i := range n {
		for k := range i + 1 {
			out[i*n+k] = 1
		}
	}
	return out
}

func (f *folder) declared() map[string]any { return f.config["quantization_config"].(map[string]any) }

func autoRound(f *folder) {
	q := f.declared()
	q["quant_method"], q["packing_format"] = "auto-round", "auto_round:auto_gptq"
}

// plain replaces a quantised module by a bf16 one.
func (f *folder) plain(module string, rows, cols int) {
	f.dropping(module + ".")
	rng := own(int(crc32.ChecksumIEEE([]byte(module))))
	f.tensors = append(f.tensors, &stored{
		module + ".weight", "BF16", []int{rows, cols}, rawBF16(trained(rng, rows, cols)), f.tensors[0].shard,
	})
}

// twice puts a second copy of the weights beside the first, with an index or without.
func (f *folder) twice(index bool) {
	f.indexed = true
	weights := map[string]string{}
	const shard = "consolidated-00001-of-00001.safetensors"
	for _, s := range f.tensors {
		s.shard = "model-00001-of-00001.safetensors"
		weights[s.name] = shard
	}
	f.files[shard] = encode(f.tensors, "model-00001-of-00001.safetensors")
	raw, err := json.Marshal(map[string]any{"weight_map": weights})
	require.NoError(f.t, err)
	if index {
		f.files["consolidated.safetensors.index.json"] = raw
	}
}

// Conventions of published folders MUST be no fault, and the fault that looks like one MUST be found.
func TestPublishedConventions(t *testing.T) {
	t.Parallel()
	for _, c := range conventions {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := drawn(t, c.scheme, c.family, 5)
			c.sound(f)
			r := examine(t, f)
			code, text := r.Verdict()
			require.EqualValues(t, 0, code, "%s: %v", text, first(r.Findings, 3))
			if c.fault == nil {
				return
			}
			f = drawn(t, c.scheme, c.family, 5)
			c.fault(f)
			r = examine(t, f)
			require.True(t, named(r, []string{c.kind}, ""), "the fault was not found: %v", first(r.Findings, 3))
		})
	}
}
