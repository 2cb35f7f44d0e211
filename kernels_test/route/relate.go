package route

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// perToken are the operands with a row for every token.
var perToken = map[string]bool{"logits": true, "token_ids": true, "topk_weights": true, "src2dst": true, "shared_out": true}

// tokens is the problem of some of the tokens, dense.
func tokens(p bench.Problem, which []int) bench.Problem {
	out := p.Clone()
	out.Layout, out.Unread = map[string]bench.Layout{}, nil
	for name, o := range out.Operands {
		if perToken[name] {
			t := o.Tensor()
			values := []float64{}
			for _, i := range which {
				values = append(values, t.Row(i)...)
			}
			out.Operands[name] = bench.Operand{DType: o.DType, Shape: append([]int{len(which)}, o.Shape[1:]...), Values: values}
		}
	}
	for name, o := range out.Outputs {
		o.Shape = append([]int{len(which)}, o.Shape[1:]...)
		out.Outputs[name] = o
	}
	return out
}

// inPieces says a problem as calls on sets of its tokens, whose rows are put back where they came from.
func inPieces(cut func(n int) [][]int) func(bench.Gen, bench.Problem) (bench.Relation, error) {
	return func(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
		var r bench.Relation
		n := -1
		for _, o := range p.Outputs {
			n = o.Shape[0]
		}
		pieces := cut(n)
		for _, which := range pieces {
			r.Parts = append(r.Parts, tokens(p, which))
		}
		r.Join = func(parts []bench.Results) (bench.Results, error) {
			out := bench.Results{}
			for name, o := range p.Outputs {
				width := 1
				for _, d := range o.Shape[1:] {
					width *= d
				}
				whole := make([]float64, n*width)
				for i, which := range pieces {
					if len(parts[i][name]) != len(which)*width {
						return nil, fmt.Errorf("part %d has %d elements of %q, want %d rows of %d", i, len(parts[i][name]), name, len(which), width)
					}
					for j, t := range which {
						copy(whole[t*width:(t+1)*width], parts[i][name][j*width:])
					}
				}
				out[name] = whole
			}
			return out, nil
		}
		return r, nil
	}
}

// chunksOf cuts tokens into consecutive pieces.
func chunksOf(size int) func(n int) [][]int {
	return func(n int) [][]int {
		var out [][]int
		for t := range n {
			if t%size == 0 {
				out = append(out, nil)
			}
			out[len(out)-1] = append(out[len(out)-1], t)
		}
		return out
	}
}

// alone is every token in a call of its own.
func alone(n int) [][]int { return chunksOf(1)(n) }

// backwards is one call with the tokens in the opposite order.
func backwards(n int) [][]int {
	which := make([]int, n)
	for t := range which {
		which[t] = n - 1 - t
	}
	return [][]int{which}
}

// contiguous is the same call without padding.
func contiguous(n int) [][]int { return chunksOf(max(n, 1))(n) }
