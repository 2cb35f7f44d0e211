package llama

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/oracle"
	"github.com/assay-suite/assay/safetensors"
)

// Model is a loaded checkpoint, read-only after Load; any number of goroutines may use it, each with its own State.
type Model struct {
	Config Config

	embedding, head oracle.Mat
	norm            []float64
	layers          []layer
	frequencies     []float32 // of the rotary pairs
	round           func(x []float64, input bool)
}

// Rounded is the same model with every result of an operator and every input of a product handed to round, which may
// change it in place: what engines of a number format make of the model. Weights are in bf16 already.
func (m *Model) Rounded(round func(x []float64, input bool)) *Model {
	other := *m
	other.round = round
	return &other
}

// rounded is x as Rounded's function leaves it.
func (m *Model) rounded(x oracle.Mat) oracle.Mat {
	if m.round != nil {
		m.round(x.Data, false)
	}
	return x
}

// linear is the product with the roundings of Rounded around it.
func (m *Model) linear(x, w oracle.Mat) oracle.Mat {
	if m.round != nil {
		x = x.Clone()
		m.round(x.Data, true)
	}
	return m.rounded(oracle.Linear(x, w))
}

type layer struct {
	attnNorm, ffnNorm []float64
	q, k, v, o        oracle.Mat // [heads·d, hidden], [kv·d, hidden] twice, [hidden, heads·d]
	ffn               oracle.ExpertWeights
}

// Load reads config.json and model.safetensors (or shards with an index) in the names of Hugging Face's Llama. Every
// shape is checked against the config.
func Load(fsys fs.FS) (_ *Model, err error) {
	c, err := LoadConfig(fsys)
	if err != nil {
		return nil, err
	}
	ckpt, err := safetensors.OpenCheckpoint(fsys, ".")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ckpt.Close()) }()
	r := reader{ckpt: ckpt}
	m := &Model{
		Config:      c,
		embedding:   r.mat("model.embed_tokens", c.Vocab, c.Hidden),
		head:        r.mat("lm_head", c.Vocab, c.Hidden),
		norm:        r.vec("model.norm", c.Hidden),
		frequencies: frequencies(c.RopeBase, c.HeadDim),
	}
	for i := range c.Layers {
		p := fmt.Sprintf("model.layers.%d.", i)
		m.layers = append(m.layers, layer{
			attnNorm: r.vec(p+"input_layernorm", c.Hidden),
			ffnNorm:  r.vec(p+"post_attention_layernorm", c.Hidden),
			q:        r.mat(p+"self_attn.q_proj", c.Heads*c.HeadDim, c.Hidden),
			k:        r.mat(p+"self_attn.k_proj", c.KVHeads*c.HeadDim, c.Hidden),
			v:        r.mat(p+"self_attn.v_proj", c.KVHeads*c.HeadDim, c.Hidden),
			o:        r.mat(p+"self_attn.o_proj", c.Hidden, c.Heads*c.HeadDim),
			ffn: oracle.ExpertWeights{
				W1: r.mat(p+"mlp.gate_proj", c.Inner, c.Hidden),
				W2: r.mat(p+"mlp.down_proj", c.Hidden, c.Inner),
				W3: r.mat(p+"mlp.up_proj", c.Inner, c.Hidden),
			},
		})
	}
	if r.err != nil {
		return nil, fmt.Errorf("loading the checkpoint: %w", r.err)
	}
	return m, nil
}

// reader reads weights as float64; the first problem is kept, so that a loader can ask for everything and look once.
type reader struct {
	ckpt *safetensors.Checkpoint
	err  error
}

func (r *reader) read(name string, shape ...int) []float64 {
	if r.err != nil {
		return nil
	}
	data, err := nano.Dequantise(r.ckpt, name+".weight", shape)
	r.err = err
	return data
}

func (r *reader) mat(name string, rows, cols int) oracle.Mat {
	return oracle.Mat{Rows: rows, Cols: cols, Data: r.read(name, rows, cols)}
}

func (r *reader) vec(name string, n int) []float64 { return r.read(name, n) }
