package checkpoint_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// random makes a bf16 tensor of Gaussian values: a model that nobody trained.
func random(rng *rand.Rand, name string, shape ...int) *stored {
	n := 1
	for _, d := range shape {
		n *= d
	}
	raw := make([]byte, 0, 2*n)
	for range n {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Float32bits(float32(rng.NormFloat64()/16))>>16))
	}
	return &stored{name, "BF16", shape, raw, "model.safetensors"}
}

func written(t testing.TB, config map[string]any, tensors ...*stored) *folder {
	t.Helper()
	return &folder{t: t, tensors: tensors, config: config, total: -1, cuts: map[string]int{}, files: map[string][]byte{}}
}

func examine(t *testing.T, f *folder) checkpoint.Report {
	t.Helper()
	r, err := checkpoint.Examine(context.Background(), os.DirFS(f.write()), checkpoint.Options{})
	require.NoError(t, err)
	return r
}

// v32 is a V3.2 of toy size, one dense layer, one with experts, one MTP layer, in Hugging Face's spelling.
func v32() map[string]any {
	return map[string]any{
		"model_type": "deepseek_v32", "vocab_size": 96, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
		"qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "v_head_dim": 16, "q_lora_rank": 32, "kv_lora_rank": 24,
		"index_n_heads": 2, "index_head_dim": 16,
		"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 32,
		"first_k_dense_replace": 1,
		"intermediate_size":     128, "num_nextn_predict_layers": 1,
	}
}

func v32Tensors(seed uint64) []*stored {
	rng := rand.New(rand.NewPCG(20261129, seed))
	var out []*stored
	add := func(name string, shape ...int) { out = append(out, random(rng, name, shape...)) }
	for i := range 3 {
		l := fmt.Sprintf("model.layers.%d.", i)
		add(l+"input_layernorm.weight", 64)
		add(l+"post_attention_layernorm.weight", 64)
		add(l+"self_attn.q_a_proj.weight", 32, 64)
		add(l+"self_attn.q_a_layernorm.weight", 32)
		add(l+"self_attn.q_b_proj.weight", 48, 32)
		add(l+"self_attn.kv_a_proj_with_mqa.weight", 32, 64)
		add(l+"self_attn.kv_a_layernorm.weight", 24)
		add(l+"self_attn.kv_b_proj.weight", 64, 24)
		add(l+"self_attn.o_proj.weight", 64, 32)
		add(l+"self_attn.indexer.wq_b.weight", 32, 32)
		add(l+"self_attn.indexer.wk.weight", 16, 64)
		add(l+"self_attn.indexer.k_norm.weight", 16)
		add(l+"self_attn.indexer.k_norm.bias", 16)
		add(l+"self_attn.indexer.weights_proj.weight", 2, 64)
		parts := []string{"mlp."}
		if i > 0 {
			add(l+"mlp.gate.weight", 4, 64)
			add(l+"mlp.gate.e_score_correction_bias", 4)
			parts = []string{"mlp.shared_experts.", "mlp.experts.0.", "mlp.experts.1.", "mlp.experts.2.", "mlp.experts.3."}
		}
		for _, p := range parts {
			inner := 32
			if i == 0 {
				inner = 128
			}
			add(l+p+"gate_proj.weight", inner, 64)
			add(l+p+"down_proj.weight", 64, inner)
			add(l+p+"up_proj.weight", inner, 64)
		}
		if i == 2 {
			add(l+"eh_proj.weight", 64, 128)
			add(l+"enorm.weight", 64)
			add(l+"hnorm.weight", 64)
			add(l+"shared_head.norm.weight", 64)
			add(l+"shared_head.head.weight", 96, 64)
			add(l+"embed_tokens.weight", 96, 64)
		}
	}
	add("model.embed_tokens.weight", 96, 64)
	add("lm_head.weight", 96, 64)
	add("model.norm.weight", 64)
	return out
}

// A V3.2 whose weights are noise: every name and shape fits, and no statistic finds a pattern in noise, over
// 25 draws. Then with a norm lost and a projection misshapen.
func TestV32(t *testing.T) {
	for seed := range uint64(25) {
		r := examine(t, written(t, v32(), v32Tensors(seed)...))
		if r.Family != checkpoint.FamilyV32 || r.Expected != r.Tensors || len(r.Findings) > 0 {
			t.Fatalf("seed %d: family %q, %d tensors, expected %d, findings %v", seed, r.Family, r.Tensors, r.Expected,
				r.Findings)
		}
	}
	tensors := v32Tensors(1)
	f := written(t, v32(), slices.DeleteFunc(tensors, func(s *stored) bool {
		return s.name == "model.layers.1.self_attn.kv_a_layernorm.weight"
	})...)
	at := slices.IndexFunc(f.tensors, func(s *stored) bool { return s.name == "model.layers.0.self_attn.o_proj.weight" })
	f.tensors[at].shape = []int{32, 64}
	var kinds []string
	for _, x := range examine(t, f).Findings {
		kinds = append(kinds, x.Kind)
	}
	if want := []string{checkpoint.KindShape, checkpoint.KindMissing}; !slices.Equal(kinds, want) {
		t.Errorf("found %v, want %v", kinds, want)
	}
}

// Another architecture: nothing is known of its names, everything that needs none is done.
func TestUnknownArchitecture(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261129, 5))
	build := func() *folder {
		f := written(t, map[string]any{"model_type": "llama", "num_hidden_layers": 4})
		for i := range 4 {
			f.tensors = append(f.tensors, random(rng, fmt.Sprintf("blocks.%d.mixer.weight", i), 32, 32),
				random(rng, fmt.Sprintf("blocks.%d.norm.scale", i), 32),
				&stored{fmt.Sprintf("blocks.%d.mask", i), "U8", []int{16, 16}, bytesOf(rng, 256), "model.safetensors"},
				&stored{fmt.Sprintf("blocks.%d.stack", i), "BF16", []int{2, 4, 8}, random(rng, "", 64).raw, "model.safetensors"},
				&stored{fmt.Sprintf("blocks.%d.none", i), "F32", []int{0, 8}, nil, "model.safetensors"})
		}
		return f
	}
	if r := examine(t, build()); len(r.Findings) > 0 || r.Family != "llama" || len(r.Skipped) == 0 {
		t.Errorf("sound: %v, family %q, skipped %q", r.Findings, r.Family, r.Skipped)
	}
	f := build()
	binary.LittleEndian.PutUint16(f.tensors[0].raw[6:], 0x7fc0)
	f.tensors[5].dtype = "F16"
	for i := range f.tensors[10].raw {
		f.tensors[10].raw[i] = 0
	}
	r := examine(t, f)
	var got []string
	for _, x := range r.Findings {
		got = append(got, x.Kind+" "+strings.Join(x.Tensors, ","))
	}
	want := []string{"all-zero blocks.2.mixer.weight", "dtype-minority blocks.1.mixer.weight", "nan blocks.0.mixer.weight"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func bytesOf(rng *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rng.Uint32())
	}
	return out
}
