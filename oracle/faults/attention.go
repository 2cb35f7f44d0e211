package faults

import "github.com/assay-suite/assay/oracle"

var attention = []Fault{
	{
		Name:   "first-half-lost",
		Effect: "the first half of the compressed rows reads as zero",
		Origin: "pages of an earlier chunk dropped or overwritten: sgl-project/sglang#34718 and the prefix-cache family",
		Apply: around(func(in oracle.AttentionInput) oracle.AttentionInput {
			rows := in.Compressed.Clone()
			clear(rows.Data[:rows.Rows/2*rows.Cols])
			in.Compressed = rows
			return in
		}, nil),
	},
	{
		Name:   "window-one-short",
		Effect: "the sliding window sees one row fewer than it should",
		Origin: "window bound off by one (exclusive for inclusive)",
		Apply: around(func(in oracle.AttentionInput) oracle.AttentionInput {
			in.WindowSize--
			return in
		}, nil),
	},
	{
		Name:   "v-scale-1.02",
		Effect: "values are 2 % too large, as with a scale taken from the keys",
		Origin: "k and v scales swapped or applied twice in quantised caches",
		Apply: around(nil, func(o oracle.Mat) oracle.Mat {
			for i := range o.Data {
				o.Data[i] *= 1.02
			}
			return o
		}),
	},
	{
		Name:   "window-one-long",
		Effect: "the sliding window sees one row more than it should",
		Origin: "window w passed where w-1 is wanted: huggingface/transformers#39408, zml/zml#763",
		Row:    "M1",
		Apply: around(func(in oracle.AttentionInput) oracle.AttentionInput {
			in.WindowSize++
			return in
		}, nil),
	},
	{
		Name:   "sinks-zero",
		Effect: "the attention sinks are 0 in place of their trained values",
		Origin: "a per-head tensor that was not loaded",
		Apply: around(func(in oracle.AttentionInput) oracle.AttentionInput {
			in.Sink = make([]float64, len(in.Sink))
			return in
		}, nil),
	},
	{
		Name:   "attention-scale-halved",
		Effect: "the softmax scale is half of what it should be",
		Origin: "a factor missing from the softmax scale: NVIDIA/TensorRT-LLM#3675",
		Row:    "S13",
		Apply: around(func(in oracle.AttentionInput) oracle.AttentionInput {
			in.Scale /= 2
			return in
		}, nil),
	},
	{
		Name:   "compressed-rows-shifted",
		Effect: "the first half of the compressed rows is read one row further on",
		Origin: "slots taken for pages, off by one entry: sgl-project/sglang#25556",
		Row:    "G6",
		Apply: around(func(in oracle.AttentionInput) oracle.AttentionInput {
			rows := in.Compressed.Clone()
			for i := range rows.Rows / 2 {
				copy(rows.Row(i), in.Compressed.Row(i+1))
			}
			in.Compressed = rows
			return in
		}, nil),
	},
}

// around changes what attention is given or what it returns.
func around(before func(oracle.AttentionInput) oracle.AttentionInput,
	after func(oracle.Mat) oracle.Mat,
) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		exact := ops.Attention
		ops.Attention = func(in oracle.AttentionInput) oracle.Mat {
			if before != nil {
				in = before(in)
			}
			o := exact(in)
			if after != nil {
				o = after(o)
			}
			return o
		}
		return ops
	}
}
