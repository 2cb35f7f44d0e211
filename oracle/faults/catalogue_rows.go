package faults

// Catalogue lists public kernel, quantisation and cache bugs, each reduced to one fault. The class of a row was set
// from the report, before any verdict was tuned: the kill matrix compares what the diagnosis names with it.
func Catalogue() []Row { return rows }

// rows: row, slug, suite, killed by, class, origin, effect.
var rows = []Row{
	{
		"T1", "topk-bin-stash", "topk", "output", "selection", "vllm-project/vllm#55314, sgl-project/sglang#35257",
		"keys of the coarse bin that holds the k-th score are stashed by arrival and the stash is too small, so later, " +
			"larger ones are lost",
	},
	{
		"T2", "topk-tiled-slots", "topk", "output", "selection", "local-inference-lab/b12x#55",
		"a tiled prefill top-k keeps the lowest indices of a bin of fixed capacity",
	},
	{
		"T3", "topk-tie-capacity", "topk", "output", "selection", "sgl-project/sglang#30645",
		"ties at the threshold beyond the capacity leave slots at -1 although valid keys exist",
	},
	{
		"T6", "index-pool-per-chunk", "indexer", "output", "chunk-state", "ml-explore/mlx-lm#1189",
		"the index pool is rebuilt for every chunk: keys beyond the number of rows in this chunk are out of reach",
	},
	{
		"T7", "index-history-scratch", "indexer", "output", "chunk-state", "brontoguana/krasis#29",
		"from the second chunk on, the history of index keys is read from a scratch buffer that was not restored",
	},
	{
		"T8", "topk-dispatch-v1", "state", "state-model", "dispatch", "sgl-project/sglang#37892",
		"paged prefill of long contexts is always dispatched to the first kernel, which reads rows beyond its limit out of " +
			"range",
	},
	{
		"T9", "leading-tile-masked", "sparse", "output", "empty-row", "vllm-project/vllm#48364",
		"a fully masked leading tile leaves the running maximum at -inf, and its rescale factor is NaN for good",
	},
	{
		"T10", "lanes-beyond-topk-length", "sparse", "output", "unread-memory", "flashinfer-ai/flashinfer#5095",
		"lanes beyond topk_length are not masked for more than 64 queries, so stale indices join the sum",
	},
	{
		"S1", "merge-log2-as-natural", "sparse", "output", "log-base", "sgl-project/sglang#35045",
		"a merge takes base-2 LSE for natural ones: weights go with Z^1.4427",
	},
	{
		"S2", "cp-merge-log2-as-natural", "sparse", "output", "log-base", "vllm-project/vllm#47079",
		"the context-parallel combine takes base-2 LSE of other ranks for natural ones",
	},
	{
		"S3", "merge-natural-as-log2", "sparse", "output", "log-base", "sgl-project/sglang#33064",
		"a combine takes natural LSE for base-2 ones: weights go with Z^0.6931",
	},
	{
		"S4", "lse-base-by-backend", "state", "state-model", "log-base", "flashinfer-ai/flashinfer#4485",
		"the base of the returned LSE depends on which backend was picked",
	},
	{
		"S5", "merge-of-empty-states", "sparse", "output", "empty-row",
		"vllm-project/vllm#39148, flashinfer-ai/flashinfer#4051", "merging two empty states gives NaN in place of (0, -inf)",
	},
	{
		"S7", "split-lse-not-stored", "sparse", "output", "split", "flashinfer-ai/flashinfer#50",
		"a split decode stores its partial LSE only when the caller asks for the LSE, and the combine reads it always",
	},
	{
		"S9", "empty-prefix-merged", "dense", "output", "unread-memory",
		"flashinfer-ai/flashinfer#3047, sgl-project/sglang#22688",
		"rows whose cached prefix is empty in this chunk keep what was in the workspace and are merged anyway",
	},
	{
		"S10", "lse-of-unsplit-tile", "sparse", "output", "split", "ROCm/aiter#3606",
		"the final LSE is wrong for tiles that were not split",
	},
	{
		"S11", "merge-suffix-strides", "sparse", "output", "strides", "local-inference-lab/vllm#17",
		"the offset into the suffix state is computed from the strides of the prefix state",
	},
	{
		"S12", "diagonal-chunk-other-algorithm", "dense", "output", "split", "HabanaAI/vllm-hpu-extension#413",
		"row maximum and sum of the causal diagonal come from another algorithm than those of the other chunks they are " +
			"combined with",
	},
	{
		"S13", "yarn-missing-from-scale", "dense", "output", "scale", "NVIDIA/TensorRT-LLM#3675",
		"the YaRN factor is missing from the softmax scale",
	},
	{
		"M1", "window-symmetric", "dense", "output", "mask-edge", "huggingface/transformers#39408",
		"window w is passed as (w, w) to a kernel that counts the query's own key too: w+1 keys",
	},
	{
		"M2", "window-diagonal", "dense", "output", "mask-edge", "huggingface/transformers#26792",
		"the mask's lower diagonal is -w in place of -w+1",
	},
	{
		"M4", "window-batched-sign", "dense", "output", "mask-edge", "huggingface/transformers#41184",
		"under continuous batching the window's diagonal has the wrong sign, and the older keys stay visible",
	},
	{
		"M6", "window-left-not-reduced", "dense", "output", "mask-edge", "zml/zml#763",
		"window_size_left is passed as w where the kernel wants w-1",
	},
	{
		"G1", "page-stride-int32", "state", "state-model", "address", "vllm-project/vllm#47671",
		"page times stride is computed in int32 and wraps above page 7767",
	},
	{
		"G2", "offset-stride-int32", "state", "state-model", "address", "vllm-project/vllm#50427",
		"a token offset times its stride wraps at 2^31 elements",
	},
	{
		"G3", "packed-layers-int32", "state", "state-model", "address", "ROCm/aiter#4427",
		"a cache packed over layers has a page stride of about a million, which wraps at block 2066",
	},
	{
		"G4", "sequence-stride-int32", "state", "state-model", "address", "thu-ml/SageAttention#387",
		"index times stride wraps for views of a fused QKV at a sequence of 99,866",
	},
	{
		"G6", "tokens-as-pages", "dense", "output", "paging", "sgl-project/sglang#25556",
		"token-granular slots are described to the kernel as pages",
	},
	{
		"G7", "token-table-as-page-table", "dense", "output", "paging", "sgl-project/sglang#23757",
		"a table with one entry a token is handed over as a page table",
	},
	{
		"G9", "buffer-by-pages", "state", "state-model", "address", "sgl-project/sglang#24587",
		"an index buffer sized by pages is written by tokens",
	},
	{
		"G10", "write-other-pool", "dense", "output", "paging", "sgl-project/sglang#19107",
		"a sliding-window layer writes at the full pool's index and reads at its own pool's",
	},
	{
		"G11", "table-width-of-capture", "state", "state-model", "graph", "sgl-project/sglang#9675",
		"the page table's width is that of the captured length, and a longer sequence is replayed",
	},
	{
		"G12", "last-page-tail-multiplied", "dense", "output", "unread-memory", "flashinfer-ai/flashinfer#941",
		"unused slots of the last page are masked by a product with 0",
	},
	{
		"G14", "superseded-hash-live", "state", "state-model", "prefix-cache", "vllm-project/vllm#49125",
		"the hash of a partial block that was superseded becomes live again",
	},
	{
		"Q1", "nvfp4-pad-scales-stale", "gemm", "output", "unread-memory",
		"vllm-project/vllm#38148, flashinfer-ai/flashinfer#2861", "padding rows of the scale buffer hold stale bytes that " +
			"the GEMM applies to real rows",
	},
	{
		"Q2", "nvfp4-pad-scales-empty", "gemm", "output", "unread-memory", "vllm-project/vllm#45739",
		"the scale buffer is allocated without being cleared, and its padding reaches real rows in decode",
	},
	{
		"Q3", "expert-scale-offset", "gemm", "output", "scale-layout", "vllm-project/vllm#35497",
		"scale rows are padded, and the offset of an expert is computed without the padding",
	},
	{
		"Q5", "batched-scale-padding", "gemm", "output", "scale-layout", "flashinfer-ai/flashinfer#3604",
		"scales are padded over the flattened batch, so that later batches read those of others",
	},
	{
		"Q6", "input-scale-missing", "state", "state-model", "loading", "vllm-project/vllm#54189",
		"a missing input scale is left as allocated, 0, and all experts contribute nothing",
	},
	{
		"Q7", "fused-scale-one-loaded", "state", "state-model", "loading", "sgl-project/sglang#14102",
		"of a fused projection's two scales one is loaded, and the maximum is taken with garbage",
	},
	{
		"Q8", "tuple-shard-first-only", "state", "state-model", "loading", "vllm-project/vllm#38517",
		"a tuple of shard ids sets only the first slot of the per-tensor scales",
	},
	{
		"Q10", "global-scale-as-divisor", "gemm", "output", "scale", "modular/modular#6600",
		"the global scale is stored as a divisor and used as a factor",
	},
	{
		"Q12", "scale-bits-as-e8m0", "gemm", "output", "encoding", "vllm-project/vllm#53680, deepseek-ai/DeepGEMM#403",
		"fp32 bit patterns of scales are read as packed e8m0 exponents",
	},
	{
		"Q13", "e8m0-ceil-by-log2", "gemm", "output", "encoding", "sgl-project/sglang#29956",
		"an e8m0 scale is rounded up by a logarithm in fp32, one exponent off next to a power of two",
	},
	{
		"Q14", "kv-scales-ignored", "dense", "output", "scale", "flashinfer-ai/flashinfer#4979",
		"k_scale and v_scale are ignored in ragged prefill",
	},
	{
		"Q15", "kv-scales-positional", "dense", "output", "scale", "flashinfer-ai/flashinfer#1023",
		"the scales are passed by position and lost in paged prefill",
	},
	{
		"Q17", "k-scale-on-bf16-cache", "dense", "output", "scale", "sgl-project/sglang#18396",
		"k_scale is applied to a cache that is bf16",
	},
	{
		"Q18", "kv-scale-renamed", "state", "state-model", "loading", "sgl-project/sglang#20705",
		"a KV scale is stored under one name and looked up under another, and 1 is used",
	},
	{
		"Q19", "decode-scale-pointers-none", "dense", "output", "scale", "NVIDIA/TensorRT-LLM#16916",
		"the scale pointers are missing in decode alone",
	},
	{
		"Q21", "absmax-over-workspace", "gemm", "output", "unread-memory", "kekzl/imp#91",
		"the calibration maximum runs over the padded workspace and its uninitialised columns",
	},
	{
		"A1", "fp8-accumulator-13-bit", "gemm", "output", "accumulation", "deepseek-ai/DeepGEMM#37",
		"fp8 products are added in the tensor core's 13 fraction bits without promotion",
	},
	{
		"A2", "fp8-imprecise-default", "gemm", "output", "accumulation", "triton-lang/triton#2300",
		"a dot of fp8 allows imprecise accumulation by default",
	},
	{
		"A4", "tf32x3-systematic", "gemm", "output", "accumulation", "triton-lang/triton#4603",
		"3xTF32 rounds its small parts towards zero, and the error grows with K",
	},
	{
		"A6", "mhc-bf16-mix", "mhc", "output", "accumulation", "the report that assay grew from",
		"the hyper-connection's mixing GEMM runs in bf16",
	},
	{
		"A7", "verify-other-kernel", "state", "state-model", "batch", "vllm-project/vllm#54506",
		"a verify step of several tokens takes another kernel than single decode steps",
	},
	{
		"H1", "hc-norm-sqrt2", "mhc", "output", "scale", "vllm-project/vllm#56342",
		"half of the lanes enter the sum of squares: the norm is sqrt 2 too large",
	},
	{
		"H3", "sinkhorn-other-order", "mhc", "output", "variant", "NVIDIA/Megatron-LM#5106",
		"Sinkhorn starts with the exponential of the shifted logits and no softmax, and adds no eps",
	},
	{
		"H4", "sinkhorn-other-eps", "mhc", "output", "variant", "TransformerEngine, TileKernels and FlashInfer sources",
		"Sinkhorn in log space without eps where 20 linear steps with eps are declared",
	},
	{
		"R1", "routed-scaling-twice", "route", "output", "scale", "vllm-project/vllm#45037",
		"the routed scaling factor is applied twice",
	},
	{
		"R2", "shared-expert-divided", "route", "output", "scale", "sgl-project/sglang#28237",
		"the shared expert is weighed by 1/f although nothing multiplies it later",
	},
	{
		"R3", "scaling-inside-renormalise", "route", "output", "scale", "sgl-project/sglang#31449",
		"the scaling sits inside the renormalise branch and is skipped without it",
	},
	{
		"R5", "bias-leaks-into-weights", "route", "output", "selection", "flashinfer-ai/flashinfer#2575",
		"the selection bias stays in the weights, and groups are ranked without it",
	},
	{
		"R6", "masked-gemm-small-m", "gemm", "output", "tile", "deepseek-ai/DeepGEMM#268",
		"the masked grouped GEMM is wrong for fewer than 64 rows an expert",
	},
	{
		"P2", "rope-other-pairing", "norm", "output", "pairing", "NVIDIA/TensorRT-LLM#16378",
		"halves are paired where neighbours are, or the other way round",
	},
	{
		"N1", "attention-barrier-missing", "state", "state-model", "race", "ggml-org/llama.cpp#13438",
		"a barrier between writing and reading a shared tile is missing, then executed by some warps only",
	},
	{
		"N2", "shared-ids-overwritten", "state", "state-model", "race", "ggml-org/llama.cpp#13294",
		"shared ids are overwritten before all have read them",
	},
	{
		"N3", "dependent-launch-no-wait", "state", "state-model", "race", "ggml-org/llama.cpp#23690",
		"a kernel launched with programmatic dependency never waits for the one before",
	},
	{
		"N4", "dependency-compiled-out", "state", "state-model", "race", "flashinfer-ai/flashinfer#2708",
		"dependency waits are compiled to nothing, and tiles of 128 are garbage under load",
	},
	{
		"N5", "scratch-reused", "state", "state-model", "race", "flashinfer-ai/flashinfer#3624",
		"the scratch of a reduction is reused without a barrier",
	},
	{
		"N7", "nominal-timing-only", "state", "device-only", "race", "flashinfer-ai/flashinfer#5252",
		"correct under nominal timing only; needs instrumented timing on a device",
	},
	{
		"N8", "batch-invariance-by-load", "state", "state-model", "batch", "vllm-project/vllm#51187",
		"results of the batch-invariant mode depend on how many sequences are resident",
	},
	{
		"L1", "slots-in-stream-order", "state", "state-model", "loading", "vllm-project/vllm#41057",
		"merged columns are placed in the order in which they are streamed",
	},
	{
		"L3", "replica-of-other-head", "state", "state-model", "loading", "vllm-project/vllm#2379",
		"with more ranks than KV heads a rank gets another head's replica",
	},
	{
		"V1", "draft-kv-kept", "state", "state-model", "speculative", "vllm-project/vllm#14649",
		"KV rows of a draft are not overwritten after the verify step",
	},
	{
		"V3", "block-table-dropped", "dense", "output", "paging", "tanishqkumar/ssd#23",
		"a prefix hit passes the paged cache as contiguous",
	},
	{
		"V4", "hit-path-differs", "dense", "output", "chunk-state", "tenstorrent/vllm#415",
		"prefill that resumes from a cached prefix takes positions from the chunk's start",
	},
}
