package faults

// Rows of loading, drafts and the prefix cache.
var (
	L1 = Row{
		"L1", "slots-in-stream-order", "state", StateModel, "loading", "vllm-project/vllm#41057",
		"merged columns are placed in the order in which they are streamed",
	}
	L3 = Row{
		"L3", "replica-of-other-head", "state", StateModel, "loading", "vllm-project/vllm#2379",
		"with more ranks than KV heads a rank gets another head's replica",
	}
	V1 = Row{
		"V1", "draft-kv-kept", "state", StateModel, "speculative", "vllm-project/vllm#14649",
		"KV rows of a draft are not overwritten after the verify step",
	}
	V3 = Row{
		"V3", "block-table-dropped", "dense", Output, "paging", "tanishqkumar/ssd#23",
		"a prefix hit passes the paged cache as contiguous",
	}
	V4 = Row{
		"V4", "hit-path-differs", "dense", Output, "chunk-state", "tenstorrent/vllm#415",
		"prefill that resumes from a cached prefix takes positions from the chunk's start",
	}
)
