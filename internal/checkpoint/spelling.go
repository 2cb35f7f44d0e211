package checkpoint

import (
	"strconv"
	"strings"
)

// spelled gives the name under which the checkpoint would store a tensor, in the spelling of its peers: of the same
// tensor in another layer or expert. Where it has none, the name of the release.
func (p *patient) spelled(canon string) string {
	made := p.newTensor(canon)
	if p.peerOf == nil {
		p.peerOf = make(map[string]*tensor, len(p.tensors))
		for _, t := range p.tensors {
			if p.peerOf[t.class] == nil {
				p.peerOf[t.class] = t
			}
		}
	}
	peer := p.peerOf[made.class]
	if peer == nil {
		if other := outermost[canon]; other != "" && p.byHugging() {
			return other
		}
		return canon
	}
	numbers := numbersOf(canon)
	parts := strings.Split(peer.stored, ".")
	i := 0
	for k, s := range parts {
		if _, err := strconv.Atoi(s); err == nil && i < len(numbers) {
			parts[k] = numbers[i]
			i++
		}
	}
	name := strings.Join(parts, ".")
	if i != len(numbers) || Canonical(name) != canon {
		return canon
	}
	return name
}

func numbersOf(name string) []string {
	var out []string
	for s := range strings.SplitSeq(name, ".") {
		if _, err := strconv.Atoi(s); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// outermost are Hugging Face's names of what a model has once, so that no peer shows how it is spelled.
var outermost = map[string]string{
	"head.weight": "lm_head.weight", "embed.weight": "model.embed_tokens.weight", "norm.weight": "model.norm.weight",
}

// byHugging tells whether names are spelled as transformers does.
func (p *patient) byHugging() bool {
	for _, t := range p.tensors {
		if strings.Contains(t.stored, "self_attn.") {
			return true
		}
	}
	return false
}
