package precision

import (
	"context"
	"maps"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/oracle"
)

// random is a tensor of a made checkpoint with values of about unit products.
func random(name string, shape ...int) part {
	rng, n := suite.Rand("precision/made/"+slug(name)), 1
	for _, d := range shape {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64() / math.Sqrt(float64(shape[len(shape)-1])))
	}
	return f32(shape, v...)
}

// V3.2 in Hugging Face's spelling has no hyper-connections and no compressor: one key a token, the layer norm of wk·h,
// and a router in groups.
func TestV32IsMeasured(t *testing.T) {
	parts := map[string]part{}
	for _, r := range []struct {
		name  string
		shape []int
	}{
		{"model.layers.0.self_attn.indexer.wq_b.weight", []int{4 * 32, 64}},
		{"model.layers.0.self_attn.indexer.weights_proj.weight", []int{4, 128}},
		{"model.layers.0.self_attn.indexer.wk.weight", []int{32, 128}},
		{"model.layers.0.self_attn.indexer.k_norm.weight", []int{32}},
		{"model.layers.0.self_attn.indexer.k_norm.bias", []int{32}},
		{"model.layers.0.mlp.gate.weight", []int{16, 128}},
		{"model.layers.0.mlp.gate.e_score_correction_bias", []int{16}},
	} {
		parts[r.name] = random(r.name, r.shape...)
	}
	config := `{"model_type": "deepseek_v32", "vocab_size": 64, "hidden_size": 128, "num_hidden_layers": 1, ` +
		`"num_attention_heads": 4,
		"qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 32, "q_lora_rank": 64, "kv_lora_rank": 32, ` +
		`"index_n_heads": 4,
		"index_head_dim": 32, "index_topk": 40, "n_routed_experts": 16, "num_experts_per_tok": 3, "n_shared_experts": 1,
		"moe_intermediate_size": 64, "rms_norm_eps": 1e-6, "scoring_func": "sigmoid", "n_group": 4, "topk_group": 2}`
	r, err := Measure(context.Background(), made(t, parts), Seeded("v32"), Options{Config: []byte(config), Keys: 96})
	require.NoError(t, err)
	assert.Empty(t, r.Notes)
	assert.Zero(t, r.Broken())
	kinds := map[string]int{}
	for _, row := range r.Rows {
		kinds[row.Tensor]++
		if row.Kind == Keys || row.Kind == Index {
			assert.Equal(t, []int{10, 20, 40}, row.sizes(), "%s %s", row.Tensor, row.Path)
		}
		if row.Path == "fp32" && row.Kind != Gate {
			assert.Equal(t, 1.0, row.Numbers["jaccard-min-40"], row.Tensor)
		}
	}
	x := "layers.0.attn.indexer."
	assert.Equal(t, map[string]int{
		x + "wq_b.weight": 6, x + "weights_proj.weight": 6, x + "wk.weight": 6, x + "keys": 5, "layers.0.ffn.gate.weight": 6,
		"layers.0.ffn.gate.bias": 3,
	}, kinds)
}

// Mean 2 and variance 1 of (1, 3): the normal values are −1 and 1, before weight and bias.
func TestLayerNormByHand(t *testing.T) {
	got := layerNorm(oracle.Mat{Rows: 1, Cols: 2, Data: []float64{1, 3}}, []float64{2, 4}, []float64{10, 20})
	eps := 1 / math.Sqrt(1+1e-6)
	assert.Equal(t, []float64{-2*eps + 10, 4*eps + 20}, got.Data)
}

// An indexer under SGLang's names gives the rows that the same weights give under the release's.
func TestFusedCompressorIsMeasuredAsTwo(t *testing.T) {
	plain := map[string]part{}
	for _, r := range []struct {
		name  string
		shape []int
	}{
		{"wq_b.weight", []int{2 * 16, 32}},
		{"weights_proj.weight", []int{2, 64}},
		{"compressor.wkv.weight", []int{32, 64}},
		{"compressor.wgate.weight", []int{32, 64}},
		{"compressor.ape", []int{4, 32}},
		{"compressor.norm.weight", []int{16}},
	} {
		plain["layers.5.attn.indexer."+r.name] = random(r.name, r.shape...)
	}
	fused := maps.Clone(plain)
	x := "layers.5.attn.indexer.compressor."
	kv, gate := plain[x+"wkv.weight"], plain[x+"wgate.weight"]
	delete(fused, x+"wkv.weight")
	delete(fused, x+"wgate.weight")
	fused["layers.5.self_attn.indexer.compressor.wkv_gate.weight"] = part{
		"F32", []int{64, 64}, append(append([]byte(nil), kv.raw...), gate.raw...),
	}
	o := Options{Config: nanoConfig(t), Keys: 48}
	a, err := Measure(context.Background(), made(t, plain), Seeded("fused"), o)
	require.NoError(t, err)
	b, err := Measure(context.Background(), made(t, fused), Seeded("fused"), o)
	require.NoError(t, err)
	assert.Len(t, a.Rows, 4*6+5)
	if d := cmp.Diff(a.Rows, b.Rows, cmpopts.IgnoreFields(Row{}, "Fingerprint")); d != "" {
		t.Errorf("the fused tensor is measured otherwise:\n%s", d)
	}
}
