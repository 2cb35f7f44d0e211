package bench

import "fmt"

// tokens is the problem of some of the tokens, dense.
func tokens(perToken map[string]bool, p Problem, which []int) Problem {
	out := p.Clone()
	out.Layout, out.Unread = map[string]Layout{}, nil
	for name, o := range out.Operands {
		if perToken[name] {
			t := o.Tensor()
			values := []float64{}
			for _, i := range which {
				values = append(values, t.Row(i)...)
			}
			out.Operands[name] = Operand{DType: o.DType, Shape: append([]int{len(which)}, o.Shape[1:]...), Values: values}
		}
	}
	for name, o := range out.Outputs {
		o.Shape = append([]int{len(which)}, o.Shape[1:]...)
		out.Outputs[name] = o
	}
	return out
}

// InPieces says a problem as calls on sets of its tokens, whose rows are put back where they came from.
// perToken are the operands with a row for every token; every output has one.
func InPieces(perToken map[string]bool, cut func(n int) [][]int) func(Gen, Problem) (Relation, error) {
	return func(_ Gen, p Problem) (Relation, error) {
		var r Relation
		n := -1
		for _, o := range p.Outputs {
			n = o.Shape[0]
		}
		pieces := cut(n)
		for _, which := range pieces {
			r.Parts = append(r.Parts, tokens(perToken, p, which))
		}
		r.Join = func(parts []Results) (Results, error) {
			out := Results{}
			for name, o := range p.Outputs {
				width := 1
				for _, d := range o.Shape[1:] {
					width *= d
				}
				whole := make([]float64, n*width)
				for i, which := range pieces {
					if len(parts[i][name]) != len(which)*width {
						return nil, fmt.Errorf("part %d has %d elements of %q, want %d rows of %d", i, len(parts[i][name]), name,
							len(which), width)
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

// ChunksOf cuts tokens into consecutive pieces.
func ChunksOf(size int) func(n int) [][]int {
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

// Alone is every token in a call of its own.
func Alone(n int) [][]int { return ChunksOf(1)(n) }

// Backwards is one call with the tokens in the opposite order.
func Backwards(n int) [][]int {
	which := make([]int, n)
	for t := range which {
		which[t] = n - 1 - t
	}
	return [][]int{which}
}

// Contiguous is the same call without padding.
func Contiguous(n int) [][]int { return ChunksOf(max(n, 1))(n) }
