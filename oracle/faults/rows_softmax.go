package faults

// Rows of softmax, its merges and its masks.
var (
	S1 = Row{
		"S1", "merge-log2-as-natural", "sparse", Output, "log-base", "sgl-project/sglang#35045",
		"a merge takes base-2 LSE for natural ones: weights go with Z^1.4427",
	}
	S2 = Row{
		"S2", "cp-merge-log2-as-natural", "sparse", Output, "log-base", "vllm-project/vllm#47079",
		"the context-parallel combine takes base-2 LSE of other ranks for natural ones",
	}
	S3 = Row{
		"S3", "merge-natural-as-log2", "sparse", Output, "log-base", "sgl-project/sglang#33064",
		"a combine takes natural LSE for base-2 ones: weights go with Z^0.6931",
	}
	S4 = Row{
		"S4", "lse-base-by-backend", "state", StateModel, "log-base", "flashinfer-ai/flashinfer#4485",
		"the base of the returned LSE depends on which backend was picked",
	}
	S5 = Row{
		"S5", "merge-of-empty-states", "sparse", Output, "empty-row",
		"vllm-project/vllm#39148, flashinfer-ai/flashinfer#4051",
		"merging two empty states gives NaN in place of (0, -inf)",
	}
	S7 = Row{
		"S7", "split-lse-not-stored", "sparse", Output, "split", "flashinfer-ai/flashinfer#50",
		"a split decode stores its partial LSE only when the caller asks for the LSE, and the combine reads it always",
	}
	S9 = Row{
		"S9", "empty-prefix-merged", "dense", Output, "unread-memory",
		"flashinfer-ai/flashinfer#3047, sgl-project/sglang#22688",
		"rows whose cached prefix is empty in this chunk keep what was in the workspace and are merged anyway",
	}
	S10 = Row{
		"S10", "lse-of-unsplit-tile", "sparse", Output, "split", "ROCm/aiter#3606",
		"the final LSE is wrong for tiles that were not split",
	}
	S11 = Row{
		"S11", "merge-suffix-strides", "sparse", Output, "strides", "local-inference-lab/vllm#17",
		"the offset into the suffix state is computed from the strides of the prefix state",
	}
	S12 = Row{
		"S12", "diagonal-chunk-other-algorithm", "dense", Output, "split", "HabanaAI/vllm-hpu-extension#413",
		"row maximum and sum of the causal diagonal come from another algorithm than those of the other chunks they are " +
			"combined with",
	}
	S13 = Row{
		"S13", "yarn-missing-from-scale", "dense", Output, "scale", "NVIDIA/TensorRT-LLM#3675",
		"the YaRN factor is missing from the softmax scale",
	}
	M1 = Row{
		"M1", "window-symmetric", "dense", Output, "mask-edge", "huggingface/transformers#39408",
		"window w is passed as (w, w) to a kernel that counts the query's own key too: w+1 keys",
	}
	M2 = Row{
		"M2", "window-diagonal", "dense", Output, "mask-edge", "huggingface/transformers#26792",
		"the mask's lower diagonal is -w in place of -w+1",
	}
	M4 = Row{
		"M4", "window-batched-sign", "dense", Output, "mask-edge", "huggingface/transformers#41184",
		"under continuous batching the window's diagonal has the wrong sign, and the older keys stay visible",
	}
	M6 = Row{
		"M6", "window-left-not-reduced", "dense", Output, "mask-edge", "zml/zml#763",
		"window_size_left is passed as w where the kernel wants w-1",
	}
)
