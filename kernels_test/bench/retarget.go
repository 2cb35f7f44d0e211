package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Retarget moves a case to the sizes that a kernel is made for: every dimension of its shape that is listed takes the
// nearest of the listed sizes (of two equally near the larger). The case keeps its ID, with what was changed behind its
// shape's name, and is drawn anew. An error says that the generator has no such case.
func Retarget(c Case, madeFor map[string][]int) (Case, error) {
	shape, changed := c.Shape, ""
	for _, dim := range slices.Sorted(maps.Keys(madeFor)) {
		n, has := shape.Dims[dim]
		if !has || len(madeFor[dim]) == 0 || slices.Contains(madeFor[dim], n) {
			continue
		}
		to := nearest(n, madeFor[dim])
		changed += fmt.Sprintf("-%s%d", strings.ReplaceAll(dim, "_", "-"), to)
		shape = shape.With(shape.Name, dim, to)
	}
	if changed == "" {
		return c, nil
	}
	shape.Name += changed
	moved := c
	moved.Shape = shape
	moved.ID = fmt.Sprintf("%s/%s", moved.RowID(), c.Contract.Name)
	if _, err := attemptProblem(moved); err != nil {
		return c, err
	}
	return moved, nil
}

func nearest(n int, sizes []int) int {
	best := sizes[0]
	for _, s := range sizes[1:] {
		d, e := max(s-n, n-s), max(best-n, n-best)
		if d < e || d == e && s > best {
			best = s
		}
	}
	return best
}

// Dimensions lists the names that a worker's made_for may use for an operator: those of its shapes.
func (f Family) Dimensions() []string {
	names := map[string]bool{}
	for _, k := range f.Scenarios {
		for _, s := range k.Shapes {
			for d := range s.Dims {
				names[d] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
