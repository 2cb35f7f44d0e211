package checkpoint

import "strings"

// What a tensor is for, by the names that the families share.
const (
	roleOther = iota
	roleEmbed
	roleHead
	roleRouter
	roleLinear
)

// roleOf tells the role of a weight; parts of weights and vectors have none.
func roleOf(t *tensor) int {
	n := t.stored
	switch {
	case strings.Contains(n, "vision") || strings.Contains(n, "visual") || strings.Contains(n, "audio"):
		return roleOther
	case strings.HasSuffix(n, "embed_tokens.weight"), strings.HasSuffix(n, "wte.weight"),
		strings.HasSuffix(n, "embed.weight"), n == "embeddings.weight", strings.HasSuffix(n, ".embeddings.weight"),
		strings.HasSuffix(n, "word_embeddings.weight"):
		if len(t.info.Shape) == 2 {
			return roleEmbed
		}
	case strings.HasPrefix(n, "lm_head.weight"), n == "head.weight", strings.HasSuffix(n, ".lm_head.weight"),
		strings.HasSuffix(n, "shared_head.head.weight"):
		return roleHead
	case strings.HasSuffix(t.canon, "ffn.gate.weight"), strings.HasSuffix(n, "router.weight"):
		return roleRouter
	}
	if t.weight != nil && t.weight.Rows >= 16 && t.weight.Cols >= 16 && t.stored != Class(t.stored) {
		return roleLinear
	}
	return roleOther
}
