package checkpoint_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/checkpoint"
)

// quantised is a quantization_config of a method: further members follow, as JSON.
func quantised(method, more string) string {
	return `{"quant_method":"` + method + `"` + more + `}`
}

const (
	blocks128 = `,"fmt":"e4m3","activation_scheme":"dynamic","weight_block_size":[128,128]`
	blocks64  = `,"activation_scheme":"dynamic","weight_block_size":[64,64]`
	ue8m0     = `,"fmt":"e4m3","scale_fmt":"ue8m0","weight_block_size":[128,128]`
	groups32  = `,"bits":4,"group_size":32`
	quark4    = `,"global_quant_config":{"weight":{"dtype":"fp4","group_size":32,"qscheme":"per_group",` +
		`"scale_format":"e8m0","is_dynamic":false},"input_tensors":{"dtype":"fp4","is_dynamic":true}},"exclude":["lm_head"]`
	keptOSS = `,"modules_to_not_convert":["model.layers.*.self_attn","model.layers.*.mlp.router","model.embed_tokens",` +
		`"lm_head"]`
	modelOpt4 = `,"quant_algo":"NVFP4","ignore":["lm_head","*mlp.gate"],"config_groups":{"group_0":{"weights":` +
		`{"num_bits":4,"type":"float","group_size":16,"dynamic":false},"targets":["Linear"]}}`
	float8 = `"num_bits":8,"type":"float","strategy":`
	float4 = `"num_bits":4,"type":"float","strategy":`
	int4   = `"num_bits":4,"type":"int","strategy":"group","group_size":32,"symmetric":`
)

