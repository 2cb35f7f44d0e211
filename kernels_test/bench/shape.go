package bench

import (
	"maps"
	"slices"
)

// Shape is the size of a problem: named dimensions, as the family's generator reads them. Name is its segment in case
// IDs.
type Shape struct {
	Name string
	Dims map[string]int
}

// S makes a shape from pairs of a dimension and its size.
func S(name string, dims map[string]int) Shape { return Shape{name, dims} }

// Dim is the size of a dimension, 0 where the shape lacks it.
func (s Shape) Dim(name string) int { return s.Dims[name] }

// With is the shape with one dimension changed and another name.
func (s Shape) With(name, dim string, n int) Shape {
	dims := maps.Clone(s.Dims)
	dims[dim] = n
	return Shape{name, dims}
}

// names lists the dimensions, sorted.
func (s Shape) names() []string { return slices.Sorted(maps.Keys(s.Dims)) }
