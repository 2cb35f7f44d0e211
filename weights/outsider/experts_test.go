package outsider

import "fmt"

// experts adds a mixture's router and experts in the family's way of storing them.
func (b *build) experts(a *arch, d *dims, l int, p string) {
	m := a.moe
	mtp := l >= d.layers
	mark := func(w *weight) { w.mtp = mtp }
	router := &weight{
		module: p + m.gate, role: "router", layer: l, expert: -1, slices: 1, rows: d.experts, cols: d.hidden, linear: true,
		mtp: mtp, parts: map[string]string{},
	}
	b.place(router)
	if m.correction != "" {
		b.vectorIn(or(m.correctionDtype, "F32"), p+m.correction, d.experts, between(b.r, 0.5, 8), 0.1)
	}
	switch m.stacked {
	case "llama4":
		b.stack(p+m.path+".gate_up_proj", "gate_up", l, d.experts, d.hidden, 2*d.expertInter)
		b.stack(p+m.path+".down_proj", "down", l, d.experts, d.expertInter, d.hidden)
	case "gpt-oss":
		b.bias(p+m.gate, d.experts, 0.1)
		if b.s.name == "gptoss-mxfp4" {
			b.blocksAndScales(p+m.path+".gate_up_proj", "gate_up", l, d.experts, 2*d.expertInter, d.hidden)
			b.blocksAndScales(p+m.path+".down_proj", "down", l, d.experts, d.hidden, d.expertInter)
		} else {
			b.stack(p+m.path+".gate_up_proj", "gate_up", l, d.experts, d.hidden, 2*d.expertInter)
			b.stack(p+m.path+".down_proj", "down", l, d.experts, d.expertInter, d.hidden)
		}
		b.table3(p+m.path+".gate_up_proj_bias", d.experts, 2*d.expertInter)
		b.table3(p+m.path+".down_proj_bias", d.experts, d.hidden)
	default:
		for e := range d.experts {
			q := fmt.Sprintf("%s%s.%d.", p, m.path, e)
			mark(b.matrixOf(q+m.names[0], "gate", l, e, d.expertInter, d.hidden, mtp))
			mark(b.matrixOf(q+m.names[1], "up", l, e, d.expertInter, d.hidden, mtp))
			mark(b.matrixOf(q+m.names[2], "down", l, e, d.hidden, d.expertInter, mtp))
		}
	}
	if m.shared != "" {
		q := p + m.shared + "."
		mark(b.matrixOf(q+"gate_proj", "gate", l, -1, d.expertInter, d.hidden, mtp))
		mark(b.matrixOf(q+"up_proj", "up", l, -1, d.expertInter, d.hidden, mtp))
		mark(b.matrixOf(q+"down_proj", "down", l, -1, d.hidden, d.expertInter, mtp))
	}
	if m.sharedGate != "" {
		w := &weight{
			module: p + m.sharedGate, role: "router", layer: l, expert: -1, slices: 1, rows: 1, cols: d.hidden, linear: true,
			parts: map[string]string{},
		}
		b.place(w)
	}
}

func (b *build) matrixOf(module, role string, layer, expert, rows, cols int, mtp bool) *weight {
	return b.place(&weight{
		module: module, role: role, layer: layer, expert: expert, slices: 1, rows: rows, cols: cols, linear: true, mtp: mtp,
		parts: map[string]string{},
	})
}

// table3 is a bias of stacked experts [E, n].
func (b *build) table3(name string, rows, n int) {
	v := make([]float32, rows*n)
	for i := range v {
		v[i] = float32(0.1 * b.r.NormFloat64())
	}
	b.add(name, b.dtype, store(b.dtype, v), rows, n)
}

// latent is multi-head latent attention (DeepSeek V2), with the indexer of V3.2 where the family has it.
func (b *build) latent(a *arch, d *dims, l int, p string) {
	m, mtp := a.mla, l >= d.layers
	heads := d.heads * (m.nope + m.rope)
	if m.q > 0 {
		b.matrixOf(p+"q_a_proj", "q_a", l, -1, m.q, d.hidden, mtp)
		b.norm(a, p+"q_a_layernorm", m.q, 0.5)
		b.matrixOf(p+"q_b_proj", "q_b", l, -1, heads, m.q, mtp)
	} else {
		b.matrixOf(p+"q_proj", "q", l, -1, heads, d.hidden, mtp)
	}
	b.matrixOf(p+"kv_a_proj_with_mqa", "kv_a", l, -1, m.kv+m.rope, d.hidden, mtp)
	b.norm(a, p+"kv_a_layernorm", m.kv, 0.4)
	b.matrixOf(p+"kv_b_proj", "kv_b", l, -1, d.heads*(m.nope+m.value), m.kv, mtp)
	b.matrixOf(p+"o_proj", "o", l, -1, d.hidden, d.heads*m.value, mtp)
	if a.indexer {
		const heads, width = 8, 64
		b.matrixOf(p+"indexer.wq_b", "wq_b", l, -1, heads*width, m.q, mtp)
		b.matrixOf(p+"indexer.wk", "wk", l, -1, width, d.hidden, mtp)
		b.vectorIn("F32", p+"indexer.k_norm.weight", width, 1, 0.1)
		b.vectorIn("F32", p+"indexer.k_norm.bias", width, 0, 0.1)
		b.matrixOf(p+"indexer.weights_proj", "small", l, -1, heads, d.hidden, mtp)
	}
}

// nextToken is the layer of multi-token prediction behind the last, as DeepSeek V3 stores it: with an embedding and a
// head of its own, which are copies of the model's.
func (b *build) nextToken(a *arch, d *dims) {
	p := fmt.Sprintf("%slayers.%d.", a.prefix, d.layers)
	b.norm(a, p+"enorm", d.hidden, 0.5)
	b.norm(a, p+"hnorm", d.hidden, 0.5)
	b.matrixOf(p+"eh_proj", "mtp", d.layers, -1, d.hidden, 2*d.hidden, true)
	b.norm(a, p+"shared_head.norm", d.hidden, 2)
	for copied, from := range map[string]string{"embed_tokens": a.prefix + "embed_tokens", "shared_head.head": "lm_head"} {
		if t := b.byName[from+".weight"]; t != nil {
			b.add(p+copied+".weight", t.dtype, t.data, t.shape...)
		}
	}
	b.norm(a, p+"input_layernorm", d.hidden, 0.4)
	b.norm(a, p+"post_attention_layernorm", d.hidden, 0.5)
	if a.mla != nil {
		b.latent(a, d, d.layers, p+"self_attn.")
	} else {
		at := len(b.weights)
		out := map[string]int{"q": d.heads * d.head, "k": d.kv * d.head, "v": d.kv * d.head}
		for _, n := range []string{"q", "k", "v"} {
			b.matrixOf(p+"self_attn."+n+"_proj", n, d.layers, -1, out[n], d.hidden, true)
			if a.qkvBias {
				b.bias(p+"self_attn."+n+"_proj", out[n], 0.3)
			}
		}
		b.matrixOf(p+"self_attn.o_proj", "o", d.layers, -1, d.hidden, out["q"], true)
		for _, w := range b.weights[at:] {
			w.mtp = true
		}
		if a.qkNorm == "head" {
			b.norm(a, p+"self_attn.q_norm", d.head, 1.2)
			b.norm(a, p+"self_attn.k_norm", d.head, 1.2)
		}
	}
	b.experts(a, d, d.layers, p)
}
