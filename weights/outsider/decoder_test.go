package outsider

import (
	"fmt"
)

// arch says how a family names and shapes a decoder; zero values are what Llama does.
type arch struct {
	architecture, modelType string
	prefix                  string // before "layers."; "model." by default
	embed, final, head      string // names; model.embed_tokens, model.norm, lm_head by default
	tied                    bool
	qkvBias, oBias, mlpBias bool
	qkNorm                  string // "", "head" (one gain a channel of a head), "full"
	fused                   bool   // qkv_proj and gate_up_proj
	fourNorms               bool   // Gemma's
	postNorms               bool   // OLMo 2: norms behind the blocks only
	centred                 bool   // gains are stored less one
	normBias                bool   // LayerNorm
	sinks                   bool
	plainMLP                [2]string // two matrices without a gate: names
	square                  bool      // heads x head_dim = hidden
	moe                     *moe
	mla                     *mla
	indexer                 bool
	mtp                     bool // a layer behind the last
	tokenizer               string
	nestedQuant             bool   // quantization_config stands there too
	nested                  string // the field of config.json under which the decoder's fields stand
	config                  object
	extra                   func(b *build, a *arch, d *dims) // towers and what else
	layer                   func(b *build, a *arch, d *dims, l int, p string) bool
}

type moe struct {
	path, gate       string    // "mlp.experts", "mlp.gate"
	names            [3]string // gate, up, down
	shared           string    // "mlp.shared_experts"; "" for none
	sharedGate       string
	correction       string // bias of the router's choice
	firstDense       int
	fields           [3]string // number of experts, their size, how many a token takes
	stacked          string    // "", "llama4": [E, hidden, 2I]; "gpt-oss"
	correctionDtype  string
	sharedSizeFields string
}

type mla struct{ q, kv, nope, rope, value int }

type dims struct {
	layers, hidden, inter, heads, kv, head, vocab, experts, expertInter int
}

func (b *build) dims(a *arch) *dims {
	r := b.r
	d := &dims{layers: 3 + r.IntN(2), hidden: pick(r, 256, 384), heads: 8, kv: 2, head: 32, inter: pick(r, 512, 640, 768)}
	d.heads = d.hidden / d.head
	d.kv = d.heads / 4
	if d.heads == 12 {
		d.kv = 4
	}
	if !a.square && r.IntN(2) == 0 {
		d.head = 64
	}
	if d.kv*d.head < 128 { // groups and blocks of 128
		d.kv = 128 / d.head
	}
	if a.moe != nil {
		d.layers, d.hidden, d.experts, d.expertInter = 3, 256, 8, pick(r, 128, 256)
		d.heads, d.kv, d.head = 8, 4, pick(r, 32, 64)
	}
	if b.s.ragged && a.mla == nil && r.IntN(2) == 0 {
		d.inter += 64
	}
	if p, ok := a.config["hybrid_override_pattern"].(string); ok {
		d.layers = len(p)
	}
	d.vocab = 1024 + 64*r.IntN(5)
	return d
}

func or(s, t string) string {
	if s == "" {
		return t
	}
	return s
}

// decode adds a whole decoder: embedding, layers, norm, head, config.
func (b *build) decode(a *arch) *dims {
	d := b.dims(a)
	b.residual = channels(b.r, d.hidden, 0.25, 3)
	a.prefix = or(a.prefix, "model.")
	if a.modelType == "olmo2" {
		d.kv = d.heads
	}
	w := b.table(or(a.embed, a.prefix+"embed_tokens"), "embed", d.vocab, d.hidden)
	b.pad(w)
	for l := range d.layers {
		b.decoderLayer(a, d, l, fmt.Sprintf("%slayers.%d.", a.prefix, l))
	}
	b.norm(a, or(a.final, a.prefix+"norm"), d.hidden, between(b.r, 1.2, 5))
	if !a.tied {
		b.pad(b.table(or(a.head, "lm_head"), "head", d.vocab, d.hidden))
	}
	if a.mtp {
		b.nextToken(a, d)
	}
	if a.extra != nil {
		a.extra(b, a, d)
	}
	b.describe(a, d)
	return d
}

// pad makes what stands behind the tokenizer's ids what publishers leave there.
func (b *build) pad(w *weight) {
	t := b.byName[w.codes()]
	if w.quantised || t == nil {
		return
	}
	row := len(t.data) / t.shape[0]
	from := w.rows - b.r.IntN(40)
	if b.tokens == 0 {
		b.tokens = from
	}
	style := b.r.IntN(4)
	for i := b.tokens; i < w.rows; i++ {
		switch style {
		case 0, 1:
			clear(t.data[i*row : (i+1)*row])
		case 2:
			copy(t.data[i*row:(i+1)*row], t.data[(w.rows-1)*row:])
		}
	}
}

