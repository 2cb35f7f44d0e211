package compressor

import "github.com/assay-suite/assay/kernels_test/bench"

// The operators' names, as a candidate offers them.
const (
	opCompress = "compress"
	opExtend   = "compress_extend"
)

const formula = "with r = ratio, W = head_dim, biased gates G[p] = gate[p] + ape[p mod r] and p the position in its " +
	"sequence, block b of a sequence is, for every channel d by itself, " +
	"c_b[d] = Σ_p softmax_p(G) a: without overlap over the r tokens p = rb .. rb+r-1, a = kv[p, d] and G[p, d]; " +
	"with overlap over 2r tokens: those of block b-1 through channel d, those of block b through channel W+d; block 0 " +
	"has no block before it and softmax runs over its own r tokens alone"

var poolAttrs = []bench.AttrDoc{
	{Name: "ratio", Meaning: "r, tokens of a block: 4 with overlap and 128 without in DeepSeek-V4, others here"},
	{
		Name:    "overlap",
		Meaning: "whether a block also looks at the block before it, through the first half of the channels",
	},
	{Name: "head_dim", Meaning: "W, channels of a compressed row: C / 2 with overlap, else C"},
}

func compressDoc() bench.Doc {
	return bench.Doc{
		Summary: formula + ". Every sequence begins at position 0 and has floor(n / r) blocks of its n tokens; the n mod r " +
			"tokens left over, and with overlap the first half of the channels of the last complete block, reach no output " +
			"and may not be read",
		Operands: []bench.TensorDoc{
			{
				Name:    "kv",
				DType:   "F32",
				Shape:   "[N, C]",
				Meaning: "values of all sequences, one after the other; C = 2W with overlap, else W",
			},
			{
				Name:  "gate",
				DType: "F32",
				Shape: "[N, C]",
				Meaning: "gates without their position bias, logits of the softmax; -Inf is weight 0 (never for all tokens of a " +
					"block)",
			},
			{Name: "ape", DType: "F32", Shape: "[r, C]", Meaning: "position bias of the gates, by position in the block"},
			{
				Name:    "cu_seqlens",
				DType:   "I32",
				Shape:   "[B+1]",
				Meaning: "sequence i has the tokens cu_seqlens[i] .. cu_seqlens[i+1]-1 of kv and gate, maybe none",
			},
		},
		Outputs: []bench.TensorDoc{
			{
				Name:    "c",
				DType:   "F32, or BF16 under bf16-out",
				Shape:   "[M, W]",
				Meaning: "blocks of sequence 0 in ascending order, then those of sequence 1, ...; before norm and rotation",
			},
		},
		Attrs: poolAttrs,
	}
}

func extendDoc() bench.Doc {
	return bench.Doc{
		Summary: formula + ". Sequence i continues at position start[i] with its next tokens, n_i of them; the blocks that " +
			"they complete are emitted, and the state becomes that of position start[i] + n_i. " +
			"State at a position e, R = r rows without overlap: row e' mod r holds kv and the biased gate G of token e', for " +
			"the tokens e' = e - e mod r .. e-1 of the unfinished block. " +
			"With overlap R = 2r: those rows follow r rows that hold the last complete block by position in the block, of " +
			"which the first W channels count (none while e < r). Other rows and channels of a state hold anything: they are " +
			"not read and may be written with anything",
		Operands: []bench.TensorDoc{
			{
				Name:    "kv",
				DType:   "F32",
				Shape:   "[N, C]",
				Meaning: "values of the new tokens of all sequences, one after the other; C = 2W with overlap, else W",
			},
			{
				Name:    "gate",
				DType:   "F32",
				Shape:   "[N, C]",
				Meaning: "their gates without position bias; -Inf is weight 0 (never for all tokens of a block)",
			},
			{Name: "ape", DType: "F32", Shape: "[r, C]", Meaning: "position bias of the gates, by position in the block"},
			{
				Name:    "cu_seqlens",
				DType:   "I32",
				Shape:   "[B+1]",
				Meaning: "sequence i has the new tokens cu_seqlens[i] .. cu_seqlens[i+1]-1, maybe none",
			},
			{
				Name:    "start",
				DType:   "I32",
				Shape:   "[B]",
				Meaning: "position of each sequence's first new token: the tokens that it has already",
			},
			{
				Name:    "slot",
				DType:   "I32",
				Shape:   "[B]",
				Meaning: "row of the state pools that belongs to each sequence, all different",
			},
			{
				Name:    "state_kv",
				DType:   "F32",
				Shape:   "[P, R, C]",
				Meaning: "pool of states before the call: values. Rows of other slots are not read",
			},
			{
				Name:    "state_gate",
				DType:   "F32",
				Shape:   "[P, R, C]",
				Meaning: "pool of states before the call: gates with their position bias",
			},
		},
		Outputs: []bench.TensorDoc{
			{
				Name:  "c",
				DType: "F32, or BF16 under bf16-out",
				Shape: "[M, W]",
				Meaning: "blocks that sequence 0 completes in ascending order, then those of sequence 1, ...; before norm and " +
					"rotation",
			},
			{
				Name:    "new_state_kv",
				DType:   "F32",
				Shape:   "[B, R, C]",
				Meaning: "state of each sequence after the call, by sequence and not by slot: values",
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
