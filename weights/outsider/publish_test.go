package outsider

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// publish adds what else stands in published folders: files of other tools, buffers that old versions saved, a copy in
// another library's spelling, a tied head that was saved all the same, links of a hub cache.
func (b *build) publish(a *arch, d *dims) {
	b.files["README.md"] = []byte("---\nlicense: mit\n---\n# Model\n")
	b.files[".gitattributes"] = []byte("*.safetensors filter=lfs\n")
	r := b.r
	b.hub = r.IntN(6) == 0
	if !strings.HasPrefix(b.s.name, "mlx") && !strings.HasPrefix(b.s.name, "torchao") && r.IntN(6) == 0 {
		b.metadata = nil
	}
	if a.modelType == "llama" && a.tied && r.IntN(3) == 0 { // where no scaling of the rope changes them
		for l := range b.config["num_hidden_layers"].(int) {
			v := make([]float32, d.head/2)
			for i := range v {
				v[i] = float32(math.Pow(b.config["rope_theta"].(float64), -2*float64(i)/float64(d.head)))
			}
			b.add(fmt.Sprintf("model.layers.%d.self_attn.rotary_emb.inv_freq", l), "F32", store("F32", v), len(v))
		}
	}
	if a.modelType == "llama" && a.tied && b.s.encode == nil && r.IntN(3) == 0 {
		t := b.byName["model.embed_tokens.weight"]
		b.add("lm_head.weight", t.dtype, t.data, t.shape...)
	}
	if a.modelType == "mistral" && b.s.name == "bf16" && r.IntN(2) == 0 {
		names := strings.NewReplacer(
			"model.embed_tokens", "tok_embeddings", "model.layers", "layers", "self_attn.q_proj", "attention.wq",
			"self_attn.k_proj", "attention.wk", "self_attn.v_proj", "attention.wv", "self_attn.o_proj", "attention.wo",
			"mlp.gate_proj", "feed_forward.w1", "mlp.down_proj", "feed_forward.w2", "mlp.up_proj", "feed_forward.w3",
			"post_attention_layernorm", "ffn_norm", "input_layernorm", "attention_norm", "model.norm", "norm",
			"lm_head", "output",
		)
		var ts []*tensor
		for _, t := range b.tensors {
			ts = append(ts, &tensor{names.Replace(t.name), t.dtype, t.shape, t.data})
		}
		b.files["consolidated.safetensors"] = shard(ts, nil)
		b.files["params.json"] = encoded(object{"dim": b.weights[0].cols, "norm_eps": 1e-5, "vocab_size": b.weights[0].rows})
		b.shards = max(2, b.shards)
	}
}

// put writes the folder below base, and gives the path that a user would name.
func (f *folder) put(base string) (string, error) {
	dir := filepath.Join(base, "model")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	if err := f.write(dir); err != nil || !f.hub {
		return dir, err
	}
	cache := filepath.Join(base, "models--a--b")
	snapshot, blobs := filepath.Join(cache, "snapshots", "0123abcd"), filepath.Join(cache, "blobs")
	for _, d := range []string{snapshot, blobs} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			return "", err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		blob := fmt.Sprintf("%x", sha256.Sum256([]byte(e.Name())))
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(blobs, blob)); err != nil {
			return "", err
		}
		if err := os.Symlink(filepath.Join("..", "..", "blobs", blob), filepath.Join(snapshot, e.Name())); err != nil {
			return "", err
		}
	}
	return snapshot, nil
}
