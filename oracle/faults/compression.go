package faults

import "github.com/assay-suite/assay/oracle"

var compression = []Fault{
	{
		Name:   "compressor-overlap-dropped",
		Effect: "an overlapping compressor pools its own block only and ignores the previous one",
		Origin: "overlap state not carried between blocks: ml-explore/mlx-lm#1189",
		Apply: func(ops oracle.Ops) oracle.Ops {
			exact := ops.Compress
			ops.Compress = func(a, g, prevA, prevG oracle.Mat, p oracle.Pooling) oracle.Mat {
				if !p.Overlap {
					return exact(a, g, prevA, prevG, p)
				}
				out := oracle.NewMat(0, p.Width)
				for b := range a.Rows / p.Ratio {
					from, to := b*p.Ratio, (b+1)*p.Ratio
					out = out.Append(exact(a.Slice(from, to), g.Slice(from, to), oracle.Mat{}, oracle.Mat{}, p))
				}
				return out
			}
			return ops
		},
	},
}
