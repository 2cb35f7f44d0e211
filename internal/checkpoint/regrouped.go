package checkpoint

import "github.com/assay-suite/assay/internal/quant"

// regrouped tells whether every input is the base's under the scales of another group: what is left when the codes were
// made in the order of activations (desc_act, actorder) and the index of groups says that they were not. Only symmetric
// codes: of others the zero point goes with the group as well.
func (v weight) regrouped(a, o strip) (bool, error) {
	if v.q == nil || v.flip || !v.w.Declared().Symmetric || v.w.Layout != quant.GPTQ && v.w.Layout != quant.Int {
		return false, nil
	}
	br, bc := v.w.Block()
	rows := len(a.v) / v.cols
	inputs, outputs, size := v.cols, rows, bc
	if v.w.InputMajor {
		inputs, outputs, size = rows, v.cols, br
	}
	if size < 2 {
		return false, nil
	}
	at := func(i, k int) int {
		if v.w.InputMajor {
			return i*v.cols + k
		}
		return k*v.cols + i
	}
	groups, err := v.scalesOf(rows, size)
	if err != nil || len(groups) < 2 {
		return false, err
	}
	explained, moved, order := 0, 0, v.w.Order()
	for i := range inputs {
		group := i / size
		if order != nil {
			group = order[i]
		}
		own, best, to, energy := 0.0, -1.0, 0, 0.0
		for g, s := range groups {
			left := 0.0
			for k := range outputs {
				x, y := a.v[at(i, k)], o.v[at(i, k)]
				d := x*s[k]/groups[group][k] - y
				left += d * d
				if g == 0 {
					energy += y * y
				}
			}
			if g == group {
				own = left
			}
			if best < 0 || left < best {
				best, to = left, g
			}
		}
		if best <= regroupedLeft*energy {
			explained++
		}
		if to != group && own > 4*best {
			moved++
		}
	}
	return float64(explained) >= mostly*float64(inputs) && 4*moved >= inputs, nil
}

// regroupedLeft is the share of the energy that four bits leave, with room: 0.01 to 0.02.
const regroupedLeft = 0.06

// scalesOf lists the scales of each group of inputs by output, of the first rows where rows are outputs.
func (v weight) scalesOf(rows, size int) ([][]float64, error) {
	var out [][]float64
	if v.w.InputMajor {
		row, _ := v.inGroups(v.rows)
		for r := 0; r < v.rows; r += size {
			s, err := v.w.Scales(row[r], row[r]+1)
			if err != nil || s == nil {
				return nil, err
			}
			out = append(out, s)
		}
		return out, nil
	}
	s, err := v.w.Scales(0, rows)
	if err != nil || s == nil {
		return nil, err
	}
	_, col := v.inGroups(rows)
	for c := 0; c < v.cols; c += size {
		one := make([]float64, rows)
		for r := range rows {
			one[r] = s[r*v.cols+col[c]]
		}
		out = append(out, one)
	}
	return out, nil
}
