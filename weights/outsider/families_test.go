package outsider

import "maps"

var qwenMoE = moe{
	path: "mlp.experts", gate: "mlp.gate", names: [3]string{"gate_proj", "up_proj", "down_proj"},
	fields: [3]string{"num_experts", "moe_intermediate_size", "num_experts_per_tok"},
}

func deepseekMoE() *moe {
	return &moe{
		path: "mlp.experts", gate: "mlp.gate", names: qwenMoE.names, shared: "mlp.shared_experts",
		correction: "mlp.gate.e_score_correction_bias", firstDense: 1,
		fields: [3]string{"n_routed_experts", "moe_intermediate_size", "num_experts_per_tok"},
	}
}

var deepseekConfig = object{
	"first_k_dense_replace": 1, "moe_layer_freq": 1, "n_group": 4, "topk_group": 2, "norm_topk_prob": true,
	"routed_scaling_factor": 2.5, "scoring_func": "sigmoid", "topk_method": "noaux_tc", "attention_bias": false,
	"rope_scaling": object{
		"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1,
		"mscale": 1.0, "mscale_all_dim": 1.0,
	},
	"rope_theta": 10000, "max_position_embeddings": 163840, "ep_size": 1, "pretraining_tp": 1,
}

func with(base, more object) object {
	o := deep(base).(object)
	maps.Copy(o, more)
	return o
}

var v3MLA = &mla{q: 256, kv: 128, nope: 32, rope: 32, value: 32}

func deepseek(architecture, kind string) *arch {
	return &arch{architecture: architecture, modelType: kind, moe: deepseekMoE(), mla: v3MLA, config: deepseekConfig}
}

