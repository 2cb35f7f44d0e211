package blind

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// beyond are kernels that are right up to an extent of one dimension: outputs beyond it are zero or unwritten, inputs
// beyond it are not looked at (taken for 0; an index for -1, a length for the extent).
func (d drawn) beyond() []Mutant {
	var out []Mutant
	for _, t := range d.outputs() {
		for dim, k := range t.kinds {
			for _, x := range lastRight(k) {
				for _, how := range []string{"zero", "unwritten"} {
					f := output(t.name, len(t.kinds), func(shape []int, v []float64, i int, unwritten float64) float64 {
						switch {
						case !within(shape, dim, x, shape[dim])(i):
							return v[i]
						case how == "zero":
							return 0
						}
						return unwritten
					})
					out = append(out, Mutant{
						Class: OutputExtent, Name: fmt.Sprintf("%s %s beyond %d of %s", t.name, how, x, axis(dim, k)),
						touches: func(c bench.Call) bool { return longer(c.Outputs[t.name].Shape, len(t.kinds), dim, x) },
						pure:    true, wrap: after(f),
					})
				}
			}
		}
	}
	for _, t := range d.operands() {
		for dim, k := range t.kinds {
			for _, x := range lastRight(k) {
				f := operand(t.name, len(t.kinds), func(shape []int, v []float64, i int) float64 {
					switch {
					case !within(shape, dim, x, shape[dim])(i):
						return v[i]
					case integer(t.dtype):
						return -1
					}
					return 0
				})
				if integer(t.dtype) && len(t.kinds) == 1 {
					continue // an index of its own for each row: the outputs of those rows say the same
				}
				out = append(out, Mutant{
					Class: InputExtent, Hint: t.name, Name: fmt.Sprintf("%s ignored beyond %d of %s", t.name, x, axis(dim, k)),
					touches: func(c bench.Call) bool { return longer(c.Views[t.name].Shape, len(t.kinds), dim, x) },
					wrap:    before(f),
				})
			}
		}
		if k, ok := lengthOf[t.name]; ok {
			for _, x := range lastRight(k) {
				out = append(out, Mutant{
					Class: InputExtent, Hint: t.name, Name: fmt.Sprintf("%s at most %d", t.name, x),
					touches: func(c bench.Call) bool { return reaches(c, t.name, float64(x)+1) },
					wrap: before(operand(t.name, len(t.kinds), func(_ []int, v []float64, i int) float64 {
						return min(v[i], float64(x))
					})),
				})
			}
		}
	}
	return out
}

// axis names a dimension.
func axis(dim int, k kind) string { return fmt.Sprintf("dimension %d (%s)", dim, k) }

// longer tells whether a shape of a rank goes beyond an extent.
func longer(shape []int, rank, dim, x int) bool { return len(shape) == rank && shape[dim] > x }

// reaches tells whether an operand has a value of at least v.
func reaches(c bench.Call, name string, v float64) bool {
	view, ok := c.Views[name]
	found := false
	if ok {
		data := c.Storage[view.Storage].Data
		view.Each(func(_, at int) { found = found || data[at] >= v })
	}
	return found
}
