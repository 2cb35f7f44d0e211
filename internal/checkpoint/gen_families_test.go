package checkpoint_test

import (
	"fmt"
	"maps"
)

// role of a module in a family's list.
type role int

const (
	linear role = iota
	expert1
	router
	embed
	head
	normOne  // a norm's gain around 1
	normZero // Gemma and Qwen3-Next store the gain less 1
	vector   // biases and the like
	conv     // [rows, 1, cols]
	fused    // several experts in one tensor: the encoder's own layout or bf16 [experts, rows, cols]
)

// module is one entry of a family: its name without ".weight", and its shape.
type moduleSpec struct {
	name       string
	role       role
	rows, cols int
	n          int // experts of a fused one
	bare       bool
}

// family is a list of modules with the config that calls for them.
type family struct {
	config  map[string]any
	modules []moduleSpec
}

const gH, gI, gV, gL, gHeads, gKV, gDim, gE = 128, 256, 512, 4, 4, 2, 32, 4

func (f *family) add(r role, name string, shape ...int) {
	m := moduleSpec{name: name, role: r, rows: shape[0], cols: 1}
	if len(shape) > 1 {
		m.cols = shape[1]
	}
	if len(shape) > 2 {
		m.n = shape[2]
	}
	f.modules = append(f.modules, m)
}

func (f *family) bare(r role, name string, shape ...int) {
	f.add(r, name, shape...)
	f.modules[len(f.modules)-1].bare = true
}

func base(kind, arch string, more map[string]any) *family {
	c := map[string]any{
		"architectures": []string{arch}, "model_type": kind, "hidden_size": gH, "intermediate_size": gI,
		"num_hidden_layers": gL, "num_attention_heads": gHeads, "num_key_value_heads": gKV, "head_dim": gDim,
		"vocab_size":   gV,
		"rms_norm_eps": 1e-6, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "hidden_act": "silu",
	}
	maps.Copy(c, more)
	return &family{config: c}
}

func (f *family) tied() bool { return f.config["tie_word_embeddings"] == true }

func (f *family) ends(norm role) *family {
	f.add(embed, "model.embed_tokens", gV, gH)
	f.add(norm, "model.norm", gH)
	if !f.tied() {
		f.add(head, "lm_head", gV, gH)
	}
	return f
}

func (f *family) attention(at string, bias, qk bool, norm role) {
	f.add(linear, at+"q_proj", gHeads*gDim, gH)
	f.add(linear, at+"k_proj", gKV*gDim, gH)
	f.add(linear, at+"v_proj", gKV*gDim, gH)
	f.add(linear, at+"o_proj", gH, gHeads*gDim)
	if bias {
		f.bare(vector, at+"q_proj.bias", gHeads*gDim)
		f.bare(vector, at+"k_proj.bias", gKV*gDim)
		f.bare(vector, at+"v_proj.bias", gKV*gDim)
	}
	if qk {
		f.add(norm, at+"q_norm", gDim)
		f.add(norm, at+"k_norm", gDim)
	}
}

func (f *family) mlp(r role, at string, inner int) {
	f.add(r, at+"gate_proj", inner, gH)
	f.add(r, at+"up_proj", inner, gH)
	f.add(r, at+"down_proj", gH, inner)
}

func (f *family) moe(at, gate string, inner int, names ...string) {
	f.add(router, at+gate, gE, gH)
	for e := range gE {
		p := fmt.Sprintf("%sexperts.%d.", at, e)
		f.add(expert1, p+names[0], inner, gH)
		f.add(expert1, p+names[1], inner, gH)
		f.add(expert1, p+names[2], gH, inner)
	}
}

var proj = []string{"gate_proj", "up_proj", "down_proj"}

