package checkpoint_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

func TestCanonical(t *testing.T) {
	for stored, want := range map[string]string{
		"layers.1.attn.wkv.scale":                                      "layers.1.attn.wkv.scale",
		"model.layers.1.attn.norm.weight":                              "layers.1.attn.kv_norm.weight",
		"model.hc_head.hc_fn":                                          "hc_head_fn",
		"model.embed_tokens.weight":                                    "embed.weight",
		"lm_head.weight":                                               "head.weight",
		"model.layers.3.self_attn.q_a_proj.weight":                     "layers.3.attn.wq_a.weight",
		"model.layers.3.self_attn.q_a_proj.weight_scale_inv":           "layers.3.attn.wq_a.scale",
		"model.layers.3.self_attn.q_a_layernorm.weight":                "layers.3.attn.q_norm.weight",
		"model.layers.3.self_attn.kv_a_proj_with_mqa.weight":           "layers.3.attn.wkv_a.weight",
		"model.layers.3.self_attn.kv_b_proj.weight":                    "layers.3.attn.wkv_b.weight",
		"model.layers.3.self_attn.kv_a_layernorm.weight":               "layers.3.attn.kv_norm.weight",
		"model.layers.3.self_attn.o_proj.weight":                       "layers.3.attn.wo.weight",
		"model.layers.3.self_attn.o_a_proj.weight":                     "layers.3.attn.wo_a.weight",
		"model.layers.3.self_attn.o_b_proj.weight":                     "layers.3.attn.wo_b.weight",
		"model.layers.3.self_attn.kv_proj.weight":                      "layers.3.attn.wkv.weight",
		"model.layers.3.self_attn.sinks":                               "layers.3.attn.attn_sink",
		"model.layers.3.self_attn.compressor.position_bias":            "layers.3.attn.compressor.ape",
		"model.layers.3.self_attn.compressor.gate_proj.weight":         "layers.3.attn.compressor.wgate.weight",
		"model.layers.3.self_attn.compressor.kv_norm.weight":           "layers.3.attn.compressor.norm.weight",
		"model.layers.3.self_attn.compressor.indexer.gate_proj.weight": "layers.3.attn.indexer.compressor.wgate.weight",
		"model.layers.3.self_attn.indexer.k_norm.bias":                 "layers.3.attn.indexer.k_norm.bias",
		"model.layers.3.input_layernorm.weight":                        "layers.3.attn_norm.weight",
		"model.layers.3.post_attention_layernorm.weight":               "layers.3.ffn_norm.weight",
		"model.layers.3.attn_hc.fn":                                    "layers.3.hc_attn_fn",
		"model.layers.3.ffn_hc.scale":                                  "layers.3.hc_ffn_scale",
		"model.layers.3.mlp.gate.e_score_correction_bias":              "layers.3.ffn.gate.bias",
		"layers.3.mlp.topk.tid2eid":                                    "layers.3.ffn.gate.tid2eid",
		"model.layers.3.mlp.experts.17.gate_proj.weight":               "layers.3.ffn.experts.17.w1.weight",
		"model.layers.3.mlp.experts.17.up_proj.weight_scale_2":         "layers.3.ffn.experts.17.w3.weight_scale_2",
		"model.layers.3.mlp.shared_experts.down_proj.weight_scale_inv": "layers.3.ffn.shared_experts.w2.scale",
		"model.vision_tower.blocks.0.mlp_something.weight":             "vision_tower.blocks.0.mlp_something.weight",
	} {
		if got := checkpoint.Canonical(stored); got != want {
			t.Errorf("%s becomes %s, want %s", stored, got, want)
		}
		if again := checkpoint.Canonical(want); again != want {
			t.Errorf("%s changes to %s the second time", want, again)
		}
	}
}

// respell is the other way round, for tests: the spelling of SGLang and ModelOpt.
func respell(name string) string {
	for _, r := range [][2]string{
		{".attn.", ".self_attn."},
		{".ffn.", ".mlp."},
		{".attn_norm.", ".input_layernorm."},
		{".ffn_norm.", ".post_attention_layernorm."},
		{".gate.tid2eid", ".topk.tid2eid"},
		{".gate.bias", ".gate.e_score_correction_bias"},
		{".w1.", ".gate_proj."},
		{".w2.", ".down_proj."},
		{".w3.", ".up_proj."},
	} {
		name = strings.Replace(name, r[0], r[1], 1)
	}
	if stem, ok := strings.CutSuffix(name, ".scale"); ok {
		name = stem + ".weight_scale_inv"
	}
	return name
}

// The same bytes under other names are as sound, and as damaged.
func TestOtherSpellings(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		f := open(t, "nano-v4-nvfp4")
		if damaged {
			f.remove("layers.2.ffn.gate.bias")
			f.flip("layers.2.ffn.experts.1.w1.weight")
		}
		for _, s := range f.tensors {
			s.name = respell(s.name)
		}
		r, err := checkpoint.Examine(context.Background(), os.DirFS(f.write()), checkpoint.Options{})
		require.NoError(t, err)
		var kinds []string
		for _, x := range r.Findings {
			kinds = append(kinds, x.Kind)
		}
		want := []string{checkpoint.KindBiasMissing, checkpoint.KindNibbles}
		if !damaged {
			want = nil
		}
		if !slices.Equal(kinds, want) {
			t.Errorf("damaged %v: found %v, want %v", damaged, r.Findings, want)
		}
	}
}
