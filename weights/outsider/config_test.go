package outsider

import "slices"

// describe writes config.json with the fields of the family, and says where the facts stand in it.
func (b *build) describe(a *arch, d *dims) {
	if b.tokens == 0 { // a quantised embedding has no padding rows
		b.tokens = d.vocab - b.r.IntN(40)
	}
	bos, eos := b.speak(a.tokenizer, b.tokens)
	c := object{
		"model_type": a.modelType, "hidden_size": d.hidden, "intermediate_size": d.inter, "num_hidden_layers": d.layers,
		"num_attention_heads": d.heads, "num_key_value_heads": d.kv, "vocab_size": d.vocab, "hidden_act": "silu",
		"max_position_embeddings": 131072, "initializer_range": 0.02, "rms_norm_eps": 1e-6, "use_cache": true,
		"rope_theta": pick(b.r, 10000.0, 500000.0, 1e6), "attention_dropout": 0.0,
		"bos_token_id": bos, "eos_token_id": pick[any](b.r, eos, []any{eos, eos + 2}),
		"pad_token_id": pick[any](b.r, nil, eos+3),
	}
	if a.mla == nil && (d.heads*d.head != d.hidden || b.r.IntN(2) == 0) {
		c["head_dim"] = d.head
	}
	if a.qkvBias || a.oBias {
		c["attention_bias"] = true
	}
	if a.moe != nil {
		c[a.moe.fields[0]], c[a.moe.fields[1]], c[a.moe.fields[2]] = d.experts, d.expertInter, 2
		if a.moe.firstDense > 0 {
			c["first_k_dense_replace"] = a.moe.firstDense
		}
		if a.moe.sharedSizeFields != "" {
			c[a.moe.sharedSizeFields] = d.expertInter
		} else if a.moe.shared != "" {
			c["n_shared_experts"] = 1
		}
	}
	if m := a.mla; m != nil {
		c["kv_lora_rank"], c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"] = m.kv, m.nope, m.rope, m.value
		c["num_key_value_heads"], c["q_lora_rank"] = d.heads, any(m.q)
		if m.q == 0 {
			c["q_lora_rank"] = nil
		}
	}
	if a.mtp {
		c["num_nextn_predict_layers"] = 1
	}
	for k, v := range a.config {
		if c[k] = deep(v); v == "@absent" {
			delete(c, k)
		}
	}
	top := c
	path := ""
	if a.nested != "" {
		top, path = object{a.nested: c, "model_type": a.modelType}, a.nested+"."
		for _, k := range []string{"vision_config", "image_token_id", "audio_config"} {
			if v, ok := c[k]; ok {
				top[k] = v
				delete(c, k)
			}
		}
		c["model_type"] = a.modelType + "_text"
	}
	top["architectures"] = []any{a.architecture}
	top["tie_word_embeddings"] = a.tied
	top["transformers_version"] = "4.57.1"
	torch := map[string]string{"BF16": "bfloat16", "F16": "float16", "F32": "float32"}
	top[pick(b.r, "torch_dtype", "dtype")] = torch[b.dtype]
	b.config = top
	for fact, names := range map[string][]string{
		"layers": {"num_hidden_layers"}, "hidden": {"hidden_size"}, "inter": {"intermediate_size"},
		"heads": {"num_attention_heads"}, "kv": {"num_key_value_heads"}, "vocab": {"vocab_size"},
		"experts": {"num_experts", "num_local_experts", "n_routed_experts"}, "theta": {"rope_theta"}, "head": {"head_dim"},
	} {
		for _, n := range names {
			if _, ok := c[n]; ok {
				b.fields[fact] = path + n
			}
		}
	}
	if a.mla != nil {
		delete(b.fields, "kv")
	}
	if a.moe != nil && a.moe.firstDense == 0 && a.moe.fields[1] != "intermediate_size" {
		delete(b.fields, "inter") // nothing has this size
	}
	b.fields["tied"] = "tie_word_embeddings"
	b.fields["eos"] = path + "eos_token_id"
}

// draw makes the folder of a pair.
func draw(p pair, n int) *folder {
	r := seeded(p.name(), n)
	s := schemes[p.scheme]
	if s.name == "" {
		panic("no scheme " + p.scheme)
	}
	b := &build{
		folder: &folder{
			pair: p.name(), scheme: p.scheme, files: map[string][]byte{}, byName: map[string]*tensor{},
			metadata: map[string]string{"format": "pt"}, source: map[*weight][]float32{}, fields: map[string]string{},
			shards: pick(r, 1, 2, 3, 4),
		},
		r: r, s: s, dtype: or(s.dtype, "BF16"), rolesRMS: map[string]float64{}, sparse: p.sparse,
	}
	a := families[p.family]()
	if a.nestedQuant {
		b.quantUnder = a.nested
	}
	d := b.decode(a)
	b.publish(a, d)
	s.finish(b)
	slices.SortFunc(b.tensors, func(x, y *tensor) int { return natural(x.name, y.name) })
	return b.folder
}

// natural orders names as savers write them: by text.
func natural(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
