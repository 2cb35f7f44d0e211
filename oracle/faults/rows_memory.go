package faults

// Rows of page tables, pages and addresses.
var (
	G1 = Row{
		"G1", "page-stride-int32", "state", StateModel, "address", "vllm-project/vllm#47671",
		"page times stride is computed in int32 and wraps above page 7767",
	}
	G2 = Row{
		"G2", "offset-stride-int32", "state", StateModel, "address", "vllm-project/vllm#50427",
		"a token offset times its stride wraps at 2^31 elements",
	}
	G3 = Row{
		"G3", "packed-layers-int32", "state", StateModel, "address", "ROCm/aiter#4427",
		"a cache packed over layers has a page stride of about a million, which wraps at block 2066",
	}
	G4 = Row{
		"G4", "sequence-stride-int32", "state", StateModel, "address", "thu-ml/SageAttention#387",
		"index times stride wraps for views of a fused QKV at a sequence of 99,866",
	}
	G6 = Row{
		"G6", "tokens-as-pages", "dense", Output, "paging", "sgl-project/sglang#25556",
		"token-granular slots are described to the kernel as pages",
	}
	G7 = Row{
		"G7", "token-table-as-page-table", "dense", Output, "paging", "sgl-project/sglang#23757",
		"a table with one entry a token is handed over as a page table",
	}
	G9 = Row{
		"G9", "buffer-by-pages", "state", StateModel, "address", "sgl-project/sglang#24587",
		"an index buffer sized by pages is written by tokens",
	}
	G10 = Row{
		"G10", "write-other-pool", "dense", Output, "paging", "sgl-project/sglang#19107",
		"a sliding-window layer writes at the full pool's index and reads at its own pool's",
	}
	G11 = Row{
		"G11", "table-width-of-capture", "state", StateModel, "graph", "sgl-project/sglang#9675",
		"the page table's width is that of the captured length, and a longer sequence is replayed",
	}
	G12 = Row{
		"G12", "last-page-tail-multiplied", "dense", Output, "unread-memory", "flashinfer-ai/flashinfer#941",
		"unused slots of the last page are masked by a product with 0",
	}
	G14 = Row{
		"G14", "superseded-hash-live", "state", StateModel, "prefix-cache", "vllm-project/vllm#49125",
		"the hash of a partial block that was superseded becomes live again",
	}
)
