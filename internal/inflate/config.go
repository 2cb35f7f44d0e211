package inflate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// configOf is the config.json of a folder: the small model's, with the shape's sizes, in the fields that the format's
// engines read.
func configOf(small []byte, o Options, m *layout, layers []layer) ([]byte, error) {
	var c map[string]any
	numbers := json.NewDecoder(bytes.NewReader(small))
	numbers.UseNumber() // 10.0 stays 10.0: transformers takes no whole number for a float
	if err := numbers.Decode(&c); err != nil {
		return nil, fmt.Errorf("config.json is not JSON: %w", err)
	}
	delete(c, "transformers_version")
	s := m.shape
	maps.Copy(c, map[string]any{
		"hidden_size": s.Hidden, "q_lora_rank": s.QRank, "head_dim": s.HeadDim, "qk_rope_head_dim": s.RopeDims,
		"num_attention_heads": s.Heads, "index_n_heads": s.IndexHeads, "index_head_dim": s.IndexDim, "o_groups": s.Groups,
		"o_lora_rank": s.ORank, "moe_intermediate_size": s.Inner, "num_experts_per_tok": s.TopExperts,
		"n_routed_experts": o.Experts, "num_hidden_layers": len(layers), "vocab_size": m.tokens.N,
	})
	if o.Format.HF {
		hfConfig(c, o, m, layers)
	} else {
		releaseConfig(c, o, layers)
	}
	return indented(c)
}

// kinds are the layers as transformers names them.
func kinds(layers []layer) (attention, experts []string) {
	for _, l := range layers {
		switch {
		case l.ratio == 0:
			attention = append(attention, "sliding_attention")
		case l.sparse:
			attention = append(attention, "compressed_sparse_attention")
		default:
			attention = append(attention, "heavily_compressed_attention")
		}
		kind := "moe"
		if l.hash {
			kind = "hash_moe"
		}
		experts = append(experts, kind)
	}
	return attention, experts
}

func hfConfig(c map[string]any, o Options, m *layout, layers []layer) {
	c["layer_types"], c["mlp_layer_types"] = kinds(layers)
	share := float64(m.shape.RopeDims) / float64(m.shape.HeadDim)
	rope := map[string]any{}
	for name, theta := range map[string]any{"main": c["rope_theta"], "compress": c["compress_rope_theta"]} {
		rope[name] = map[string]any{"partial_rotary_factor": share, "rope_theta": theta, "rope_type": "default"}
	}
	c["rope_parameters"], c["partial_rotary_factor"] = rope, share
	c["dtype"] = map[string]string{"hf-fp32": "float32", "hf-bf16": "bfloat16", "hf-fp64": "float64"}[o.Format.Name]
}

// releaseConfig has the fields that vLLM 0.25.1 and SGLang read (research of the inflation trial; docs/inflate.md).
func releaseConfig(c map[string]any, o Options, layers []layer) {
	for _, name := range []string{
		"layer_types", "mlp_layer_types", "compress_rates", "rope_parameters", "partial_rotary_factor",
		"router_jitter_noise", "router_aux_loss_coef", "output_router_logits", "mlp_bias", "dtype",
	} {
		delete(c, name)
	}
	var ratios []int
	hashes := 0
	for _, l := range layers {
		ratios = append(ratios, l.ratio)
		if l.hash {
			hashes++
		}
	}
	quantised := map[string]any{
		"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": []int{128, 128},
	}
	kind := "fp8"
	switch o.Format.Name {
	case "mxfp4":
		kind, quantised["scale_fmt"] = "fp4", "ue8m0"
	case "nvfp4":
		kind, quantised["scale_fmt"], quantised["moe_quant_algo"] = "nvfp4", "ue8m0", "NVFP4"
	case "mixed":
		var skipped []string
		for i := range layers {
			for _, module := range []string{
				"attn.fused_wqa_wkv", "attn.wq_b", "attn.wo_b", "attn.indexer.wq_b", "ffn.experts",
				"ffn.shared_experts.gate_up_proj", "ffn.shared_experts.down_proj",
			} {
				skipped = append(skipped, fmt.Sprintf("model.layers.%d.%s", i, module))
			}
		}
		quantised["modules_to_not_convert"] = skipped
	}
	maps.Copy(c, map[string]any{
		"compress_ratios": ratios, "num_hash_layers": hashes, "topk_method": "noaux_tc", "torch_dtype": "bfloat16",
		"expert_dtype": kind, "num_nextn_predict_layers": 0, "quantization_config": quantised,
		// Without scaling, said as the engines want it said.
		"rope_scaling": map[string]any{
			"type": "yarn", "factor": 1, "original_max_position_embeddings": 65536, "beta_fast": 32, "beta_slow": 1,
		},
	})
}
