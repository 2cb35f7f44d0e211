package bench

import "fmt"

// tokens is the problem of some of the tokens, dense.
func tokens(perToken map[string]bool, p Problem, which []int) Problem {
	out := p.Clone()
	out.Layout, out.Unread = map[string]Layout{}, nil
	for name := range perToken {
		out.Take(which, name)
	}
	for name, o := range out.Outputs {
		out.Resize(name, append([]int{len(which)}, o.Shape[1:]...)...)
	}
	return out
}

// InPieces restates a problem as calls on sets of its tokens, whose rows are put back where they came from.
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
		r.Join = PutBack(p, pieces...)
		return r, nil
	}
}

// PutBack joins parts whose outputs have rows of a problem's: row i of part j is row pieces[j][i] of the whole.
func PutBack(p Problem, pieces ...[]int) func(parts []Results) (Results, error) {
	return func(parts []Results) (Results, error) {
		out := Results{}
		for name, o := range p.Outputs {
			width := product(o.Shape[1:])
			whole := make([]float64, o.Shape[0]*width)
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
