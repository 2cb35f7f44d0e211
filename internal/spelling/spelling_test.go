package spelling_test

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/assay-suite/assay/internal/golden" // registers -update
	"github.com/assay-suite/assay/internal/spelling"
)

// Each renaming of fixtures/README.md MUST hold, and its neighbours MUST stay as they are.
func TestRelease(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"prefix", "model.layers.1.attn.indexer.compressor.ape", "layers.1.attn.indexer.compressor.ape"},
		{"embedding", "model.embed_tokens.weight", "embed.weight"},
		{"embedding-in-release", "embed.weight", "embed.weight"},
		{"head", "head.weight", "head.weight"},
		{"final-norm", "model.norm.weight", "norm.weight"},
		{"hc-head-fn", "model.hc_head.hc_fn", "hc_head_fn"},
		{"hc-head-base", "model.hc_head.hc_base", "hc_head_base"},
		{"hc-head-scale", "model.hc_head.hc_scale", "hc_head_scale"},
		{"hc-of-a-layer", "model.layers.0.hc_attn_fn", "layers.0.hc_attn_fn"},
		{"kv-norm", "model.layers.2.attn.norm.weight", "layers.2.attn.kv_norm.weight"},
		{"kv-norm-in-release", "layers.2.attn.kv_norm.weight", "layers.2.attn.kv_norm.weight"},
		{"compressor-norm", "model.layers.2.attn.compressor.norm.weight", "layers.2.attn.compressor.norm.weight"},
		{"attention-input-norm", "model.layers.2.attn_norm.weight", "layers.2.attn_norm.weight"},
		{"prefix-of-a-word", "models.x", "models.x"},
		{"empty", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := spelling.Release(row.in); got != row.want {
				t.Errorf("%q becomes %q, want %q", row.in, got, row.want)
			}
		})
	}
}

// Applying Release twice MUST be the same as once, or lookups would depend on who mapped first.
func TestReleaseIsIdempotent(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"model.", "embed_tokens.weight", "hc_head.hc_", "layers.0", ".attn.norm.weight", ".", "hc_", "x",
	})
	rapid.Check(t, func(t *rapid.T) {
		name := ""
		for _, p := range rapid.SliceOfN(part, 0, 6).Draw(t, "parts") {
			name += p
		}
		once := spelling.Release(name)
		if twice := spelling.Release(once); twice != once {
			t.Fatalf("%q becomes %q, then %q", name, once, twice)
		}
	})
}

// A name that goes to the release's spelling MUST come back from it.
func TestHuggingFaceIsTheWayBack(t *testing.T) {
	for _, name := range []string{
		"model.embed_tokens.weight", "head.weight", "model.hc_head.hc_fn", "model.hc_head.hc_base", "model.hc_head.hc_scale",
		"model.norm.weight", "model.layers.1.attn.norm.weight", "model.layers.1.attn.compressor.norm.weight",
		"model.layers.0.hc_attn_fn", "model.layers.0.ffn.experts.3.w1.weight",
	} {
		if got := spelling.HuggingFace(spelling.Release(name)); got != name {
			t.Errorf("%q comes back as %q", name, got)
		}
	}
}
