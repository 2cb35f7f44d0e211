package outsider

// pair is a scheme and a family in which somebody publishes checkpoints, or could.
type pair struct{ scheme, family, sparse string }

func (p pair) name() string {
	n := p.scheme + "/" + p.family
	if p.sparse != "" {
		n += "/" + p.sparse
	}
	return n
}

// pairs, by family the schemes.
func pairs() []pair {
	var out []pair
	for _, row := range []struct {
		family  string
		schemes []string
	}{
		{"llama", []string{
			"bf16", "fp32", "ct-fp8-channel", "ct-fp8-tensor", "ct-int8", "ct-w4a16", "ct-w8a16", "gptq", "awq",
			"bnb-nf4-double", "modelopt-fp8", "modelopt-nvfp4", "quark-fp8", "torchao-int8", "autofp8", "ct-nvfp4",
		}},
		{"llama-tied", []string{"fp16", "mlx-4bit", "bnb-int8", "ct-mxfp4"}},
		{"mistral", []string{"bf16", "gptq-8bit", "ct-w4a16-actorder", "torchao-fp8"}},
		{"mixtral", []string{"bf16", "awq", "autofp8", "gptq-asym", "ct-fp8-tensor"}},
		{"qwen2", []string{"bf16", "gptq", "awq", "ct-int8", "mlx-8bit"}},
		{"qwen3", []string{"bf16", "fp8-block-bf16", "ct-w4a16-asym", "ct-mxfp8", "torchao-fp8", "gptq-actorder"}},
		{"qwen3-moe", []string{
			"bf16", "fp8-block-bf16", "modelopt-nvfp4", "ct-nvfp4", "gptq", "ct-mxfp4", "mlx-4bit", "modelopt-mxfp8",
		}},
		{"qwen3-next", []string{"bf16", "fp8-block-bf16", "ct-w4a16"}},
		{"gemma2", []string{"bf16", "bnb-nf4", "gptq-v2"}},
		{"gemma3", []string{"bf16", "ct-w4a16", "ct-fp8-channel"}},
		{"phi3", []string{"bf16", "awq", "torchao-int8", "ct-fp8-block"}},
		{"glm4-moe", []string{"bf16", "ct-fp8-channel"}},
		{"minimax-m2", []string{"fp8-block", "awq"}},
		{"gpt-oss", []string{"gptoss-mxfp4", "bf16"}},
		{"llama4", []string{"bf16"}},
		{"nemotron-h", []string{"bf16", "modelopt-fp8", "modelopt-nvfp4"}},
		{"nemotron-moe", []string{"bf16", "modelopt-nvfp4", "modelopt-fp8"}},
		{"deepseek-v2", []string{"bf16", "ct-fp8-tensor"}},
		{"deepseek-v3", []string{"fp8-block", "fp8-block-ue8m0", "fp8-block-e8m0", "w4afp8", "awq", "quark-mxfp4"}},
		{"deepseek-v32", []string{"fp8-block-ue8m0"}},
		{"glm5", []string{"bf16", "ct-fp8-block"}},
		{"kimi-k2", []string{"fp8-block", "ct-w4a16-experts", "modelopt-nvfp4"}},
		{"kimi-k25", []string{"ct-w4a16-experts"}},
		{"qwen2.5-vl", []string{"bf16", "awq", "ct-int8"}},
		{"olmo2", []string{"fp32", "ct-w8a16"}},
		{"starcoder2", []string{"bf16", "gptq-v2"}},
		{"seed-oss", []string{"bf16", "ct-mxfp8"}},
	} {
		for _, s := range row.schemes {
			out = append(out, pair{scheme: s, family: row.family})
		}
	}
	return append(out,
		pair{"bf16", "llama", "2:4"}, pair{"bf16", "llama", "half"}, pair{"ct-int8", "llama", "2:4"},
		pair{"ct-w4a16", "llama", "2:4"}, pair{"gptq", "llama", "half"}, pair{"fp8-block-bf16", "qwen3", "half"},
	)
}
