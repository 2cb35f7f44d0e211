package faults

import "github.com/assay-suite/assay/oracle"

type rotate = func(x oracle.Mat, width int, positions []int, rope oracle.Rope, inverse bool) oracle.Mat

var rotation = []Fault{
	{
		Name:   "compressed-rope-base",
		Effect: "layers with compressed rows use the RoPE base of the other layers, 10000",
		Origin: "one rotary table for all layers: ml-explore/mlx-lm#1189",
		Apply: swapRotation(func(exact rotate) rotate {
			return func(x oracle.Mat, width int, positions []int, rope oracle.Rope, inverse bool) oracle.Mat {
				rope.Base = 10000
				return exact(x, width, positions, rope, inverse)
			}
		}),
	},
	{
		Name:   "output-rope-kept",
		Effect: "the rotation that values carry is not undone on the attention output",
		Origin: "an inverse rotation left out: ml-explore/mlx-lm#1189",
		Apply: swapRotation(func(exact rotate) rotate {
			return func(x oracle.Mat, width int, positions []int, rope oracle.Rope, inverse bool) oracle.Mat {
				if inverse {
					return x
				}
				return exact(x, width, positions, rope, inverse)
			}
		}),
	},
	{
		Name:   "rope-other-pairing",
		Effect: "rotary dimensions are paired with their half's counterparts in place of their neighbours",
		Origin: "NVIDIA/TensorRT-LLM#16378, vllm-project/vllm-ascend#12820",
		Row:    "P2",
		Apply: swapRotation(func(exact rotate) rotate {
			return func(x oracle.Mat, width int, positions []int, rope oracle.Rope, inverse bool) oracle.Mat {
				return spread(exact(gather(x, width, rope.Dims), width, positions, rope, inverse), width, rope.Dims)
			}
		}),
	},
}

func swapRotation(change func(exact rotate) rotate) func(oracle.Ops) oracle.Ops {
	return func(ops oracle.Ops) oracle.Ops {
		ops.RotateInterleaved = change(ops.RotateInterleaved)
		return ops
	}
}

// gather puts dimension i and i+dims/2 of each head's tail side by side, spread puts them back.
func gather(x oracle.Mat, width, dims int) oracle.Mat {
	return permuted(x, width, dims, func(i int) int { return i/2 + i%2*dims/2 })
}

func spread(x oracle.Mat, width, dims int) oracle.Mat {
	return permuted(x, width, dims, func(i int) int { return i*2%dims + i*2/dims })
}

func permuted(x oracle.Mat, width, dims int, from func(i int) int) oracle.Mat {
	out := x.Clone()
	for t := range x.Rows {
		for end := width; end <= x.Cols; end += width {
			for i := range dims {
				out.Row(t)[end-dims+i] = x.Row(t)[end-dims+from(i)]
			}
		}
	}
	return out
}