// schemes of sound folders.
var schemes = map[string]storage{
	"bf16":            {linear: bf16},
	"fp8-block":       {linear: fp8(128, 128, ".weight_scale_inv", "F32"), quant: quantised("fp8", blocks128)},
	"fp8-block-bf16":  {linear: fp8(128, 128, ".weight_scale_inv", "BF16"), quant: quantised("fp8", blocks128)},
	"fp8-block-64":    {linear: fp8(64, 64, ".weight_scale_inv", "F32"), quant: quantised("fp8", blocks64)},
	"fp8-block-ue8m0": {linear: fp8(128, 128, ".weight_scale_inv", "F8_E8M0"), quant: quantised("fp8", ue8m0)},
	"fp8-tensor": {
		linear: withInput(fp8(0, 0, ".weight_scale", "F32")),
		quant:  quantised("fp8", `,"activation_scheme":"static"`),
	},
	"ct-fp8-channel": {linear: fp8(1, 0, ".weight_scale", "BF16"), quant: ct("float-quantized", float8+`"channel"`)},
	"ct-fp8-tensor": {
		linear: withInput(fp8(0, 0, ".weight_scale", "BF16")),
		quant:  ct("float-quantized", float8+`"tensor"`),
	},
	"ct-fp8-block": {
		linear: fp8(128, 128, ".weight_scale", "BF16"),
		quant:  ct("float-quantized", float8+`"block","block_structure":[128,128]`),
	},
	"modelopt-fp8": {
		linear: withInput(fp8(0, 0, ".weight_scale", "F32")),
		quant:  quantised("modelopt", `,"quant_algo":"FP8","ignore":["lm_head"]`),
	},
	"mxfp8-u8": {
		linear: fp8(1, 32, ".weight_scale", "U8"), align: 32,
		quant: quantised("modelopt", `,"quant_algo":"MXFP8","ignore":["lm_head","*gate","*router"]`),
	},
	"mxfp8-inv": {
		linear: fp8(1, 32, ".weight_scale_inv", "F8_E8M0"), align: 32,
		quant: quantised("mxfp8", `,"quant_algo":"MXFP8"`),
	},
	"quark-mxfp4": {linear: mxfp4(".weight", ".weight_scale", "U8"), quant: quantised("quark", quark4), align: 32},
	"ct-mxfp4": {
		linear: mxfp4(".weight_packed", ".weight_scale", "U8"), align: 32,
		quant: ct("mxfp4-pack-quantized", float4+`"group","group_size":32`),
	},
	"gptoss-mxfp4":   {linear: bf16, fused: mxfp4("_blocks", "_scales", "U8"), quant: quantised("mxfp4", keptOSS)},
	"modelopt-nvfp4": {linear: nvfp4(false), quant: quantised("modelopt", modelOpt4), align: 32},
	"ct-nvfp4": {
		linear: nvfp4(true), align: 32,
		quant: ct("nvfp4-pack-quantized", float4+`"tensor_group","group_size":16`),
	},
	"ct-w4a16":      {linear: w4a16(true), quant: ct("pack-quantized", int4+"true"), align: 32},
	"ct-w4a16-asym": {linear: w4a16(false), quant: ct("pack-quantized", int4+"false"), align: 32},
	"ct-w8a8": {
		linear: int8Rows(".weight_scale", 1),
		quant:  ct("int-quantized", `"num_bits":8,"type":"int","strategy":"channel","symmetric":true`),
	},
	"gptq-sym": {
		linear: gptq(4, true, false, false), align: 32,
		quant: quantised("gptq", groups32+`,"desc_act":false,"sym":true`),
	},
	"gptq-asym-v2": {
		linear: gptq(4, false, true, false), align: 32,
		quant: quantised("gptq", groups32+`,"desc_act":false,"sym":false,"checkpoint_format":"gptq_v2"`),
	},
	"gptq-actorder": {
		linear: gptq(4, true, false, true), align: 32,
		quant: quantised("gptq", groups32+`,"desc_act":true,"sym":true,"checkpoint_format":"gptq"`),
	},
	"gptq-8bit": {
		linear: gptq(8, true, false, false), align: 32,
		quant: quantised("gptq", `,"bits":8,"group_size":32,"sym":true`),
	},
	"awq": {
		linear: awq, align: 32,
		quant: quantised("awq", groups32+`,"zero_point":true,"version":"gemm","modules_to_not_convert":["gate"]`),
	},
	"bnb-nf4": {
		linear: nf4, align: 64,
		quant: quantised("bitsandbytes", `,"load_in_4bit":true,"bnb_4bit_quant_type":"nf4"`),
	},
	"bnb-int8": {linear: int8Rows(".SCB", 127), quant: quantised("bitsandbytes", `,"load_in_8bit":true`)},
	"mlx": {
		linear: mlx4, align: 64, head: true, embed: true,
		quant: `{"group_size":64,"bits":4}`, key: "quantization",
	},
	"w4afp8": {
		linear: fp8(128, 128, ".weight_scale_inv", "F32"), expert: int4Pairs, align: 128,
		quant: quantised("w4afp8", `,"activation_scheme":"dynamic"`),
	},
}

// pairs of scheme and family that public checkpoints have, and some of each that only might.
var pairs = []string{
	"bf16/llama", "bf16/llama-tied", "bf16/mistral", "bf16/mixtral", "bf16/qwen2", "bf16/qwen3", "bf16/qwen3-moe",
	"bf16/qwen3-next", "bf16/gemma2", "bf16/gemma3", "bf16/phi3", "bf16/glm4-moe", "bf16/kimi-k2", "bf16/minimax-m2",
	"bf16/gpt-oss", "bf16/nemotron-h", "bf16/deepseek-v2", "bf16/deepseek-v3", "bf16/unknown",
	"fp8-block/qwen3-moe", "fp8-block/deepseek-v3", "fp8-block-bf16/glm4-moe", "fp8-block-64/qwen3",
	"fp8-block-ue8m0/deepseek-v3",
	"fp8-tensor/llama", "ct-fp8-channel/llama", "ct-fp8-tensor/mistral", "ct-fp8-block/qwen3-moe", "modelopt-fp8/llama",
	"mxfp8-u8/llama", "mxfp8-inv/minimax-m2", "quark-mxfp4/deepseek-v3", "ct-mxfp4/llama", "gptoss-mxfp4/gpt-oss",
	"modelopt-nvfp4/qwen3-moe", "modelopt-nvfp4/nemotron-h", "ct-nvfp4/llama", "ct-nvfp4/qwen3-moe", "ct-w4a16/kimi-k2",
	"ct-w4a16/llama", "ct-w4a16-asym/qwen2", "ct-w8a8/llama", "gptq-sym/llama", "gptq-asym-v2/qwen2",
	"gptq-actorder/mixtral",
	"gptq-8bit/phi3", "awq/llama", "awq/qwen3-moe", "bnb-nf4/llama", "bnb-nf4/gemma2", "bnb-int8/llama", "mlx/qwen3",
	"mlx/gemma3", "w4afp8/deepseek-v3", "ct-fp8-channel/qwen3-next", "fp8-block/minimax-m2",
}