func (b *build) norm(a *arch, module string, n int, mean float64) {
	if a.centred {
		mean *= pick(b.r, 0.2, 1, 3)
	}
	b.vector(module+".weight", n, mean, 0.2*mean)
	if a.normBias {
		b.vector(module+".bias", n, 0, 0.05)
	}
}

func (b *build) bias(module string, n int, size float64) {
	if b.r.IntN(5) == 0 { // biases that training left at zero
		b.add(module+".bias", b.dtype, make([]byte, n*width(b.dtype)), n)
		return
	}
	b.vector(module+".bias", n, 0, size)
}

func (b *build) decoderLayer(a *arch, d *dims, l int, p string) {
	if a.layer != nil && a.layer(b, a, d, l, p) {
		return
	}
	gain := between(b.r, 0.2, 1.2)
	switch {
	case a.fourNorms:
		b.norm(a, p+"input_layernorm", d.hidden, gain)
		b.norm(a, p+"post_attention_layernorm", d.hidden, gain)
		b.norm(a, p+"pre_feedforward_layernorm", d.hidden, gain)
		b.norm(a, p+"post_feedforward_layernorm", d.hidden, gain)
	case a.postNorms:
		b.norm(a, p+"post_attention_layernorm", d.hidden, gain)
		b.norm(a, p+"post_feedforward_layernorm", d.hidden, gain)
	default:
		b.norm(a, p+"input_layernorm", d.hidden, gain)
		b.norm(a, p+"post_attention_layernorm", d.hidden, gain*1.3)
	}
	if a.mla != nil {
		b.latent(a, d, l, p+"self_attn.")
	} else {
		b.attention(a, d, l, p+"self_attn.")
	}
	if a.moe != nil && l >= a.moe.firstDense {
		b.experts(a, d, l, p)
	} else {
		b.mlp(a, l, p+"mlp.", d.inter, d.hidden)
	}
}

func (b *build) attention(a *arch, d *dims, l int, p string) {
	q, kv := d.heads*d.head, d.kv*d.head
	out := map[string]int{"q": q, "k": kv, "v": kv}
	if a.fused {
		b.linear(p+"qkv_proj", "qkv", l, -1, q+2*kv, d.hidden)
	} else {
		for _, n := range []string{"q", "k", "v"} {
			b.linear(p+n+"_proj", n, l, -1, out[n], d.hidden)
			if a.qkvBias {
				b.bias(p+n+"_proj", out[n], map[string]float64{"q": 0.6, "k": between(b.r, 0.5, 30), "v": 0.03}[n])
			}
		}
	}
	b.linear(p+"o_proj", "o", l, -1, d.hidden, q)
	if a.oBias {
		b.bias(p+"o_proj", d.hidden, 0.05)
	}
	switch a.qkNorm {
	case "head":
		b.norm(a, p+"q_norm", d.head, between(b.r, 0.8, 2.5))
		b.norm(a, p+"k_norm", d.head, between(b.r, 0.8, 2.5))
	case "full":
		b.norm(a, p+"q_norm", q, between(b.r, 0.5, 1.5))
		b.norm(a, p+"k_norm", kv, between(b.r, 0.5, 1.5))
	}
	if a.sinks {
		b.vector(p+"sinks", d.heads, 0.5, 1.2)
	}
}

func (b *build) mlp(a *arch, l int, p string, inter, hidden int) {
	if a.plainMLP[0] != "" {
		b.linear(p+a.plainMLP[0], "up", l, -1, inter, hidden)
		b.linear(p+a.plainMLP[1], "down", l, -1, hidden, inter)
		if a.mlpBias {
			b.bias(p+a.plainMLP[0], inter, 0.03)
			b.bias(p+a.plainMLP[1], hidden, 0.03)
		}
		return
	}
	if a.fused {
		b.linear(p+"gate_up_proj", "gate_up", l, -1, 2*inter, hidden)
	} else {
		b.linear(p+"gate_proj", "gate", l, -1, inter, hidden)
		b.linear(p+"up_proj", "up", l, -1, inter, hidden)
	}
	b.linear(p+"down_proj", "down", l, -1, hidden, inter)
}
