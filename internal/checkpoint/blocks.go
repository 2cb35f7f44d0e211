package checkpoint

import (
	"fmt"
	"strings"
)

// mixed are the families whose layers are not all attention with a feed-forward block.
var mixed = map[string]bool{"nemotron_h": true, "qwen3_next": true, "llama4_text": true}

// wholeBlocks reports layers without attention or without a feed-forward block, in families in which every layer has
// both. Elsewhere a layer may lack one on purpose: searched architectures leave blocks out.
func (p *patient) wholeBlocks(st *stack) {
	if !p.config.fixesShapes() || mixed[p.config.Shapes] {
		return
	}
	for _, block := range []struct {
		what     string
		prefixes []string
	}{{"attention", []string{"self_attn."}}, {"feed-forward block", []string{"mlp.", "block_sparse_moe."}}} {
		var without []int
		for n, names := range st.layers {
			if n < p.config.Layers && !has(names, block.prefixes...) {
				without = append(without, n)
			}
		}
		if 2*len(without) > len(st.layers) { // under another name
			continue
		}
		for _, n := range without {
			at := fmt.Sprintf("%s.%d.%s", st.prefix, n, block.prefixes[0])
			p.add(Certain, KindMissing, []string{at + "*"}, "layer %s.%d has no %s (%s*), and every layer of %s has one; "+
				"fetch or convert the checkpoint again", st.prefix, n, block.what, at, p.config.Shapes)
		}
	}
}

func has(names map[string]*tensor, prefixes ...string) bool {
	for name := range names {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
	}
	return false
}

// lessThan tells whether a layer lacks a whole block ("self_attn") that another has, so that the norms before it may
// be gone with it.
func (st *stack) lessThan(n, peer int) bool {
	for rest := range st.layers[peer] {
		if block, _, nested := strings.Cut(rest, "."); nested && strings.Contains(rest[len(block)+1:], ".") &&
			!has(st.layers[n], block+".") {
			return true
		}
	}
	return false
}

// ends reports a language model without an embedding or without the norm before its head.
func (p *patient) ends(st *stack) {
	stem, ok := strings.CutSuffix(st.prefix, "layers")
	if !p.config.fixesShapes() || !ok {
		return
	}
	embed, norm := false, false
	for _, t := range p.tensors {
		rest, inside := strings.CutPrefix(t.stored, stem)
		if !inside || strings.HasPrefix(rest, "layers.") {
			continue
		}
		embed = embed || strings.Contains(rest, "embed")
		norm = norm || strings.HasPrefix(rest, "norm") || strings.Contains(rest, "_norm")
	}
	for name, there := range map[string]bool{stem + "embed_tokens.weight": embed, stem + "norm.weight": norm} {
		if !there {
			p.add(Certain, KindMissing, []string{name}, "%s is not there, and every %s has one; fetch or convert the "+
				"checkpoint again", name, p.config.Shapes)
		}
	}
}
