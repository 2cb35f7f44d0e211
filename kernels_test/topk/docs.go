package topk

import (
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// The operators' names, as a candidate offers them.
const (
	opTopK  = "topk"
	opPages = "topk_pages"
)

const rule = "the min(top_k, lengths[t]) keys with the largest scores among keys 0 .. lengths[t]-1, each once, in " +
	"any order, from slot 0 on, padded with -1. Where lengths[t] <= top_k every visible key is selected and the row is " +
	"not ranked, so its scores may be NaN. Scores of a ranked row may be -Inf or +Inf, never NaN; -0 equals +0"

var rowOperands = []bench.TensorDoc{
	{
		Name:  "scores",
		DType: "F32",
		Shape: "[T, S]",
		Meaning: "logits of keys 0 .. S-1 for each query, larger is better; entries from lengths[t] on are undefined and " +
			"must not be read",
	},
	{Name: "lengths", DType: "I32", Shape: "[T]", Meaning: "number of leading keys visible to each query, 0 to S"},
}

var rowAttrs = []bench.AttrDoc{
	{Name: "top_k", Meaning: "slots per row; may exceed S"},
	{
		Name: "tie_break",
		Meaning: `"lowest-index" or "highest-index": which keys are selected among those that tie for the last slots; ` +
			`"any": unspecified`,
	},
}

func topkDoc() bench.Doc {
	return bench.Doc{
		Summary:  "row t of indices is " + rule,
		Operands: rowOperands,
		Outputs:  []bench.TensorDoc{{Name: "indices", DType: "I32", Shape: "[T, top_k]", Meaning: "selected keys, then -1"}},
		Attrs:    rowAttrs,
	}
}

func pagesDoc() bench.Doc {
	return bench.Doc{
		Summary: "row t of indices is block_table[request[t]][s >> b] << b | s & (page_size - 1), b = log2(page_size), for " +
			"every selected key s: " + rule + ". A slot without a key is -1 and is not looked up",
		Operands: append(slices.Clip(rowOperands), []bench.TensorDoc{
			{
				Name:  "block_table",
				DType: "I32",
				Shape: "[B, M]",
				Meaning: "page of keys [i·page_size, (i+1)·page_size) of each sequence; entries beyond the last page visible " +
					"to one of its queries are undefined and must not be read",
			},
			{Name: "request", DType: "I32", Shape: "[T]", Meaning: "row of block_table for each query"},
		}...),
		Outputs: []bench.TensorDoc{
			{
				Name:    "indices",
				DType:   "I32",
				Shape:   "[T, top_k]",
				Meaning: "rows of the cache, page · page_size + offset, then -1",
			},
		},
		Attrs: append(slices.Clip(rowAttrs), bench.AttrDoc{
			Name:    "page_size",
			Meaning: "keys per page, a power of two, at least 1",
		}),
	}
}
