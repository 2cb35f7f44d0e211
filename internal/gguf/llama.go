package gguf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assay-suite/assay/internal/inflate"
	"github.com/assay-suite/assay/internal/nano"
	"github.com/assay-suite/assay/internal/nano/llama"
	"github.com/assay-suite/assay/safetensors"
)

// never is what a head row holds in channel 0, which is 1 before the last norm and gets the weight 1 there, so that its
// token is never said: -60,000 over the root mean square of the residual stream, which is below 300, in fp16 too.
const never = -60000

// types are the storage types of matrices by name, and the file's; vectors are fp32 in all of them.
var types = map[string]struct{ kind, file int }{"f32": {tensorF32, 0}, "f16": {tensorF16, 1}, "bf16": {tensorBF16, 32}}

// Encode is the GGUF file of the plain Llama in a folder, its matrices stored as f32, f16 or bf16. Words of prompts are
// ids from nano.VocabSize on, with the embedding of their bucket and a head row that is never the largest.
func Encode(fsys fs.FS, name, stored string) (_ []byte, err error) {
	kind, ok := types[stored]
	if !ok {
		return nil, fmt.Errorf("storage type %q is not written; take f32, f16 or bf16", stored)
	}
	c, err := llama.LoadConfig(fsys)
	if err != nil {
		return nil, err
	}
	v, err := newVocabulary()
	if err != nil {
		return nil, err
	}
	ckpt, err := safetensors.OpenCheckpoint(fsys, ".")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ckpt.Close()) }()
	f := &file{}
	if err := describe(f, c, v, name, uint32(kind.file)); err != nil {
		return nil, err
	}
	read := func(from string, shape ...int) []float64 {
		var values []float64
		if err == nil {
			values, err = nano.Dequantise(ckpt, from+".weight", shape)
		}
		return values
	}
	add := func(to string, values []float64, shape ...int) {
		k := kind.kind
		if len(shape) == 1 {
			k = tensorF32
		}
		if err == nil {
			err = f.add(to+".weight", shape, values, k)
		}
	}
	small := read("model.embed_tokens", c.Vocab, c.Hidden)
	head := read("lm_head", c.Vocab, c.Hidden)
	if err != nil {
		return nil, err
	}
	norm := read("model.norm", c.Hidden)
	if err := constantChannel(small, read, c); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	for id := range c.Vocab { // the weight of channel 0 moves from the norm into the head
		head[id*c.Hidden] *= norm[0]
	}
	norm[0] = 1
	embedding := make([]float64, 0, len(v.alias)*c.Hidden)
	for _, id := range v.alias {
		embedding = append(embedding, small[id*c.Hidden:(id+1)*c.Hidden]...)
	}
	add("token_embd", embedding, len(v.alias), c.Hidden)
	for i := range c.Layers {
		p, to := fmt.Sprintf("model.layers.%d.", i), fmt.Sprintf("blk.%d.", i)
		q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
		add(to+"attn_norm", read(p+"input_layernorm", c.Hidden), c.Hidden)
		add(to+"attn_q", interleaved(read(p+"self_attn.q_proj", q, c.Hidden), c.HeadDim, c.Hidden), q, c.Hidden)
		add(to+"attn_k", interleaved(read(p+"self_attn.k_proj", kv, c.Hidden), c.HeadDim, c.Hidden), kv, c.Hidden)
		add(to+"attn_v", read(p+"self_attn.v_proj", kv, c.Hidden), kv, c.Hidden)
		add(to+"attn_output", read(p+"self_attn.o_proj", c.Hidden, q), c.Hidden, q)
		add(to+"ffn_norm", read(p+"post_attention_layernorm", c.Hidden), c.Hidden)
		add(to+"ffn_gate", read(p+"mlp.gate_proj", c.Inner, c.Hidden), c.Inner, c.Hidden)
		add(to+"ffn_up", read(p+"mlp.up_proj", c.Inner, c.Hidden), c.Inner, c.Hidden)
		add(to+"ffn_down", read(p+"mlp.down_proj", c.Hidden, c.Inner), c.Hidden, c.Inner)
	}
	add("output_norm", norm, c.Hidden)
	rows := make([]float64, len(v.alias)*c.Hidden)
	copy(rows, head)
	for id := c.Vocab; id < len(v.alias); id++ {
		rows[id*c.Hidden] = never
	}
	add("output", rows, len(v.alias), c.Hidden)
	if err != nil {
		return nil, err
	}
	return f.bytes(), nil
}

