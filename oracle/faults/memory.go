package faults

import "github.com/assay-suite/assay/oracle"

// memory faults show only where a sequence goes on: whole prompts in one chunk pass.
var memory = []Fault{
	{
		Name:    "chunk-remainder-lost",
		Effect:  "the tokens of an unfinished block are forgotten between two calls",
		Origin:  "compressor state not carried over a chunk: vllm-project/vllm#55927 (lengths of one residue lose a digit)",
		Resumes: true,
		Apply: carrying(func(part oracle.Carried, rows oracle.Mat) oracle.Mat {
			if part == oracle.CarriedRemainder {
				rows = rows.Clone()
				clear(rows.Data)
			}
			return rows
		}),
	},
	{
		Name:    "overlap-state-lost",
		Effect:  "the previous block is forgotten between two calls",
		Origin:  "ml-explore/mlx-lm#1189",
		Row:     "T6",
		Resumes: true,
		Apply: carrying(func(part oracle.Carried, rows oracle.Mat) oracle.Mat {
			if part == oracle.CarriedOverlap {
				return oracle.Mat{}
			}
			return rows
		}),
	},
	{
		Name:    "prefix-rows-stale",
		Effect:  "a continued sequence finds the first half of its compressed rows in reverse order",
		Origin:  "pages of another request behind a prefix hit: tenstorrent/vllm#415, sgl-project/sglang#30321",
		Row:     "V4",
		Resumes: true,
		Apply: carrying(func(part oracle.Carried, rows oracle.Mat) oracle.Mat {
			if part != oracle.CarriedRows || rows.Rows < 2 {
				return rows
			}
			out, half := rows.Clone(), rows.Rows/2
			for i := range half {
				copy(out.Row(i), rows.Row(half-1-i))
			}
			return out
		}),
	},
	{
		Name:   "index-keys-stale",
		Effect: "a continued sequence finds the first half of its index keys zero",
		Origin: "an index cache evicted separately from the rows it points at: Mesh-LLM/mesh-llm#1901, " +
			"sgl-project/sglang#31108",
		Row:     "T7",
		Resumes: true,
		Apply: carrying(func(part oracle.Carried, rows oracle.Mat) oracle.Mat {
			if part == oracle.CarriedIndex {
				rows = rows.Clone()
				clear(rows.Data[:rows.Rows/2*rows.Cols])
			}
			return rows
		}),
	},
}

func carrying(carry func(oracle.Carried, oracle.Mat) oracle.Mat) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		ops.Carry = carry
		return ops
	}
}
