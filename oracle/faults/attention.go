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
}

// around changes what attention is given or what it returns.
func around(before func(oracle.AttentionInput) oracle.AttentionInput, after func(oracle.Mat) oracle.Mat) func(oracle.Ops) oracle.Ops {
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
