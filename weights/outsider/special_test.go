package outsider

import (
	"fmt"
	"math"
	"strings"
)

// deltaNet is a layer of Qwen3-Next: gated delta rule in three of four layers, gated attention in the fourth.
func deltaNet(b *build, a *arch, d *dims, l int, p string) bool {
	b.norm(a, p+"input_layernorm", d.hidden, 0.3)
	b.norm(a, p+"post_attention_layernorm", d.hidden, 0.4)
	if l == d.layers-1 {
		q, kv := d.heads*d.head, d.kv*d.head
		b.linear(p+"self_attn.q_proj", "q", l, -1, 2*q, d.hidden) // queries and their gates
		b.linear(p+"self_attn.k_proj", "k", l, -1, kv, d.hidden)
		b.linear(p+"self_attn.v_proj", "v", l, -1, kv, d.hidden)
		b.linear(p+"self_attn.o_proj", "o", l, -1, d.hidden, q)
		b.norm(a, p+"self_attn.q_norm", d.head, 0.5)
		b.norm(a, p+"self_attn.k_norm", d.head, 0.5)
	} else {
		key, value, heads := 128, 256, 8
		b.linear(p+"linear_attn.in_proj_qkvz", "qkvz", l, -1, 2*key+2*value, d.hidden)
		b.linear(p+"linear_attn.in_proj_ba", "small", l, -1, 2*heads, d.hidden)
		b.linear(p+"linear_attn.out_proj", "o", l, -1, d.hidden, value)
		b.conv(p+"linear_attn.conv1d.weight", l, 2*key+value)
		b.decay(p+"linear_attn.", heads)
		b.vector(p+"linear_attn.norm.weight", value/heads, 0.9, 0.2)
	}
	b.experts(a, d, l, p)
	return true
}

// conv is a depthwise convolution [channels, 1, 4].
func (b *build) conv(name string, l, channels int) {
	v := make([]float32, channels*4)
	s := b.rms("conv", l)
	for i := range v {
		v[i] = float32(s * b.r.NormFloat64())
	}
	b.add(name, b.dtype, store(b.dtype, v), channels, 1, 4)
}

// decay is A_log and dt_bias of a state space.
func (b *build) decay(p string, heads int) {
	a, dt := make([]float32, heads), make([]float32, heads)
	for i := range a {
		a[i] = float32(math.Log(between(b.r, 1, 16)))
		dt[i] = float32(between(b.r, 0.01, 4) - 2)
	}
	dtype := pick(b.r, "F32", b.dtype)
	b.add(p+"A_log", dtype, store(dtype, a), heads)
	b.add(p+"dt_bias", dtype, store(dtype, dt), heads)
}

// nemotron is a layer of Nemotron-H by the letter of its pattern: M state space, - MLP, * attention, E experts.
func nemotron(b *build, a *arch, d *dims, l int, p string) bool {
	pattern := a.config["hybrid_override_pattern"].(string)
	b.norm(a, p+"norm", d.hidden, between(b.r, 0.3, 1))
	p += "mixer."
	switch pattern[l] {
	case 'M':
		b.mamba(p, d, l)
	case '-':
		b.linear(p+"up_proj", "up", l, -1, d.inter, d.hidden)
		b.linear(p+"down_proj", "down", l, -1, d.hidden, d.inter)
	case 'E':
		b.linear(p+"gate", "router", l, -1, d.experts, d.hidden)
		b.vectorIn("F32", p+"gate.e_score_correction_bias", d.experts, 1, 0.05)
		for e := range d.experts {
			b.linear(fmt.Sprintf("%sexperts.%d.up_proj", p, e), "up", l, e, d.expertInter, d.hidden)
			b.linear(fmt.Sprintf("%sexperts.%d.down_proj", p, e), "down", l, e, d.hidden, d.expertInter)
		}
		b.linear(p+"shared_experts.up_proj", "up", l, -1, d.expertInter, d.hidden)
		b.linear(p+"shared_experts.down_proj", "down", l, -1, d.hidden, d.expertInter)
	case '*':
		for _, n := range []string{"q", "k", "v"} {
			rows := d.kv * d.head
			if n == "q" {
				rows = d.heads * d.head
			}
			b.linear(p+n+"_proj", n, l, -1, rows, d.hidden)
		}
		b.linear(p+"o_proj", "o", l, -1, d.hidden, d.heads*d.head)
	}
	return true
}

// mamba is a Mamba-2 mixer: 8 heads of 64, 2 groups, a state of 32.
func (b *build) mamba(p string, _ *dims, l int) {
	const inner, heads, groups, state = 512, 8, 2, 32
	h := len(b.residual)
	b.linear(p+"in_proj", "in", l, -1, 2*inner+2*groups*state+heads, h)
	b.conv(p+"conv1d.weight", l, inner+2*groups*state)
	b.vector(p+"conv1d.bias", inner+2*groups*state, 0, 0.1)
	b.decay(p, heads)
	b.vectorIn(b.dtype, p+"D", heads, 1, 0.2)
	b.vector(p+"norm.weight", inner, 0.8, 0.2)
	b.linear(p+"out_proj", "o", l, -1, h, inner)
}

// tower is a vision encoder with names of the family; quantisers leave it out.
func tower(prefix string) func(b *build, a *arch, d *dims) {
	return func(b *build, a *arch, d *dims) {
		const width, inter = 128, 320
		v := func(name string, rows, cols int) {
			b.place(&weight{
				module: prefix + name, role: "vision", layer: -1, expert: -1, slices: 1, rows: rows, cols: cols, linear: true,
				parts: map[string]string{},
			})
			b.bias(prefix+name, rows, 0.1)
		}
		if strings.HasPrefix(prefix, "vis") || strings.HasPrefix(prefix, "model.vis") {
			patch := make([]float32, width*3*14*14)
			for i := range patch {
				patch[i] = float32(0.02 * b.r.NormFloat64())
			}
			b.add(prefix+"patch_embed.proj.weight", b.dtype, store(b.dtype, patch), width, 3, 14, 14)
		}
		for l := range 2 {
			q := fmt.Sprintf("blocks.%d.", l)
			v(q+"attn.qkv", 3*width, width)
			v(q+"attn.proj", width, width)
			v(q+"mlp.fc1", inter, width)
			v(q+"mlp.fc2", width, inter)
			for _, n := range []string{"norm1", "norm2"} {
				b.vector(prefix+q+n+".weight", width, 0.8, 0.3)
				b.vector(prefix+q+n+".bias", width, 0, 0.2)
			}
		}
		v("merger.linear_fc1", 4*width, 4*width)
		v("merger.linear_fc2", d.hidden, 4*width)
		_ = a
	}
}
