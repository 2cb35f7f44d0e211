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

const rule = "the min(top_k, lengths[t]) keys of largest score among keys 0 .. lengths[t]-1, each once, in any " +
	"order, from slot 0 on, then -1 to the end of the row. " +
	"Where lengths[t] <= top_k every visible key is chosen and the row is never ranked: its scores may be NaN. Scores " +
	"of a ranked row may be -Inf or +Inf, never NaN; -0 equals +0"

var rowOperands = []bench.TensorDoc{
	{
		Name:  "scores",
		DType: "F32",
		Shape: "[T, S]",
		Meaning: "logits of keys 0 .. S-1 for each query, larger is better; entries from lengths[t] on hold anything and " +
			"may not be read",
	},
	{Name: "lengths", DType: "I32", Shape: "[T]", Meaning: "how many leading keys each query sees, 0 to S"},
}

var rowAttrs = []bench.AttrDoc{
	{Name: "top_k", Meaning: "slots of a row; may exceed S"},
	{
		Name: "tie_break",
		Meaning: `"lowest-index" or "highest-index": which of several keys with the score of the last slot are taken; ` +
			`"any": whichever`,
	},
}

func topkDoc() bench.Doc {
	return bench.Doc{
		Summary:  "row t of indices is " + rule,
		Operands: rowOperands,
		Outputs:  []bench.TensorDoc{{Name: "indices", DType: "I32", Shape: "[T, top_k]", Meaning: "chosen keys, then -1"}},
		Attrs:    rowAttrs,
	}
}

func pagesDoc() bench.Doc {
	return bench.Doc{
		Summary: "row t of indices is block_table[request[t]][s >> b] << b | s & (page_size - 1), b = log2(page_size), for " +
			"every chosen key s: " + rule + ". A slot without a key is -1 and is not looked up",
		Operands: append(slices.Clip(rowOperands), []bench.TensorDoc{
			{
				Name:  "block_table",
				DType: "I32",
				Shape: "[B, M]",
				Meaning: "page of keys [i·page_size, (i+1)·page_size) of each sequence; entries beyond the last page that one " +
					"of its queries sees hold anything and may not be read",
			},
			{Name: "request", DType: "I32", Shape: "[T]", Meaning: "row of block_table of each query"},
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
			Meaning: "keys of a page, a power of two from 1",
		}),
	}
}
