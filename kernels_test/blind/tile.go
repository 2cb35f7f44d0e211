package blind

import (
	"fmt"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// tiles are kernels that get the last tile of a dimension wrong where it is not full: of an output it is dropped,
// doubled or has the tile before it; of an input it is dropped or the tile before it.
func (d drawn) tiles() []Mutant {
	var out []Mutant
	for _, t := range d.outputs() {
		for dim, k := range t.kinds {
			for _, tile := range partialTiles(k) {
				for _, how := range []string{"dropped", "doubled", "from its neighbour"} {
					f := output(t.name, len(t.kinds), func(shape []int, v []float64, i int, unwritten float64) float64 {
						from := shape[dim] / tile * tile
						switch {
						case !partial(shape, dim, tile) || !within(shape, dim, from, shape[dim])(i):
							return v[i]
						case how == "dropped":
							return unwritten
						case how == "doubled":
							return 2 * v[i]
						}
						return v[i-tile*step(shape, dim)]
					})
					out = append(out, Mutant{
						Class: PartialTile, Name: fmt.Sprintf("%s: last tile of %d of %s %s", t.name, tile, axis(dim, k), how),
						touches: func(c bench.Call) bool {
							s := c.Outputs[t.name].Shape
							return len(s) == len(t.kinds) && partial(s, dim, tile)
						},
						pure: true, wrap: after(f),
					})
				}
			}
		}
	}
	for _, t := range d.operands() {
		for dim, k := range t.kinds {
			if integer(t.dtype) {
				continue
			}
			for _, tile := range partialTiles(k) {
				for _, how := range []string{"dropped", "from its neighbour"} {
					f := operand(t.name, len(t.kinds), func(shape []int, v []float64, i int) float64 {
						from := shape[dim] / tile * tile
						switch {
						case !partial(shape, dim, tile) || !within(shape, dim, from, shape[dim])(i):
							return v[i]
						case how == "dropped":
							return 0
						}
						return v[i-tile*step(shape, dim)]
					})
					out = append(out, Mutant{
						Class: PartialTile, Hint: t.name,
						Name: fmt.Sprintf("%s: last tile of %d of %s %s", t.name, tile, axis(dim, k), how),
						touches: func(c bench.Call) bool {
							s := c.Views[t.name].Shape
							return len(s) == len(t.kinds) && partial(s, dim, tile)
						},
						wrap: before(f),
					})
				}
			}
		}
	}
	return out
}

// partial tells whether a dimension ends in a tile that is not full, after one that is.
func partial(shape []int, dim, tile int) bool { return shape[dim] > tile && shape[dim]%tile != 0 }

// step is the distance of two elements that are neighbours in a dimension, row-major.
func step(shape []int, dim int) int {
	n := 1
	for _, s := range shape[dim+1:] {
		n *= s
	}
	return n
}
