package dense

import "github.com/assay-suite/assay/kernels_test/bench"

// writtenInTwo writes the first half of the tokens and the rest in calls of their own. Since a call starts from the
// prefill, the halves are laid over each other where they differ from it.
func writtenInTwo(_ bench.Gen, p bench.Problem) (bench.Relation, error) {
	t := p.In("slot_mapping").Dim(0)
	first, second := make([]int, 0, t), make([]int, 0, t)
	for i := range t {
		if i < t/2 {
			first = append(first, i)
		} else {
			second = append(second, i)
		}
	}
	r := bench.Relation{Exact: true}
	for _, rows := range [][]int{first, second} {
		part := p.Clone()
		for _, name := range []string{"k", "v", "slot_mapping"} {
			part.Operands[name] = pick(p.Operands[name], rows)
		}
		part.Layout = map[string]bench.Layout{}
		sealWrite(&part)
		r.Parts = append(r.Parts, part)
	}
	r.Join = func(parts []bench.Results) (bench.Results, error) {
		out := bench.Results{}
		for name := range p.Outputs {
			pre := p.Args().Prefill(name)
			for i, v := range parts[0][name] {
				if v == pre {
					v = parts[1][name][i]
				}
				out[name] = append(out[name], v)
			}
		}
		return out, nil
	}
	return r, nil
}