// constantChannel fails unless channel 0 of the residual stream is 1 for every token: the embedding has it, no layer
// writes to it.
func constantChannel(embedding []float64, read func(name string, shape ...int) []float64, c llama.Config) error {
	for id := range c.Vocab {
		if embedding[id*c.Hidden] != 1 {
			return fmt.Errorf("channel 0 of the embedding of token %d is %v, want 1: words need the constant channel of "+
				"nano-llama", id, embedding[id*c.Hidden])
		}
	}
	for i := range c.Layers {
		for name, cols := range map[string]int{"self_attn.o_proj": c.Heads * c.HeadDim, "mlp.down_proj": c.Inner} {
			w := read(fmt.Sprintf("model.layers.%d.%s", i, name), c.Hidden, cols)
			for _, v := range w[:min(cols, len(w))] {
				if v != 0 {
					return fmt.Errorf("layer %d: %s writes to channel 0, which must stay constant for words to be ids", i, name)
				}
			}
		}
	}
	return nil
}

// interleaved orders the rows of every head of d channels so that the pair (i, i+d/2) becomes (2i, 2i+1): llama.cpp
// turns neighbours in the llama architecture. Source: llama.cpp convert_hf_to_gguf.py, LlamaModel.permute.
func interleaved(rows []float64, d, cols int) []float64 {
	out := make([]float64, len(rows))
	for r := range len(rows) / cols {
		head, i, half := r/d, r%d%(d/2), r%d/(d/2)
		to := head*d + 2*i + half
		copy(out[to*cols:(to+1)*cols], rows[r*cols:(r+1)*cols])
	}
	return out
}

func describe(f *file, c llama.Config, v vocabulary, name string, fileType uint32) error {
	alias := make([]int32, len(v.alias))
	for i, id := range v.alias {
		alias[i] = int32(id)
	}
	var err error
	for _, field := range []struct {
		key   string
		value any
	}{
		{"general.architecture", "llama"},
		{"general.type", "model"},
		{"general.name", name},
		{"general.file_type", fileType},
		{"general.alignment", uint32(alignment)},
		{"llama.vocab_size", uint32(len(v.texts))},
		{"llama.context_length", uint32(c.MaxPositions)},
		{"llama.embedding_length", uint32(c.Hidden)},
		{"llama.block_count", uint32(c.Layers)},
		{"llama.feed_forward_length", uint32(c.Inner)},
		{"llama.attention.head_count", uint32(c.Heads)},
		{"llama.attention.head_count_kv", uint32(c.KVHeads)},
		{"llama.attention.key_length", uint32(c.HeadDim)},
		{"llama.attention.value_length", uint32(c.HeadDim)},
		{"llama.attention.layer_norm_rms_epsilon", float32(c.NormEps)},
		{"llama.rope.dimension_count", uint32(c.HeadDim)},
		{"llama.rope.freq_base", float32(c.RopeBase)},
		{"tokenizer.ggml.model", "bert"},
		{"tokenizer.ggml.tokens", v.texts},
		{"tokenizer.ggml.token_type", v.types},
		{"tokenizer.ggml.bos_token_id", uint32(nano.BOS)},
		{"tokenizer.ggml.eos_token_id", uint32(nano.EOS)},
		{"tokenizer.ggml.unknown_token_id", uint32(unknownID)},
		{"tokenizer.ggml.seperator_token_id", uint32(nano.EOS)}, // spelled so in the format
		{"tokenizer.ggml.add_bos_token", true},
		{"tokenizer.ggml.add_eos_token", false},
		{"tokenizer.ggml.add_sep_token", false},
		{"tokenizer.ggml.normalizer.lowercase", true},
		{"tokenizer.ggml.normalizer.strip_accents", false},
		{"tokenizer.chat_template", inflate.ChatTemplate()},
		{"assay.alias", alias}, // the model's id that each token stands for; engines pass it over
	} {
		err = errors.Join(err, f.set(field.key, field.value))
	}
	return err
}

// Write writes the file through a temporary one beside it.
func Write(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".gguf-*")
	if err != nil {
		return fmt.Errorf("-out=%s cannot be written: %w", path, err)
	}
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("-out=%s cannot be written: %w", path, err), os.Remove(tmp.Name()))
	}
	return nil
}
