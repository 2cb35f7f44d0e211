package faults

// Rows of accumulation, hyper-connections, routing, rotation and races.
var (
	A1 = Row{
		"A1", "fp8-accumulator-13-bit", "gemm", Output, "accumulation", "deepseek-ai/DeepGEMM#37",
		"fp8 products are added in the tensor core's 13 fraction bits without promotion",
	}
	A2 = Row{
		"A2", "fp8-imprecise-default", "gemm", Output, "accumulation", "triton-lang/triton#2300",
		"a dot of fp8 allows imprecise accumulation by default",
	}
	A4 = Row{
		"A4", "tf32x3-systematic", "gemm", Output, "accumulation", "triton-lang/triton#4603",
		"3xTF32 rounds its small parts towards zero, and the error grows with K",
	}
	A6 = Row{
		"A6", "mhc-bf16-mix", "mhc", Output, "accumulation", "the report that assay grew from",
		"the hyper-connection's mixing GEMM runs in bf16",
	}
	A7 = Row{
		"A7", "verify-other-kernel", "state", StateModel, "batch", "vllm-project/vllm#54506",
		"a verify step of several tokens takes another kernel than single decode steps",
	}
	H1 = Row{
		"H1", "hc-norm-sqrt2", "mhc", Output, "scale", "vllm-project/vllm#56342",
		"half of the lanes enter the sum of squares: the norm is sqrt 2 too large",
	}
	H3 = Row{
		"H3", "sinkhorn-other-order", "mhc", Output, "variant", "NVIDIA/Megatron-LM#5106",
		"Sinkhorn starts with the exponential of the shifted logits and no softmax, and adds no eps",
	}
	H4 = Row{
		"H4", "sinkhorn-other-eps", "mhc", Output, "variant", "TransformerEngine, TileKernels and FlashInfer sources",
		"Sinkhorn in log space without eps where 20 linear steps with eps are declared",
	}
	R1 = Row{
		"R1", "routed-scaling-twice", "route", Output, "scale", "vllm-project/vllm#45037",
		"the routed scaling factor is applied twice",
	}
	R2 = Row{
		"R2", "shared-expert-divided", "route", Output, "scale", "sgl-project/sglang#28237",
		"the shared expert is weighed by 1/f although nothing multiplies it later",
	}
	R3 = Row{
		"R3", "scaling-inside-renormalise", "route", Output, "scale", "sgl-project/sglang#31449",
		"the scaling sits inside the renormalise branch and is skipped without it",
	}
	R5 = Row{
		"R5", "bias-leaks-into-weights", "route", Output, "selection", "flashinfer-ai/flashinfer#2575",
		"the selection bias stays in the weights, and groups are ranked without it",
	}
	R6 = Row{
		"R6", "masked-gemm-small-m", "gemm", Output, "tile", "deepseek-ai/DeepGEMM#268",
		"the masked grouped GEMM is wrong for fewer than 64 rows an expert",
	}
	P2 = Row{
		"P2", "rope-other-pairing", "norm", Output, "pairing", "NVIDIA/TensorRT-LLM#16378",
		"halves are paired where neighbours are, or the other way round",
	}
	N1 = Row{
		"N1", "attention-barrier-missing", "state", StateModel, "race", "ggml-org/llama.cpp#13438",
		"a barrier between writing and reading a shared tile is missing, then executed by some warps only",
	}
	N2 = Row{
		"N2", "shared-ids-overwritten", "state", StateModel, "race", "ggml-org/llama.cpp#13294",
		"shared ids are overwritten before all have read them",
	}
	N3 = Row{
		"N3", "dependent-launch-no-wait", "state", StateModel, "race", "ggml-org/llama.cpp#23690",
		"a kernel launched with programmatic dependency never waits for the one before",
	}
	N4 = Row{
		"N4", "dependency-compiled-out", "state", StateModel, "race", "flashinfer-ai/flashinfer#2708",
		"dependency waits are compiled to nothing, and tiles of 128 are garbage under load",
	}
	N5 = Row{
		"N5", "scratch-reused", "state", StateModel, "race", "flashinfer-ai/flashinfer#3624",
		"the scratch of a reduction is reused without a barrier",
	}
	N7 = Row{
		"N7", "nominal-timing-only", "state", DeviceOnly, "race", "flashinfer-ai/flashinfer#5252",
		"correct under nominal timing only; needs instrumented timing on a device",
	}
	N8 = Row{
		"N8", "batch-invariance-by-load", "state", StateModel, "batch", "vllm-project/vllm#51187",
		"results of the batch-invariant mode depend on how many sequences are resident",
	}
)
