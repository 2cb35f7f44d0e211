package quant

import "fmt"

// Scales gives what the code of every value of rows [from, to) is multiplied by, the factor included; nil without
// scales.
func (w *Weight) Scales(from, to int) ([]float64, error) {
	if from < 0 || to < from || to > w.Total() {
		return nil, fmt.Errorf("%s: rows %d to %d of %d", w.Name(), from, to, w.Total())
	}
	if w.scale.name == "" && w.factor == nil {
		return nil, nil
	}
	s := gridRows{}
	if w.scale.name != "" {
		var err error
		if s, err = w.scale.rowsFor(w, from, to); err != nil {
			return nil, err
		}
	}
	out := make([]float64, (to-from)*w.Cols)
	w.each(&w.scale, s, from, to, func(i int, scale float64) { out[i] = scale })
	return out, nil
}
