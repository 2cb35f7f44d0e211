// Package spelling knows how DeepSeek-V4's tensors are spelled: the original release's names, and those of the nano-v4
// folders in the manner of Hugging Face.
package spelling

import "strings"

// Release gives the name that the original DeepSeek-V4 release uses for a tensor of the
// HF-style nano-v4 spelling; a release name comes back unchanged, so applying it twice is safe.
//
//	model.layers.1.attn.wkv.weight    layers.1.attn.wkv.weight        the prefix goes
//	model.embed_tokens.weight         embed.weight
//	model.hc_head.hc_fn               hc_head_fn                      also hc_base, hc_scale
//	model.layers.1.attn.norm.weight   layers.1.attn.kv_norm.weight    but not compressor.norm.weight
//	head.weight                       head.weight
//
// It is not a map from transformers' module names (self_attn, mlp, lm_head): weights are not saved
// under those. Source: fixtures/README.md, section nano-v4.
func Release(name string) string {
	for strings.HasPrefix(name, "model.") {
		name = strings.TrimPrefix(name, "model.")
	}
	switch name {
	case "embed_tokens.weight":
		return "embed.weight"
	case "hc_head.hc_fn", "hc_head.hc_base", "hc_head.hc_scale":
		return "hc_head_" + strings.TrimPrefix(name, "hc_head.hc_")
	}
	if stem, ok := strings.CutSuffix(name, ".attn.norm.weight"); ok {
		return stem + ".attn.kv_norm.weight"
	}
	return name
}

// HuggingFace is the way back: the spelling of the nano-v4 and nano-flash folders for a name of the release.
func HuggingFace(name string) string {
	switch name {
	case "head.weight":
		return name
	case "embed.weight":
		return "model.embed_tokens.weight"
	case "hc_head_fn", "hc_head_base", "hc_head_scale":
		return "model.hc_head.hc_" + strings.TrimPrefix(name, "hc_head_")
	}
	if stem, ok := strings.CutSuffix(name, ".attn.kv_norm.weight"); ok {
		return "model." + stem + ".attn.norm.weight"
	}
	return "model." + name
}