// families of sound folders by their published names.
var families = map[string]func() *family{
	"llama": func() *family { return dense("llama", "LlamaForCausalLM", nil, false, false, normOne) },
	"llama-tied": func() *family {
		return dense("llama", "LlamaForCausalLM", map[string]any{"tie_word_embeddings": true}, false, false, normOne)
	},
	"mistral": func() *family { return dense("mistral", "MistralForCausalLM", nil, false, false, normOne) },
	"qwen2":   func() *family { return dense("qwen2", "Qwen2ForCausalLM", nil, true, false, normOne) },
	"qwen3":   func() *family { return dense("qwen3", "Qwen3ForCausalLM", nil, false, true, normOne) },
	"gemma2":  gemma("gemma2", "Gemma2ForCausalLM", false),
	"gemma3":  gemma("gemma3_text", "Gemma3ForCausalLM", true),
	"phi3": func() *family {
		f := base("phi3", "Phi3ForCausalLM", nil)
		for l := range gL {
			p := fmt.Sprintf("model.layers.%d.", l)
			f.add(linear, p+"self_attn.qkv_proj", (gHeads+2*gKV)*gDim, gH)
			f.add(linear, p+"self_attn.o_proj", gH, gHeads*gDim)
			f.add(linear, p+"mlp.gate_up_proj", 2*gI, gH)
			f.add(linear, p+"mlp.down_proj", gH, gI)
			f.add(normOne, p+"input_layernorm", gH)
			f.add(normOne, p+"post_attention_layernorm", gH)
		}
		return f.ends(normOne)
	},
	"mixtral": func() *family {
		f := base("mixtral", "MixtralForCausalLM", map[string]any{"num_local_experts": gE, "num_experts_per_tok": 2})
		return f.layers(func(p string, _ int) {
			f.attention(p+"self_attn.", false, false, normOne)
			f.moe(p+"block_sparse_moe.", "gate", gI, "w1", "w3", "w2")
		})
	},
	"qwen3-moe": func() *family {
		f := base("qwen3_moe", "Qwen3MoeForCausalLM", map[string]any{
			"num_experts": gE, "num_experts_per_tok": 2, "moe_intermediate_size": gI, "decoder_sparse_step": 1,
		})
		return f.layers(func(p string, _ int) {
			f.attention(p+"self_attn.", false, true, normOne)
			f.moe(p+"mlp.", "gate", gI, proj...)
		})
	},
	"glm4-moe": func() *family {
		f := base("glm4_moe", "Glm4MoeForCausalLM", map[string]any{
			"n_routed_experts": gE, "num_experts_per_tok": 2, "moe_intermediate_size": gI, "n_shared_experts": 1,
			"first_k_dense_replace": 1, "num_nextn_predict_layers": 1, "attention_bias": true,
		})
		f.layers(func(p string, l int) {
			f.attention(p+"self_attn.", true, true, normOne)
			if l == 0 {
				f.mlp(linear, p+"mlp.", gI)
				return
			}
			f.moe(p+"mlp.", "gate", gI, proj...)
			f.bare(vector, p+"mlp.gate.e_score_correction_bias", gE)
			f.mlp(linear, p+"mlp.shared_experts.", gI)
		})
		p := fmt.Sprintf("model.layers.%d.", gL) // the layer that predicts a further token
		f.add(linear, p+"eh_proj", gH, 2*gH)
		for _, n := range []string{"enorm", "hnorm", "shared_head.norm", "input_layernorm", "post_attention_layernorm"} {
			f.add(normOne, p+n, gH)
		}
		f.attention(p+"self_attn.", true, true, normOne)
		f.moe(p+"mlp.", "gate", gI, proj...)
		f.bare(vector, p+"mlp.gate.e_score_correction_bias", gE)
		f.mlp(linear, p+"mlp.shared_experts.", gI)
		return f
	},
	"kimi-k2":     func() *family { return mla("kimi_k2", "DeepseekV3ForCausalLM", true) },
	"deepseek-v2": func() *family { return mla("deepseek_v2", "DeepseekV2ForCausalLM", false) },
	"deepseek-v3": func() *family { return mla("deepseek_v3", "DeepseekV3ForCausalLM", true) },
	"minimax-m2": func() *family {
		f := base("minimax_m2", "MiniMaxM2ForCausalLM", map[string]any{"num_local_experts": gE, "num_experts_per_tok": 2})
		return f.layers(func(p string, _ int) {
			f.attention(p+"self_attn.", false, false, normOne)
			f.add(normOne, p+"self_attn.q_norm", gHeads*gDim)
			f.add(normOne, p+"self_attn.k_norm", gKV*gDim)
			f.moe(p+"block_sparse_moe.", "gate", gI, "w1", "w3", "w2")
			f.bare(vector, p+"block_sparse_moe.e_score_correction_bias", gE)
		})
	},
	"qwen3-next": func() *family {
		f := base("qwen3_next", "Qwen3NextForCausalLM", map[string]any{
			"num_experts": gE, "num_experts_per_tok": 2, "moe_intermediate_size": gI, "full_attention_interval": 4,
			"shared_expert_intermediate_size": gI, "linear_num_value_heads": 4, "linear_num_key_heads": 2,
			"linear_key_head_dim": 32, "linear_value_head_dim": 32, "linear_conv_kernel_dim": 4,
		})
		f.config["num_hidden_layers"] = 8
		f.layersOf(8, normZero, func(p string, l int) {
			if l%4 == 3 {
				f.attention(p+"self_attn.", false, true, normZero)
				f.modules[len(f.modules)-6].rows *= 2 // the query carries its output gate
			} else {
				a := p + "linear_attn."
				f.add(linear, a+"in_proj_qkvz", 2*64+2*128, gH)
				f.add(linear, a+"in_proj_ba", 8, gH)
				f.add(conv, a+"conv1d", 2*64+128, 4)
				f.bare(vector, a+"A_log", 4)
				f.bare(vector, a+"dt_bias", 4)
				f.add(normOne, a+"norm", 32)
				f.add(linear, a+"out_proj", gH, 128)
			}
			f.moe(p+"mlp.", "gate", gI, proj...)
			f.mlp(linear, p+"mlp.shared_expert.", gI)
			f.add(router, p+"mlp.shared_expert_gate", 1, gH)
		})
		return f
	},
	"nemotron-h": func() *family {
		f := base("nemotron_h", "NemotronHForCausalLM", map[string]any{
			"hybrid_override_pattern": "M-M*-M-M", "num_hidden_layers": 8, "attention_head_dim": gDim, "mamba_num_heads": 4,
			"mamba_head_dim": 32, "ssm_state_size": 16, "n_groups": 2, "conv_kernel": 4,
		})
		for l, kind := range "M-M*-M-M" {
			p := fmt.Sprintf("backbone.layers.%d.", l)
			f.add(normOne, p+"norm", gH)
			switch kind {
			case 'M':
				f.add(linear, p+"mixer.in_proj", 2*128+2*2*16+4, gH)
				f.add(conv, p+"mixer.conv1d", 128+2*2*16, 4)
				f.bare(vector, p+"mixer.conv1d.bias", 128+2*2*16)
				f.bare(vector, p+"mixer.A_log", 4)
				f.bare(vector, p+"mixer.D", 4)
				f.bare(vector, p+"mixer.dt_bias", 4)
				f.add(normOne, p+"mixer.norm", 128)
				f.add(linear, p+"mixer.out_proj", gH, 128)
			case '-':
				f.add(linear, p+"mixer.up_proj", gI, gH)
				f.add(linear, p+"mixer.down_proj", gH, gI)
			case '*':
				f.attention(p+"mixer.", false, false, normOne)
			}
		}
		f.add(embed, "backbone.embeddings", gV, gH)
		f.add(normOne, "backbone.norm_f", gH)
		f.add(head, "lm_head", gV, gH)
		return f
	},
	"gpt-oss": func() *family {
		f := base("gpt_oss", "GptOssForCausalLM", map[string]any{
			"num_local_experts": gE, "num_experts_per_tok": 2, "layer_types": []string{
				"sliding_attention", "full_attention", "sliding_attention", "full_attention",
			},
		})
		return f.layers(func(p string, _ int) {
			f.attention(p+"self_attn.", true, false, normOne)
			f.bare(vector, p+"self_attn.o_proj.bias", gH)
			f.bare(vector, p+"self_attn.sinks", gHeads)
			f.add(router, p+"mlp.router", gE, gH)
			f.bare(vector, p+"mlp.router.bias", gE)
			f.bare(fused, p+"mlp.experts.gate_up_proj", 2*gI, gH, gE)
			f.bare(fused, p+"mlp.experts.down_proj", gH, gI, gE)
			f.bare(vector, p+"mlp.experts.gate_up_proj_bias", gE, 2*gI)
			f.bare(vector, p+"mlp.experts.down_proj_bias", gE, gH)
		})
	},
	"unknown": func() *family { // an architecture that nothing here has heard of
		f := base("zebra", "ZebraForCausalLM", nil)
		for l := range gL {
			p := fmt.Sprintf("trunk.blocks.%d.", l)
			f.add(linear, p+"mix.in", 3*gH, gH)
			f.add(linear, p+"mix.out", gH, gH)
			f.add(linear, p+"ff.a", gI, gH)
			f.add(linear, p+"ff.b", gH, gI)
			f.add(normOne, p+"n1", gH)
			f.add(normOne, p+"n2", gH)
		}
		f.add(embed, "trunk.tokens", gV, gH)
		f.add(head, "trunk.unembed", gV, gH)
		return f
	},
}

