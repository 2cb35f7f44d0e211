package outsider

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// lie changes a number of config.json.
func lie(fact string, g func(v int) int, words ...string) func(*folder, *rand.Rand) ([]string, bool) {
	return func(f *folder, _ *rand.Rand) ([]string, bool) {
		path, ok := f.fields[fact]
		if !ok {
			return nil, false
		}
		o, key := f.field(path)
		v, ok := o[key].(int)
		if !ok {
			return nil, false
		}
		o[key] = g(v)
		return append([]string{key}, words...), true
	}
}

func double(v int) int { return 2 * v }

func by(n int) func(v int) int { return func(v int) int { return v + n } }

// quantisation is the declared scheme, wherever it stands.
func (f *folder) quantisation() object {
	if q, ok := f.config["quantization_config"].(object); ok {
		return q
	}
	if t, ok := f.config["text_config"].(object); ok {
		q, _ := t["quantization_config"].(object)
		return q
	}
	return nil
}

func (f *folder) hf(change func(q object)) bool {
	raw, ok := f.files["hf_quant_config.json"]
	if !ok {
		return false
	}
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		panic(err)
	}
	change(o["quantization"].(object))
	f.files["hf_quant_config.json"] = encoded(o)
	return true
}

var configDamages = []damage{
	{kind: "one-layer-more", do: lie("layers", by(1), "layer")},
	{kind: "one-layer-less", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		if _, ok := f.config["num_nextn_predict_layers"]; ok || has(f.pair, "nemotron") {
			return nil, false
		}
		return lie("layers", by(-1), "layers.")(f, r)
	}},
	{kind: "heads-doubled", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		if has(f.pair, "deepseek") || has(f.pair, "kimi") || has(f.pair, "glm5") {
			return lie("heads", double, "q_b_proj", "q_proj", "o_proj", "kv_b_proj")(f, r)
		}
		if _, ok := f.fields["head"]; !ok {
			return nil, false
		}
		return lie("heads", double, "q_proj", "o_proj", "qkv_proj")(f, r)
	}},
	{kind: "kv-heads-wrong", do: lie("kv", double, "k_proj", "v_proj", "qkv_proj")},
	{kind: "experts-more", do: lie("experts", by(4), "expert", "gate", "router")},
	{kind: "experts-fewer", do: lie("experts", by(-2), "expert", "gate", "router")},
	{kind: "hidden-size-wrong", do: lie("hidden", by(64))},
	{kind: "intermediate-size-wrong", do: lie("inter", by(128), "down_proj", "up_proj")},
	{kind: "vocabulary-larger", do: lie("vocab", by(64), "embed")},
	{kind: "vocabulary-smaller", do: lie("vocab", by(-128), "embed")},
	{kind: "special-id-out-of-range", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		o, key := f.field(f.fields["eos"])
		o[key] = 1 << 20
		return []string{key}, true
	}},
	{kind: "tokenizer-larger", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		raw, ok := f.files["tokenizer.json"]
		if !ok {
			return nil, false
		}
		var o object
		if err := json.Unmarshal(raw, &o); err != nil {
			panic(err)
		}
		w := f.weights[0]
		added := o["added_tokens"].([]any)
		for i := range 1 + r.IntN(40) {
			t := deep(added[0]).(object)
			t["id"], t["content"] = w.rows+i, "<|more"+string(rune('a'+i%26))+string(rune('a'+i/26))+"|>"
			added = append(added, t)
		}
		o["added_tokens"] = added
		f.files["tokenizer.json"] = encoded(o)
		return []string{"tokenizer"}, true
	}},
	{kind: "rope-theta-negative", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		path, ok := f.fields["theta"]
		if !ok {
			return nil, false
		}
		o, key := f.field(path)
		o[key] = pick[any](r, -10000.0, 0)
		return []string{"rope_theta"}, true
	}},
	{kind: "rope-scaling-wrong", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		o := f.config
		if t, ok := o["text_config"].(object); ok {
			o = t
		}
		s, ok := o["rope_scaling"].(object)
		if !ok {
			return nil, false
		}
		switch {
		case s["short_factor"] != nil:
			s["long_factor"] = ones(13, 1.2)
		case s["mrope_section"] != nil:
			s["mrope_section"] = []any{16, 24, 24}
		case s["factor"] != nil:
			s["factor"] = pick[any](r, -8.0, 0.0)
		default:
			return nil, false
		}
		return []string{"rope_scaling", "rope", "factor", "mrope_section"}, true
	}},
	{kind: "block-size-wrong", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		q := f.quantisation()
		if _, ok := q["weight_block_size"]; !ok {
			return nil, false
		}
		q["weight_block_size"] = []any{64, 64}
		return []string{"weight_block_size", "scale", "block"}, true
	}},
	{kind: "group-size-wrong", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		q := f.quantisation()
		words := []string{"group_size", "group", "scale"}
		if g, ok := q["group_size"].(int); ok && q["quant_method"] != "w4afp8" {
			q["group_size"] = g / 2
			if x, ok := f.config["quantization"].(object); ok {
				x["group_size"] = g / 2
			}
			return words, true
		}
		if w := f.ctWeights(); w != nil && w["group_size"] != nil && !has(f.scheme, "mx") && !has(f.scheme, "nv") {
			w["group_size"] = w["group_size"].(int) / 2
			return words, true
		}
		return nil, false
	}},
	{kind: "bits-wrong", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		q := f.quantisation()
		words := []string{"bits", "qweight", "weight_packed", "scale", ".weight"}
		if b, ok := q["bits"].(int); ok {
			q["bits"] = 12 - b
			if x, ok := f.config["quantization"].(object); ok {
				x["bits"] = 12 - b
			}
			return words, true
		}
		if w := f.ctWeights(); w != nil && w["type"] == "int" && has(f.scheme, "a16") {
			w["num_bits"] = 12 - w["num_bits"].(int)
			return words, true
		}
		return nil, false
	}},
	{kind: "quantised-though-excluded", do: func(f *folder, r *rand.Rand) ([]string, bool) {
		w := f.any(r, func(w *weight) bool { return f.coded(w) && w.quantised && w.slices == 1 })
		if w == nil {
			return nil, false
		}
		return append(w.words(), w.module), f.ignore(func(list []any) []any { return append(list, w.module) })
	}},
	{kind: "excluded-yet-not-listed", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		// the router of DeepSeek's relatives is no Linear, and engines of block fp8 never quantise one
		if (!has(f.scheme, "ct-") && !has(f.scheme, "modelopt")) || has(f.pair, "deepseek") || has(f.pair, "glm") ||
			has(f.pair, "kimi") || has(f.pair, "nemotron") {
			return nil, false
		}
		var gone string
		ok := f.ignore(func(list []any) []any {
			var out []any
			for _, x := range list {
				n := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(x.(string), "re:.*"), "*."), "$")
				last := lastOf(n)
				if gone == "" && last != "norm" && !has(last, "layernorm") && !has(n, "vis") && last != "lm_head" {
					gone = last
				}
				if gone == "" || lastOf(n) != gone {
					out = append(out, x)
				}
			}
			return out
		})
		return []string{gone}, ok && gone != ""
	}},
	{kind: "scheme-not-declared", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		if f.scheme != "gptq" && f.scheme != "awq" && f.scheme != "ct-w4a16" && f.scheme != "ct-nvfp4" {
			return nil, false
		}
		delete(f.config, "quantization_config")
		return []string{"quantization_config"}, true
	}},
	{kind: "another-scheme-declared", do: func(f *folder, _ *rand.Rand) ([]string, bool) {
		q := f.quantisation()
		was, ok := q["quant_method"]
		if !ok || f.scheme == "w4afp8" {
			return nil, false
		}
		now := "awq"
		if was == "awq" {
			now = "gptq"
		}
		for k := range q {
			delete(q, k)
		}
		q["quant_method"], q["bits"], q["group_size"], q["zero_point"], q["version"] = now, 4, 128, true, "gemm"
		q["desc_act"], q["sym"] = false, false
		if f.fields["hf"] != "" {
			return nil, false
		}
		return []string{"quant_method", "quantization_config", now}, true
	}},
}

// ctWeights is compressed-tensors' description of weights, or nil.
func (f *folder) ctWeights() object {
	groups, ok := f.quantisation()["config_groups"].(object)
	if !ok {
		return nil
	}
	return groups["group_0"].(object)["weights"].(object)
}

// ignore changes the list of modules that are left out, in the words of the scheme.
func (f *folder) ignore(change func(list []any) []any) bool {
	q, done := f.quantisation(), false
	for _, k := range []string{"ignore", "modules_to_not_convert", "exclude", "ignored_layers"} {
		if list, ok := q[k].([]any); ok && f.scheme != "awq" && f.scheme != "gptoss-mxfp4" {
			q[k], done = change(append([]any{}, list...)), true
		}
	}
	return f.hf(func(q object) {
		if list, ok := q["exclude_modules"].([]any); ok {
			q["exclude_modules"], done = change(list), true
		}
	}) && done || done
}
