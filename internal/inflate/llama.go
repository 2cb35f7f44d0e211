package inflate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/nano/llama"
	"github.com/assay-suite/assay/safetensors"
)

// llamaLayout is the axes of nano-llama in a large plain Llama. What is exact here, beside what doc.go says of hidden
// size, heads and inner channels: the numbers of a value head see no rotation and no nonlinearity, so they may be
// turned at will; pair i of a query or key goes to pair i·N/n, which turns as fast; queries grow by sqrt(N/n), because
// scores are divided by the root of the head size; a layer that passes adds zero.
type llamaLayout struct {
	small  llama.Config
	shape  Shape
	layers []int // of the small model; -1 passes

	hidden, groups, perGroup *axis // the heads are groups (key heads) x perGroup
	pair, value, inner       *axis
	tokens, answers          *axis
}

func newLlamaLayout(c llama.Config, s Shape, layers int, seed uint64, alias []int) (*llamaLayout, error) {
	if s.KeyHeads == 0 {
		return nil, fmt.Errorf("shape %s is of the DeepSeek-V4 architecture, and the model is a plain Llama; use %s", s.Name,
			strings.Join(names(func(s Shape) bool { return s.KeyHeads > 0 }), " or "))
	}
	for _, d := range []struct {
		name         string
		small, large int
	}{
		{"hidden_size, with one channel over", c.Hidden + 1, s.Hidden},
		{"num_key_value_heads", c.KVHeads, s.KeyHeads},
		{"heads of a key head", c.Heads / c.KVHeads, s.Heads / s.KeyHeads},
		{"intermediate_size", c.Inner, s.Inner},
		{"head_dim", c.HeadDim, s.HeadDim},
		{"num_hidden_layers", c.Layers, layers},
	} {
		if d.small > d.large {
			return nil, fmt.Errorf("shape %s: %s is %d, the model needs at least %d; take a larger one", s.Name, d.name, d.large,
				d.small)
		}
	}
	if s.HeadDim%c.HeadDim != 0 || s.Heads%s.KeyHeads != 0 {
		return nil, fmt.Errorf("shape %s: a head of %d is no multiple of the model's %d, or %d heads cannot share %d key "+
			"heads", s.Name, s.HeadDim, c.HeadDim, s.Heads, s.KeyHeads)
	}
	m := &llamaLayout{small: c, shape: s, layers: fill(layers, -1)}
	for i := range c.Layers {
		m.layers[i*layers/c.Layers] = i
	}
	draw := func(what uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, what)) }
	line := func(what uint64, n, N int) *axis {
		if seed == 0 {
			return placed(N, upTo(n))
		}
		r := draw(what)
		return spread(n, shuffled(n, N, r), r)
	}
	plane := func(what uint64, n, N, spare int) *axis {
		if seed == 0 {
			return placed(N, upTo(n))
		}
		return rotated(n, N, spare, draw(what))
	}
	m.hidden, m.value = plane(1, c.Hidden, s.Hidden, 1), plane(2, c.HeadDim, s.HeadDim, 0)
	m.groups, m.perGroup = line(3, c.KVHeads, s.KeyHeads), line(4, c.Heads/c.KVHeads, s.Heads/s.KeyHeads)
	m.inner = line(5, c.Inner, s.Inner)
	at := upTo(c.HeadDim / 2)
	for i := range at {
		at[i] *= s.HeadDim / c.HeadDim
	}
	m.pair = placed(s.HeadDim/2, at)
	m.tokens = &axis{n: c.Vocab, N: c.Vocab + len(alias), source: append(upTo(c.Vocab), alias...)}
	m.answers = &axis{n: c.Vocab, N: c.Vocab + len(alias), source: append(upTo(c.Vocab), fill(len(alias), -1)...)}
	return m, nil
}

func plannedLlama(o *Options, alias []int, plant hand) (inflation, error) {
	c, err := llama.LoadConfig(o.From)
	if err != nil {
		return inflation{}, err
	}
	if !o.Format.HF {
		return inflation{}, fmt.Errorf("a plain Llama is written in hf-fp32 and hf-bf16, not in %s", o.Format.Name)
	}
	o.Format.HF = false // tensors have transformers' names already
	if o.Layers == 0 {
		o.Layers = c.Layers
	}
	if o.Layers > o.Shape.Layers && o.Shape.KeyHeads > 0 {
		return inflation{}, fmt.Errorf("%d layers: shape %s has %d, which is the most", o.Layers, o.Shape.Name,
			o.Shape.Layers)
	}
	m, err := newLlamaLayout(c, o.Shape, o.Layers, o.Seed, alias)
	if err != nil {
		return inflation{}, err
	}
	if plant.llama != nil {
		plant.llama(m)
	}
	return inflation{
		tensors: m.tensors,
		config:  func(small []byte) ([]byte, error) { return m.config(small, o.Format) },
		readme:  func(s Summary) []byte { return m.readme(*o, s) },
		layers:  len(m.layers), passing: m.passing(),
	}, nil
}

// names are the shapes that are known, as far as they are wanted.
func names(wanted func(Shape) bool) []string {
	var out []string
	for _, s := range Shapes() {
		if wanted(s) {
			out = append(out, s.Name)
		}
	}
	return out
}