func (f *family) layers(one func(prefix string, l int)) *family { return f.layersOf(gL, normOne, one) }

func (f *family) layersOf(n int, norm role, one func(prefix string, l int)) *family {
	for l := range n {
		p := fmt.Sprintf("model.layers.%d.", l)
		f.add(norm, p+"input_layernorm", gH)
		f.add(norm, p+"post_attention_layernorm", gH)
		one(p, l)
	}
	return f.ends(norm)
}

func dense(kind, arch string, more map[string]any, bias, qk bool, norm role) *family {
	f := base(kind, arch, more)
	return f.layers(func(p string, _ int) {
		f.attention(p+"self_attn.", bias, qk, norm)
		f.mlp(linear, p+"mlp.", gI)
	})
}

func gemma(kind, arch string, qk bool) func() *family {
	return func() *family {
		f := base(kind, arch, map[string]any{"tie_word_embeddings": true})
		f.layersOf(gL, normZero, func(p string, _ int) {
			f.attention(p+"self_attn.", false, qk, normZero)
			f.mlp(linear, p+"mlp.", gI)
			f.add(normZero, p+"pre_feedforward_layernorm", gH)
			f.add(normZero, p+"post_feedforward_layernorm", gH)
		})
		return f
	}
}

func mla(kind, arch string, bias bool) *family {
	f := base(kind, arch, map[string]any{
		"q_lora_rank": 64, "kv_lora_rank": 32, "qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 32,
		"n_routed_experts": gE, "num_experts_per_tok": 2, "moe_intermediate_size": gI, "n_shared_experts": 1,
		"first_k_dense_replace": 1, "num_key_value_heads": gHeads,
	})
	return f.layers(func(p string, l int) {
		a := p + "self_attn."
		f.add(linear, a+"q_a_proj", 64, gH)
		f.add(normOne, a+"q_a_layernorm", 64)
		f.add(linear, a+"q_b_proj", gHeads*32, 64)
		f.add(linear, a+"kv_a_proj_with_mqa", 48, gH)
		f.add(normOne, a+"kv_a_layernorm", 32)
		f.add(linear, a+"kv_b_proj", gHeads*48, 32)
		f.add(linear, a+"o_proj", gH, gHeads*32)
		if l == 0 {
			f.mlp(linear, p+"mlp.", gI)
			return
		}
		f.moe(p+"mlp.", "gate", gI, proj...)
		if bias {
			f.bare(vector, p+"mlp.gate.e_score_correction_bias", gE)
		}
		f.mlp(linear, p+"mlp.shared_experts.", gI)
	})
}