// families by the names and configurations that they publish.
var families = map[string]func() *arch{
	"llama": func() *arch {
		return &arch{architecture: "LlamaForCausalLM", modelType: "llama", square: true, config: object{
			"rope_scaling": object{
				"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
				"rope_type": "llama3",
			}, "mlp_bias": false, "attention_bias": false, "pretraining_tp": 1,
		}}
	},
	"llama-tied": func() *arch {
		return &arch{
			architecture: "LlamaForCausalLM", modelType: "llama", tied: true,
			config: object{"rope_scaling": nil, "mlp_bias": false, "attention_bias": false},
		}
	},
	"mistral": func() *arch {
		return &arch{
			architecture: "MistralForCausalLM", modelType: "mistral", tokenizer: "sentencepiece",
			config: object{"sliding_window": nil, "rms_norm_eps": 1e-5},
		}
	},
	"mixtral": func() *arch {
		return &arch{
			architecture: "MixtralForCausalLM", modelType: "mixtral", tokenizer: "sentencepiece", moe: &moe{
				path: "block_sparse_moe.experts", gate: "block_sparse_moe.gate", names: [3]string{"w1", "w3", "w2"},
				fields: [3]string{"num_local_experts", "intermediate_size", "num_experts_per_tok"},
			}, config: object{"router_aux_loss_coef": 0.02, "output_router_logits": false, "sliding_window": nil},
		}
	},
	"qwen2": func() *arch {
		return &arch{
			architecture: "Qwen2ForCausalLM", modelType: "qwen2", square: true, qkvBias: true,
			config: object{
				"use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 3, "attention_bias": "@absent",
			},
		}
	},
	"qwen3": func() *arch {
		return &arch{
			architecture: "Qwen3ForCausalLM", modelType: "qwen3", qkNorm: "head", tied: true,
			config: object{"attention_bias": false, "use_sliding_window": false, "sliding_window": nil, "max_window_layers": 3},
		}
	},
	"qwen3-moe": func() *arch {
		m := qwenMoE
		return &arch{
			architecture: "Qwen3MoeForCausalLM", modelType: "qwen3_moe", qkNorm: "head", moe: &m,
			config: object{
				"decoder_sparse_step": 1, "mlp_only_layers": []any{}, "norm_topk_prob": true, "router_aux_loss_coef": 0.001,
				"attention_bias": false,
			},
		}
	},
	"qwen3-next": func() *arch {
		m := qwenMoE
		m.shared, m.sharedGate = "mlp.shared_expert", "mlp.shared_expert_gate"
		m.sharedSizeFields = "shared_expert_intermediate_size"
		return &arch{
			architecture: "Qwen3NextForCausalLM", modelType: "qwen3_next", centred: true, moe: &m, layer: deltaNet,
			config: object{
				"linear_conv_kernel_dim": 4, "linear_key_head_dim": 32, "linear_num_key_heads": 4, "linear_num_value_heads": 8,
				"linear_value_head_dim": 32, "full_attention_interval": 3, "partial_rotary_factor": 0.25,
				"mlp_only_layers":     []any{},
				"decoder_sparse_step": 1, "norm_topk_prob": true, "attention_bias": false,
			},
		}
	},
	"gemma2": func() *arch {
		return &arch{
			architecture: "Gemma2ForCausalLM", modelType: "gemma2", tied: true, fourNorms: true, centred: true,
			config: object{
				"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "query_pre_attn_scalar": 256,
				"sliding_window":    4096,
				"hidden_activation": "gelu_pytorch_tanh", "cache_implementation": "hybrid",
			},
		}
	},
	"gemma3": func() *arch {
		return &arch{
			architecture: "Gemma3ForConditionalGeneration", modelType: "gemma3", prefix: "language_model.model.", tied: true,
			fourNorms: true, centred: true, qkNorm: "head", nested: "text_config", extra: tower("vision_tower."),
			config: object{
				"rope_local_base_freq": 10000.0, "rope_scaling": object{"factor": 8.0, "rope_type": "linear"},
				"sliding_window":         1024,
				"sliding_window_pattern": 6, "query_pre_attn_scalar": 168, "vision_config": object{
					"hidden_size": 128, "intermediate_size": 320, "num_hidden_layers": 2, "num_attention_heads": 4, "patch_size": 14,
				}, "image_token_id": 1000,
			},
		}
	},
	"phi3": func() *arch {
		return &arch{architecture: "Phi3ForCausalLM", modelType: "phi3", fused: true, square: true, config: object{
			"original_max_position_embeddings": 4096, "sliding_window": 2047, "attention_bias": false, "resid_pdrop": 0.0,
			"embd_pdrop": 0.0, "rope_scaling": object{
				"type": "longrope", "short_factor": ones(16, 1.0), "long_factor": ones(16, 1.3),
			},
		}}
	},
	"glm4-moe": func() *arch {
		m := deepseekMoE()
		return &arch{
			architecture: "Glm4MoeForCausalLM", modelType: "glm4_moe", moe: m, qkvBias: true, qkNorm: "head", mtp: true,
			config: object{
				"partial_rotary_factor": 0.5, "n_group": 1, "topk_group": 1, "norm_topk_prob": true, "routed_scaling_factor": 1.0,
				"use_qk_norm": true, "rope_scaling": nil,
			},
		}
	},
	"minimax-m2": func() *arch {
		return &arch{
			architecture: "MiniMaxM2ForCausalLM", modelType: "minimax_m2", qkNorm: "full", moe: &moe{
				path: "block_sparse_moe.experts", gate: "block_sparse_moe.gate", names: [3]string{"w1", "w3", "w2"},
				correction: "block_sparse_moe.e_score_correction_bias",
				fields:     [3]string{"num_local_experts", "intermediate_size", "num_experts_per_tok"},
			}, config: object{
				"rotary_dim": 16, "scoring_func": "sigmoid", "use_routing_bias": true, "use_qk_norm": true,
				"qk_norm_type":   "per_layer",
				"attn_type_list": []any{1, 1, 1}, "shared_intermediate_size": 0, "rope_theta": 5000000,
			},
		}
	},
	"gpt-oss": func() *arch {
		return &arch{
			architecture: "GptOssForCausalLM", modelType: "gpt_oss", qkvBias: true, oBias: true, sinks: true, moe: &moe{
				path: "mlp.experts", gate: "mlp.router", stacked: "gpt-oss",
				fields: [3]string{"num_local_experts", "intermediate_size", "num_experts_per_tok"},
			}, config: object{
				"experts_per_token": 2, "sliding_window": 128, "swiglu_limit": 7.0, "rope_theta": 150000,
				"layer_types": []any{"sliding_attention", "full_attention", "sliding_attention"}, "initial_context_length": 4096,
				"rope_scaling": object{
					"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "original_max_position_embeddings": 4096, "rope_type": "yarn",
					"truncate": false,
				},
			},
		}
	},
	"llama4": func() *arch {
		return &arch{
			architecture: "Llama4ForConditionalGeneration", modelType: "llama4", prefix: "language_model.model.",
			head: "language_model.lm_head", nested: "text_config", moe: &moe{
				path: "feed_forward.experts", gate: "feed_forward.router", stacked: "llama4", shared: "feed_forward.shared_expert",
				fields:           [3]string{"num_local_experts", "intermediate_size", "num_experts_per_tok"},
				sharedSizeFields: "intermediate_size",
			}, config: object{
				"interleave_moe_layer_step": 1, "use_qk_norm": true, "rope_scaling": nil, "attn_temperature_tuning": true,
			},
		}
	},
	"nemotron-h": func() *arch {
		return &arch{
			architecture: "NemotronHForCausalLM", modelType: "nemotron_h", prefix: "backbone.", embed: "backbone.embeddings",
			final: "backbone.norm_f", layer: nemotron, config: object{
				"hybrid_override_pattern": "M-M*-M-*-", "num_hidden_layers": 9, "mamba_num_heads": 8, "mamba_head_dim": 64,
				"n_groups": 2, "ssm_state_size": 32, "conv_kernel": 4, "chunk_size": 256,
				"time_step_limit": []any{0.0, "@Infinity"},
				"mlp_hidden_act":  "relu2", "layer_norm_epsilon": 1e-5, "attention_bias": false, "use_conv_bias": true,
				"rope_theta": "@absent", "rms_norm_eps": "@absent",
			},
		}
	},
	"nemotron-moe": func() *arch {
		return &arch{
			architecture: "NemotronHForCausalLM", modelType: "nemotron_h", prefix: "backbone.", embed: "backbone.embeddings",
			final: "backbone.norm_f", layer: nemotron, moe: &moe{
				shared: "shared_experts", fields: [3]string{"n_routed_experts", "moe_intermediate_size", "num_experts_per_tok"},
				sharedSizeFields: "moe_shared_expert_intermediate_size",
			}, config: object{
				"hybrid_override_pattern": "MEM*EME", "num_hidden_layers": 7, "mamba_num_heads": 8, "mamba_head_dim": 64,
				"n_groups": 2, "ssm_state_size": 32, "conv_kernel": 4, "chunk_size": 128,
				"time_step_limit": []any{0.0, "@Infinity"},
				"mlp_hidden_act":  "relu2", "layer_norm_epsilon": 1e-5, "attention_bias": false, "use_conv_bias": true,
				"n_shared_experts": 1, "rms_norm_eps": "@absent", "routed_scaling_factor": 2.5, "norm_topk_prob": true,
			},
		}
	},
	"deepseek-v2": func() *arch {
		a := deepseek("DeepseekV2ForCausalLM", "deepseek_v2")
		a.mla = &mla{kv: 128, nope: 32, rope: 32, value: 32}
		a.moe.correction = ""
		a.config = with(deepseekConfig, object{
			"scoring_func": "softmax", "topk_method": "greedy", "n_group": 1, "topk_group": 1,
		})
		return a
	},
	"deepseek-v3": func() *arch {
		a := deepseek("DeepseekV3ForCausalLM", "deepseek_v3")
		a.mtp = true
		return a
	},
	"deepseek-v32": func() *arch {
		a := deepseek("DeepseekV32ForCausalLM", "deepseek_v32")
		a.mtp, a.indexer = true, true
		a.config = with(deepseekConfig, object{"index_head_dim": 64, "index_n_heads": 8, "index_topk": 2048})
		return a
	},
	"glm5": func() *arch {
		a := deepseek("GlmMoeDsaForCausalLM", "glm_moe_dsa")
		a.indexer = true
		a.config = with(deepseekConfig, object{
			"index_head_dim": 64, "index_n_heads": 8, "index_topk": 2048, "rope_scaling": nil, "n_group": 1, "topk_group": 1,
		})
		return a
	},
	"kimi-k2": func() *arch {
		a := deepseek("DeepseekV3ForCausalLM", "kimi_k2")
		a.tokenizer = "tiktoken"
		a.config = with(deepseekConfig, object{"n_group": 1, "topk_group": 1})
		return a
	},
	"kimi-k25": func() *arch {
		a := deepseek("KimiK25ForConditionalGeneration", "kimi_k25")
		a.tokenizer, a.prefix, a.head, a.nested = "tiktoken", "language_model.model.", "language_model.lm_head", "text_config"
		a.extra, a.nestedQuant = tower("vision_tower."), true
		a.config = with(deepseekConfig, object{"n_group": 1, "topk_group": 1})
		return a
	},
	"qwen2.5-vl": func() *arch {
		return &arch{
			architecture: "Qwen2_5_VLForConditionalGeneration", modelType: "qwen2_5_vl", square: true, qkvBias: true,
			extra: tower("visual."), config: object{
				"vision_config": object{
					"hidden_size": 128, "depth": 2, "num_heads": 4, "intermediate_size": 320, "out_hidden_size": 256,
				},
				"rope_scaling": object{"type": "mrope", "mrope_section": []any{4, 6, 6}}, "attention_bias": "@absent",
				"image_token_id": 1000, "vision_start_token_id": 999,
			},
		}
	},
	// families that no list knows
	"olmo2": func() *arch {
		return &arch{
			architecture: "Olmo2ForCausalLM", modelType: "olmo2", qkNorm: "full", postNorms: true,
			config: object{"attention_bias": false, "rope_scaling": nil},
		}
	},
	"starcoder2": func() *arch {
		return &arch{
			architecture: "Starcoder2ForCausalLM", modelType: "starcoder2", qkvBias: true, oBias: true, mlpBias: true,
			normBias: true, plainMLP: [2]string{"c_fc", "c_proj"}, tied: true,
			config: object{"use_bias": true, "norm_epsilon": 1e-5, "norm_type": "layer_norm", "sliding_window": 4096},
		}
	},
	"seed-oss": func() *arch {
		return &arch{architecture: "SeedOssForCausalLM", modelType: "seed_oss", qkvBias: true, config: object{
			"attention_out_bias": false, "mlp_bias": false, "rope_scaling": object{"rope_type": "default"},
		}}
	},
}

func ones(n int, v float64) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = v + 0.01*float64(i)
	}
	return out
}
