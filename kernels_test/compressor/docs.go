package compressor

import "github.com/assay-suite/assay/kernels_test/bench"

// The operators' names, as a candidate offers them.
const (
	opCompress = "compress"
	opExtend   = "compress_extend"
)

const formula = "with r = ratio, W = head_dim, biased gates G[p] = gate[p] + ape[p mod r] and p the position in its " +
	"sequence, block b of a sequence is, for every channel d by itself, " +
	"c_b[d] = Σ_p softmax_p(G) a: without overlap over the r tokens p = rb .. rb+r-1, with a = kv[p, d] and G[p, d]; " +
	"with overlap over 2r tokens, those of block b-1 in channel d and those of block b in channel W+d; block 0 has no " +
	"previous block, and its softmax runs over its own r tokens"

var poolAttrs = []bench.AttrDoc{
	{Name: "ratio", Meaning: "r, tokens per block: 4 with overlap and 128 without in DeepSeek-V4, others here"},
	{
		Name:    "overlap",
		Meaning: "whether a block also pools the previous block, through the first half of the channels",
	},
	{Name: "head_dim", Meaning: "W, channels of a compressed row: C / 2 with overlap, else C"},
}

// operandDocs are the operands of both operators; tokens says which tokens a call has.
func operandDocs(tokens string) []bench.TensorDoc {
	return []bench.TensorDoc{
		{
			Name:    "kv",
			DType:   "F32",
			Shape:   "[N, C]",
			Meaning: "values of " + tokens + " of all sequences, concatenated; C = 2W with overlap, else W",
		},
		{
			Name:  "gate",
			DType: "F32",
			Shape: "[N, C]",
			Meaning: "gates without position bias, the logits of the softmax; -Inf is weight 0 (never for all tokens of a " +
				"block)",
		},
		{Name: "ape", DType: "F32", Shape: "[r, C]", Meaning: "position bias of the gates, by position in the block"},
		{
			Name:    "cu_seqlens",
			DType:   "I32",
			Shape:   "[B+1]",
			Meaning: "sequence i owns tokens cu_seqlens[i] .. cu_seqlens[i+1]-1 of kv and gate; it may have none",
		},
	}
}

// rowsDoc are the compressed rows; which says which blocks.
func rowsDoc(which string) bench.TensorDoc {
	return bench.TensorDoc{
		Name:    "c",
		DType:   "F32, or BF16 under bf16-out",
		Shape:   "[M, W]",
		Meaning: which + " of sequence 0 in ascending order, then those of sequence 1, ...; before norm and rotation",
	}
}

func compressDoc() bench.Doc {
	return bench.Doc{
		Summary: formula + ". Every sequence begins at position 0 and has floor(n / r) blocks of its n tokens. The last " +
			"n mod r tokens, and with overlap the first half of the channels of the last complete block, affect no output " +
			"and must not be read",
		Operands: operandDocs("the tokens"),
		Outputs:  []bench.TensorDoc{rowsDoc("the blocks")},
		Attrs:    poolAttrs,
	}
}

func extendDoc() bench.Doc {
	return bench.Doc{
		Summary: formula + ". Sequence i continues at position start[i] with its n_i next tokens; the blocks that they " +
			"complete are emitted, and the state becomes that of position start[i] + n_i. " +
			"State at a position e, R = r rows without overlap: row e' mod r holds kv and the biased gate G of token e', for " +
			"the tokens e' = e - e mod r .. e-1 of the unfinished block. " +
			"With overlap R = 2r: before those come r rows with the last complete block by position in the block, of " +
			"which only the first W channels are used (none while e < r). Other rows and channels of a state are " +
			"undefined: they are not read and may be overwritten",
		Operands: append(operandDocs("the new tokens"),
			bench.TensorDoc{
				Name:    "start",
				DType:   "I32",
				Shape:   "[B]",
				Meaning: "position of each sequence's first new token: how many tokens it already has",
			},
			bench.TensorDoc{
				Name:    "slot",
				DType:   "I32",
				Shape:   "[B]",
				Meaning: "row of the state pools that belongs to each sequence, all different",
			},
			bench.TensorDoc{
				Name:    "state_kv",
				DType:   "F32",
				Shape:   "[P, R, C]",
				Meaning: "pool of states before the call: values. Rows of other slots are not read",
			},
			bench.TensorDoc{
				Name:    "state_gate",
				DType:   "F32",
				Shape:   "[P, R, C]",
				Meaning: "pool of states before the call: gates with their position bias",
			},
		),
		Outputs: []bench.TensorDoc{
			rowsDoc("the blocks completed"),
			{
				Name:    "new_state_kv",
				DType:   "F32",
				Shape:   "[B, R, C]",
				Meaning: "state of each sequence after the call, indexed by sequence, not by slot: values",
			},
			{
				Name:    "new_state_gate",
				DType:   "F32",
				Shape:   "[B, R, C]",
				Meaning: "the same: gates with their position bias, in fp32",
			},
		},
		Attrs: poolAttrs,
	}
}
