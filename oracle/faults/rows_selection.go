package faults

// Rows of top-k and the indexer.
var (
	T1 = Row{
		"T1", "topk-bin-stash", "topk", Output, "selection", "vllm-project/vllm#55314, sgl-project/sglang#35257",
		"keys of the coarse bin that holds the k-th score are stashed by arrival and the stash is too small, so later, " +
			"larger ones are lost",
	}
	T2 = Row{
		"T2", "topk-tiled-slots", "topk", Output, "selection", "local-inference-lab/b12x#55",
		"a tiled prefill top-k keeps the lowest indices of a bin of fixed capacity",
	}
	T3 = Row{
		"T3", "topk-tie-capacity", "topk", Output, "selection", "sgl-project/sglang#30645",
		"ties at the threshold beyond the capacity leave slots at -1 although valid keys exist",
	}
	T6 = Row{
		"T6", "index-pool-per-chunk", "indexer", Output, "chunk-state", "ml-explore/mlx-lm#1189",
		"the index pool is rebuilt for every chunk: keys beyond the number of rows in this chunk are out of reach",
	}
	T7 = Row{
		"T7", "index-history-scratch", "indexer", Output, "chunk-state", "brontoguana/krasis#29",
		"from the second chunk on, the history of index keys is read from a scratch buffer that was not restored",
	}
	T8 = Row{
		"T8", "topk-dispatch-v1", "state", StateModel, "dispatch", "sgl-project/sglang#37892",
		"paged prefill of long contexts is always dispatched to the first kernel, which reads rows beyond its limit out " +
			"of range",
	}
	T9 = Row{
		"T9", "leading-tile-masked", "sparse", Output, "empty-row", "vllm-project/vllm#48364",
		"a fully masked leading tile leaves the running maximum at -inf, and its rescale factor is NaN for good",
	}
	T10 = Row{
		"T10", "lanes-beyond-topk-length", "sparse", Output, "unread-memory", "flashinfer-ai/flashinfer#5095",
		"lanes beyond topk_length are not masked for more than 64 queries, so stale indices join the sum",
	}
)
