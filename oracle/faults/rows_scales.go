package faults

// Rows of quantisation and its scales.
var (
	Q1 = Row{
		"Q1", "nvfp4-pad-scales-stale", "gemm", Output, "unread-memory",
		"vllm-project/vllm#38148, flashinfer-ai/flashinfer#2861",
		"padding rows of the scale buffer hold stale bytes that the GEMM applies to real rows",
	}
	Q2 = Row{
		"Q2", "nvfp4-pad-scales-empty", "gemm", Output, "unread-memory", "vllm-project/vllm#45739",
		"the scale buffer is allocated without being cleared, and its padding reaches real rows in decode",
	}
	Q3 = Row{
		"Q3", "expert-scale-offset", "gemm", Output, "scale-layout", "vllm-project/vllm#35497",
		"scale rows are padded, and the offset of an expert is computed without the padding",
	}
	Q5 = Row{
		"Q5", "batched-scale-padding", "gemm", Output, "scale-layout", "flashinfer-ai/flashinfer#3604",
		"scales are padded over the flattened batch, so that later batches read those of others",
	}
	Q6 = Row{
		"Q6", "input-scale-missing", "state", StateModel, "loading", "vllm-project/vllm#54189",
		"a missing input scale is left as allocated, 0, and all experts contribute nothing",
	}
	Q7 = Row{
		"Q7", "fused-scale-one-loaded", "state", StateModel, "loading", "sgl-project/sglang#14102",
		"of a fused projection's two scales one is loaded, and the maximum is taken with garbage",
	}
	Q8 = Row{
		"Q8", "tuple-shard-first-only", "state", StateModel, "loading", "vllm-project/vllm#38517",
		"a tuple of shard ids sets only the first slot of the per-tensor scales",
	}
	Q10 = Row{
		"Q10", "global-scale-as-divisor", "gemm", Output, "scale", "modular/modular#6600",
		"the global scale is stored as a divisor and used as a factor",
	}
	Q12 = Row{
		"Q12", "scale-bits-as-e8m0", "gemm", Output, "encoding", "vllm-project/vllm#53680, deepseek-ai/DeepGEMM#403",
		"fp32 bit patterns of scales are read as packed e8m0 exponents",
	}
	Q13 = Row{
		"Q13", "e8m0-ceil-by-log2", "gemm", Output, "encoding", "sgl-project/sglang#29956",
		"an e8m0 scale is rounded up by a logarithm in fp32, one exponent off next to a power of two",
	}
	Q14 = Row{
		"Q14", "kv-scales-ignored", "dense", Output, "scale", "flashinfer-ai/flashinfer#4979",
		"k_scale and v_scale are ignored in ragged prefill",
	}
	Q15 = Row{
		"Q15", "kv-scales-positional", "dense", Output, "scale", "flashinfer-ai/flashinfer#1023",
		"the scales are passed by position and lost in paged prefill",
	}
	Q17 = Row{
		"Q17", "k-scale-on-bf16-cache", "dense", Output, "scale", "sgl-project/sglang#18396",
		"k_scale is applied to a cache that is bf16",
	}
	Q18 = Row{
		"Q18", "kv-scale-renamed", "state", StateModel, "loading", "sgl-project/sglang#20705",
		"a KV scale is stored under one name and looked up under another, and 1 is used",
	}
	Q19 = Row{
		"Q19", "decode-scale-pointers-none", "dense", Output, "scale", "NVIDIA/TensorRT-LLM#16916",
		"the scale pointers are missing in decode alone",
	}
	Q21 = Row{
		"Q21", "absmax-over-workspace", "gemm", Output, "unread-memory", "kekzl/imp#91",
		"the calibration maximum runs over the padded workspace and its uninitialised columns",
	}
)
