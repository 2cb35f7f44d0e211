package checkpoint

import (
	"strconv"
	"strings"

	"github.com/assay-suite/assay/internal/spelling"
)

// Canonical gives the original release's name of a tensor in any known spelling; a name that nobody
// knows comes back unchanged. Applying it twice is safe.
//
//	nano-v4, original       model.layers.1.attn.wkv.weight
//	Hugging Face            model.layers.1.self_attn.kv_proj.weight, mlp.experts.3.gate_proj.weight, attn_hc.fn
//	SGLang, ModelOpt        layers.1.mlp.topk.tid2eid, .weight_scale_inv
//	V3.2                    model.layers.1.self_attn.q_a_proj.weight, kv_a_proj_with_mqa, o_proj
//
// Sources: the renames of sglang python/sglang/srt/models/deepseek_v4.py and of transformers
// models/deepseek_v4/modular_deepseek_v4.py; V3.2 against DeepSeek-V3.2-Exp inference/convert.py.
func Canonical(name string) string {
	n := spelling.Release(name)
	if n == "lm_head.weight" {
		return "head.weight"
	}
	if !strings.Contains(n, ".") || !foreign(n) {
		return n
	}
	parts := strings.Split(n, ".")
	out := make([]string, 0, len(parts))
	for i, p := range parts {
		prev := ""
		if i > 0 {
			prev = parts[i-1]
		}
		if stem, ok := strings.CutSuffix(prev, "_hc"); ok && (stem == "attn" || stem == "ffn") {
			out[len(out)-1] = "hc_" + stem + "_" + p // attn_hc.fn is one segment in the release
			continue
		}
		out = append(out, segment(p, prev))
	}
	n = strings.Join(out, ".")
	// Hugging Face nests the indexer into the compressor and keeps the indexer's own compressor flat in it.
	n = strings.Replace(n, ".compressor.indexer.", ".indexer.", 1)
	if head, tail, ok := strings.Cut(n, ".attn.indexer."); ok {
		switch first, _, _ := strings.Cut(tail, "."); first {
		case "wgate", "wkv", "ape", "norm":
			n = head + ".attn.indexer.compressor." + tail
		}
	}
	return n
}

// foreign tells whether a name has a segment that Canonical would rename; nearly every name of an
// original checkpoint has none, and 135,235 of them are looked at.
func foreign(n string) bool {
	if _, part, ok := strings.Cut(n, ".ffn.experts."); ok {
		return strings.HasSuffix(part, "scale_inv") || strings.Contains(part, "_proj") // most names by far
	}
	for _, s := range [...]string{
		"_proj", "self_attn", "mlp.", "block_sparse_moe", "layernorm", "_hc.", "topk.", "scale_inv", "position_bias",
		"sinks", "e_score",
		"kv_norm.w", "compressor.indexer", "gate.tid", "shared_head", "embed_tokens",
	} {
		if strings.Contains(n, s) {
			return true
		}
	}
	return false
}

func segment(p, prev string) string {
	switch p {
	case "self_attn":
		return "attn"
	case "mlp", "block_sparse_moe": // the second in Mixtral and MiniMax
		return "ffn"
	case "router": // gpt-oss
		if prev == "mlp" {
			return "gate"
		}
	case "input_layernorm":
		return "attn_norm"
	case "post_attention_layernorm":
		return "ffn_norm"
	case "topk":
		return "gate"
	case "e_score_correction_bias":
		return "bias"
	case "weight_scale_inv":
		return "scale"
	case "gate_proj":
		if prev == "compressor" || prev == "indexer" {
			return "wgate"
		}
		return "w1"
	case "up_proj":
		return "w3"
	case "down_proj":
		return "w2"
	case "kv_proj":
		return "wkv"
	case "q_a_proj":
		return "wq_a"
	case "q_b_proj":
		return "wq_b"
	case "q_a_norm", "q_a_layernorm":
		return "q_norm"
	case "kv_a_layernorm":
		return "kv_norm"
	case "kv_norm":
		if prev == "compressor" || prev == "indexer" {
			return "norm"
		}
	case "kv_a_proj_with_mqa":
		return "wkv_a"
	case "kv_b_proj":
		return "wkv_b"
	case "o_proj":
		return "wo"
	case "o_a_proj":
		return "wo_a"
	case "o_b_proj":
		return "wo_b"
	case "position_bias":
		return "ape"
	case "sinks":
		return "attn_sink"
	}
	return p
}

// place splits a canonical name: its layer (-1 outside layers), whether it is of the MTP part, the
// routed expert (-1 for none) and the rest.
func place(canon string) (layer int, mtp bool, expert int, rest string) {
	layer, expert, rest = -1, -1, canon
	head, tail, ok := strings.Cut(canon, ".")
	if !ok || (head != "layers" && head != "mtp") {
		return layer, false, expert, rest
	}
	num, after, ok := strings.Cut(tail, ".")
	n, err := strconv.Atoi(num)
	if !ok || err != nil {
		return layer, false, expert, rest
	}
	layer, mtp, rest = n, head == "mtp", after
	if e, ok := strings.CutPrefix(rest, "ffn.experts."); ok {
		num, after, ok := strings.Cut(e, ".")
		if n, err := strconv.Atoi(num); ok && err == nil {
			expert, rest = n, "ffn.experts.*."+after
		}
	}
	return layer, mtp, expert, rest
}

// Class replaces numbers between dots, the layers and experts of a name, by *.
func Class(name string) string {
	parts := strings.Split(name, ".")
	for i, p := range parts {
		if _, err := strconv.Atoi(p); err == nil {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}