// draws is how many times each pair is drawn.
func draws() uint64 {
	if v, _ := os.LookupEnv("ASSAY_BUDGET"); v == "full" {
		return 30
	}
	return 1
}

// drawn is a sound folder.
func drawn(t testing.TB, scheme, fam string, seed uint64) *folder {
	t.Helper()
	s, okS := schemes[scheme]
	build, okF := families[fam]
	require.True(t, okS && okF, "%s/%s", scheme, fam)
	f := build()
	rng := rand.New(rand.NewPCG(20261201, seed))
	tensors := f.build(rng, s)
	return written(t, f.config, tensors...)
}

// A sound folder of every pair raises nothing above "worth a look", is decoded whole, and ends in code 0.
func TestSoundPairs(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(pairs), 30)
	used := map[string]bool{}
	for _, pair := range pairs {
		scheme, fam, _ := strings.Cut(pair, "/")
		used[scheme], used[fam] = true, true
		t.Run(pair, func(t *testing.T) {
			t.Parallel()
			for seed := range draws() {
				fsys := os.DirFS(drawn(t, scheme, fam, seed).write())
				r, err := checkpoint.Examine(context.Background(), fsys, checkpoint.Options{})
				require.NoError(t, err)
				for _, f := range r.Findings {
					switch {
					case f.Severity > checkpoint.Look:
						t.Errorf("seed %d: %s", seed, f)
					case f.Severity == checkpoint.Look:
						t.Logf("seed %d: %s", seed, f)
					}
				}
				if code, text := r.Verdict(); code != 0 || r.Unexamined() > 0 {
					t.Errorf("seed %d: verdict %d %s; formats %+v", seed, code, text, r.Formats)
				}
				coded := slices.ContainsFunc(r.Formats, func(f checkpoint.Format) bool { return f.Layout != "float" })
				if coded != (scheme != "bf16") {
					t.Errorf("seed %d: read as quantised: %t; %+v", seed, coded, r.Formats)
				}
			}
		})
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(schemes)), slices.Collect(maps.Keys(families))) {
		if !used[name] {
			t.Errorf("%s is in no pair", name)
		}
	}
}

// Weights of a method that is not decoded are listed as not examined, and the verdict is partial.
func TestUndecodedIsPartial(t *testing.T) {
	f := families["llama"]()
	rng := rand.New(rand.NewPCG(20261201, 9))
	tensors := f.build(rng, schemes["bf16"])
	for _, s := range tensors {
		if strings.Contains(s.name, "_proj") {
			s.name, s.dtype, s.shape = strings.Replace(s.name, ".weight", ".q_weight", 1), "I32", []int{len(s.raw) / 64, 16}
		}
	}
	f.config["quantization_config"] = map[string]any{"quant_method": "exl2", "bits": 4.5}
	r := examine(t, written(t, f.config, tensors...))
	if code, text := r.Verdict(); code != 3 || !strings.Contains(text, "EXL2") || !strings.HasPrefix(text, "partial") {
		t.Errorf("code %d, %s; %v", code, text, first(r.Findings, 3))
	}
}
