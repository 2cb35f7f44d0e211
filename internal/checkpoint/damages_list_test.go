package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/checkpoint"
	"github.com/assay-suite/assay/internal/quant"
)

func damages() []harm {
	missing := []string{checkpoint.KindMissing, checkpoint.KindScaleMissing}
	config := func(name, key string, value any, kinds ...string) harm {
		return harm{name, kinds, func(f *folder, _ *rand.Rand) (string, bool) {
			_, has := f.config[key]
			f.config[key] = value
			return "", has
		}}
	}
	return []harm{
		{"hole-4k", []string{checkpoint.KindHole}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, isCodes)
			if s == nil {
				return "", false
			}
			s.raw = bytes.Clone(s.raw)
			at := rng.IntN(len(s.raw) - 4096)
			clear(s.raw[at : at+4096])
			return s.name, true
		}},
		{"half-zero", []string{checkpoint.KindHole, checkpoint.KindZero}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, isCodes)
			if s == nil {
				return "", false
			}
			s.raw = bytes.Clone(s.raw)
			clear(s.raw[:len(s.raw)/2])
			return s.name, true
		}},
		{"embedding-rows-zero", []string{checkpoint.KindHole}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return strings.HasSuffix(s.name, "embed_tokens.weight") })
			if s == nil {
				return "", false
			}
			s.raw = bytes.Clone(s.raw)
			row := len(s.raw) / s.shape[0]
			at := row * rng.IntN(s.shape[0]-80)
			clear(s.raw[at : at+64*row])
			return s.name, true
		}},
		{"all-zero", []string{checkpoint.KindZero}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, isCodes)
			if s == nil {
				return "", false
			}
			s.raw = make([]byte, len(s.raw))
			return s.name, true
		}},
		{"module-missing", missing, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, isCodes)
			if s == nil || strings.HasSuffix(s.name, "_blocks") {
				return "", false
			}
			module, _ := quant.Split(s.name)
			f.drop(func(x *stored) bool { return strings.HasPrefix(x.name, module+".") })
			return s.name, true
		}},
		{"norm-missing", missing, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return strings.HasSuffix(s.name, "layernorm.weight") })
			if s == nil {
				return "", false
			}
			f.drop(func(x *stored) bool { return x == s })
			return s.name, true
		}},
		{"layer-missing", []string{checkpoint.KindLayerCount}, func(f *folder, rng *rand.Rand) (string, bool) {
			at := fmt.Sprintf("layers.%d.", 1+rng.IntN(3))
			return "", f.drop(func(x *stored) bool { return strings.Contains(x.name, at) }) > 0
		}},
		{"transposed", []string{checkpoint.KindTransposed, checkpoint.KindShape}, func(f *folder, rng *rand.Rand,
		) (string, bool) {
			s := f.pick(rng, func(s *stored) bool {
				return isCodes(s) && s.dtype == "BF16" && len(s.shape) == 2 && s.shape[0] != s.shape[1]
			})
			if s == nil || f.config["model_type"] == "nemotron_h" {
				return "", false
			}
			s.shape = []int{s.shape[1], s.shape[0]}
			return s.name, true
		}},
		{"transposed-square", []string{checkpoint.KindTransposed}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return s.dtype == "BF16" && strings.HasSuffix(s.name, "o_proj.weight") })
			if s == nil || len(s.shape) != 2 || s.shape[0] != s.shape[1] {
				return "", false
			}
			old, n := s.raw, s.shape[0]
			s.raw = make([]byte, len(old))
			for r := range n {
				for c := range n {
					copy(s.raw[2*(c*n+r):], old[2*(r*n+c):2*(r*n+c)+2])
				}
			}
			return s.name, true
		}},
		{"nan", []string{checkpoint.KindNaN}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return s.dtype == "BF16" && part(s) == quant.Codes && len(s.raw) > 64 })
			binary.LittleEndian.PutUint16(s.raw[2*rng.IntN(len(s.raw)/2):], 0x7fc0)
			return s.name, true
		}},
		{"untied-without-head", []string{checkpoint.KindTied}, func(f *folder, _ *rand.Rand) (string, bool) {
			return "", f.drop(func(s *stored) bool { return strings.HasPrefix(s.name, "lm_head.") }) > 0
		}},
		{"tied-with-another-head", []string{checkpoint.KindTied}, func(f *folder, _ *rand.Rand) (string, bool) {
			_, head := f.config["tie_word_embeddings"]
			has := slices.ContainsFunc(f.tensors, func(s *stored) bool { return s.name == "lm_head.weight" })
			f.config["tie_word_embeddings"] = true
			return "lm_head.weight", head && has && f.config["quantization"] == nil
		}},
		config("vocab-size", "vocab_size", gV+64, checkpoint.KindConfigShape),
		config("layer-count", "num_hidden_layers", 9, checkpoint.KindLayerCount),
		config("special-id", "eos_token_id", gV+5, checkpoint.KindTokenizer),
		{"kv-heads", []string{checkpoint.KindConfigShape}, func(f *folder, _ *rand.Rand) (string, bool) {
			f.config["num_key_value_heads"] = gHeads
			kind, _ := f.config["model_type"].(string)
			return "", slices.Contains([]string{"llama", "mistral", "qwen2", "qwen3", "mixtral", "qwen3_moe"}, kind)
		}},
		{"expert-count", []string{checkpoint.KindExpertCount}, func(f *folder, _ *rand.Rand) (string, bool) {
			for _, key := range []string{"num_experts", "num_local_experts", "n_routed_experts"} {
				if _, has := f.config[key]; has && f.config["model_type"] != "gpt_oss" {
					f.config[key] = gE + 2
					return "", true
				}
			}
			return "", false
		}},
		{"expert-missing", []string{checkpoint.KindExpertCount}, func(f *folder, rng *rand.Rand) (string, bool) {
			at := fmt.Sprintf("layers.2.mlp.experts.%d.", rng.IntN(gE))
			return "", f.drop(func(x *stored) bool { return strings.Contains(x.name, at) }) > 0
		}},
		{"expert-repeated", []string{checkpoint.KindDuplicate}, func(f *folder, rng *rand.Rand) (string, bool) {
			s := f.pick(rng, func(s *stored) bool { return isCodes(s) && strings.Contains(s.name, ".experts.1.") })
			if s == nil || part(s) != quant.Codes {
				return "", false
			}
			other := strings.Replace(s.name, ".experts.1.", ".experts.2.", 1)
			for _, o := range f.tensors {
				if o.name == other {
					o.raw = s.raw
				}
			}
			return s.name, true
		}},
	}
}