// tensors are all of the large model, under transformers' names; small ones are asked for by the release's, as the
// checkpoint is opened.
func (m *llamaLayout) tensors(ckpt *safetensors.Checkpoint) []tensor {
	b := &builder{layout: &layout{hidden: m.hidden}, ckpt: ckpt}
	hidden, last := dims{{m.hidden, iso}}, m.shape.Hidden-1
	write := ratio(m.shape.Hidden, m.small.Hidden)
	b.add("model.embed_tokens.weight", "embed.weight", want{
		rows: dims{{m.tokens, copied}}, cols: hidden, scale: write, fix: func(_ int, row []float64) { row[last] = quiet },
	})
	b.add("lm_head.weight", "lm_head.weight", want{
		rows: dims{{m.answers, copied}}, cols: hidden, scale: 1 / write, norm: "norm.weight",
		fix: func(i int, row []float64) {
			if row[last] = 0; i >= m.small.Vocab {
				row[last] = silent
			}
		},
	})
	b.norm("model.norm.weight", "norm.weight", m.hidden, 1, func(i int, row []float64) {
		if i == last {
			row[0] = 1
		}
	})
	for i, from := range m.layers {
		m.layer(b, fmt.Sprintf("model.layers.%d.", i), from)
	}
	return b.list
}

// layer adds one layer; a passing one is the first of the small model with outputs of zero.
func (m *llamaLayout) layer(b *builder, p string, from int) {
	read, write := 1/ratio(m.shape.Hidden, m.small.Hidden), ratio(m.shape.Hidden, m.small.Hidden)
	if from < 0 {
		from, write = 0, 0
	}
	a := fmt.Sprintf("layers.%d.", from)
	hidden := dims{{m.hidden, iso}}
	turned := dims{{placed(2, upTo(2)), copied}, {m.pair, copied}}
	queries := append(dims{{m.groups, copied}, {m.perGroup, copied}}, turned...)
	keys := append(dims{{m.groups, copied}}, turned...)
	values := dims{{m.groups, copied}, {m.value, iso}}
	outputs := dims{{m.groups, shared}, {m.perGroup, shared}, {m.value, iso}}
	inner := dims{{m.inner, copied}}
	for _, t := range []struct {
		name, norm string
		rows, cols dims
		scale      float64
	}{
		{"self_attn.q_proj", "input_layernorm", queries, hidden, read * ratio(m.shape.HeadDim, m.small.HeadDim)},
		{"self_attn.k_proj", "input_layernorm", keys, hidden, read},
		{"self_attn.v_proj", "input_layernorm", values, hidden, read},
		{"self_attn.o_proj", "", hidden, outputs, write},
		{"mlp.gate_proj", "post_attention_layernorm", inner, hidden, read},
		{"mlp.up_proj", "post_attention_layernorm", inner, hidden, read},
		{"mlp.down_proj", "", hidden, dims{{m.inner, shared}}, write},
	} {
		w := want{role: linear, rows: t.rows, cols: t.cols, scale: t.scale}
		if t.norm != "" {
			w.norm = a + t.norm + ".weight"
		}
		b.add(p+t.name+".weight", a+t.name+".weight", w)
	}
	for _, norm := range []string{"input_layernorm", "post_attention_layernorm"} {
		b.norm(p+norm+".weight", a+norm+".weight", m.hidden, 1, nil)
	}
}

// config is the config.json of the folder.
func (m *llamaLayout) config(small []byte, f Format) ([]byte, error) {
	var c map[string]any
	numbers := json.NewDecoder(bytes.NewReader(small))
	numbers.UseNumber()
	if err := numbers.Decode(&c); err != nil {
		return nil, fmt.Errorf("config.json is not JSON: %w", err)
	}
	dtype := map[string]string{"hf-fp32": "float32", "hf-bf16": "bfloat16", "hf-fp64": "float64"}[f.Name]
	maps.Copy(c, map[string]any{
		"hidden_size": m.shape.Hidden, "intermediate_size": m.shape.Inner, "num_hidden_layers": len(m.layers),
		"num_attention_heads": m.shape.Heads, "num_key_value_heads": m.shape.KeyHeads, "head_dim": m.shape.HeadDim,
		"vocab_size": m.tokens.N, "dtype": dtype, "torch_dtype": dtype,
	})
	return indented(c)
}

// readme says in the folder what it is.
func (m *llamaLayout) readme(o Options, s Summary) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s in the shape of %s, %s\n", o.FromName, m.shape.Name, o.Format.Name)
	line("Written by assay's `inflate`. The model is %s as a function: the same logits, up to the arithmetic of the",
		o.FromName)
	line("format and of the engine. It recalls needles and knows nothing else.\n")
	line("- %.1f M parameters in %d tensors, %d shards, %.2f GiB", float64(s.Parameters)/1e6, s.Tensors, s.Shards,
		float64(s.Bytes)/(1<<30))
	line("- %d layers, of which %d add zero to their input", s.Layers, s.Passing)
	line("- the shape's own: hidden size %d, %d heads of %d on %d key heads, %d inner channels", m.shape.Hidden,
		m.shape.Heads, m.shape.HeadDim, m.shape.KeyHeads, m.shape.Inner)
	line("- %d of %d numbers of a query or key carry signal, those whose frequencies the model has; the others are zero",
		m.small.HeadDim, m.shape.HeadDim)
	line("- vocabulary: %d, words of the prompts; RoPE base and positions are the model's", m.tokens.N)
	return []byte(b.String())
}

// passing is how many layers add nothing.
func (m *llamaLayout) passing() int {
	return len(m.layers) - len(slices.DeleteFunc(slices.Clone(m.layers), func(l int) bool { return l < 0 }))
}
