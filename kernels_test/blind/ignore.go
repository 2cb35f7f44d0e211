package blind

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// values are how many of an attribute's values are baked into a kernel, the most frequent ones.
const baked = 3

// ignoring are kernels that do not look at an attribute, each of the values that calls give it baked in, or none; and
// kernels that do not look at an operand that a call may leave out.
func (d drawn) ignoring() []Mutant {
	var out []Mutant
	for _, a := range d.family.Doc.Attrs {
		for _, v := range d.frequent(a.Name) {
			usual, optIn := d.family.Facets.OptIn[a.Name] // what a call without it means
			out = append(out, Mutant{
				Class: Ignored, Name: fmt.Sprintf("%s is %v whatever is asked", a.Name, v), Hint: a.Name, baked: v,
				touches: func(c bench.Call) bool {
					w, has := c.Attrs[a.Name]
					return has && w != v || !has && optIn && usual != v
				},
				wrap: before(func(c *bench.Call) {
					if _, has := c.Attrs[a.Name]; has || optIn {
						c.Attrs[a.Name] = v
					}
				}),
			})
		}
		if d.limits(a.Name) {
			out = append(out, Mutant{
				Class: Ignored, Name: a.Name + " of 0 taken for no limit", Hint: a.Name,
				touches: func(c bench.Call) bool { v, has := c.Attrs[a.Name]; return has && v == 0.0 },
				wrap: before(func(c *bench.Call) {
					if c.Attrs[a.Name] == 0.0 {
						c.Attrs[a.Name] = -1.0
					}
				}),
			})
		}
		if d.differs(a.Name) {
			continue // each contract has a kernel of its own, which need not be told
		}
		out = append(out, Mutant{
			Class: Ignored, Name: a.Name + " not passed on", Hint: a.Name,
			touches: func(c bench.Call) bool { _, has := c.Attrs[a.Name]; return has },
			wrap:    before(func(c *bench.Call) { delete(c.Attrs, a.Name) }),
		})
	}
	for _, o := range d.family.Doc.Operands {
		if !slices.ContainsFunc(d.calls, func(c bench.Call) bool { _, has := c.Views[o.Name]; return !has }) {
			continue
		}
		out = append(out, Mutant{
			Class: Ignored, Name: o.Name + " ignored", Hint: o.Name,
			touches: func(c bench.Call) bool { _, has := c.Views[o.Name]; return has },
			wrap:    before(bench.Lost(o.Name)),
		})
	}
	return out
}

// limits tells whether an attribute is a number of which -1 means none: its 0 is a value like others.
func (d drawn) limits(attr string) bool {
	return slices.ContainsFunc(d.calls, func(c bench.Call) bool { return c.Attrs[attr] == -1.0 })
}

// differs tells whether contracts differ in an attribute, so that its values are facets.
func (d drawn) differs(attr string) bool {
	return slices.ContainsFunc(d.facets, func(fc bench.FacetCases) bool { return hasWord(fc.Facet.Attrs, attr) })
}

// hasWord tells whether a name stands in the attributes of a facet.
func hasWord(attrs, name string) bool { return slices.Contains(strings.Fields(attrs), name) }

// frequent are the values that calls give an attribute, the most frequent first.
func (d drawn) frequent(attr string) []any {
	count := map[any]int{}
	for _, c := range d.calls {
		if v, has := c.Attrs[attr]; has {
			count[v]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b any) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return all[:min(len(all), baked)]
}

// shortIndices are kernels that hold an index in few bits.
func (d drawn) shortIndices() []Mutant {
	var out []Mutant
	for _, t := range d.operands() {
		if !integer(t.dtype) {
			continue
		}
		for _, bits := range bitsOf(d.family.Op, t.name) {
			limit := 1 << bits
			out = append(out, Mutant{
				Class: ShortIndex, Name: fmt.Sprintf("%s modulo 2^%d", t.name, bits), Hint: t.name,
				touches: func(c bench.Call) bool { return reaches(c, t.name, float64(limit)) },
				wrap: before(operand(t.name, len(t.kinds), func(_ []int, v []float64, i int) float64 {
					if v[i] < 0 {
						return v[i]
					}
					return float64(int(v[i]) % limit)
				})),
			})
		}
	}
	return out
}

// exchanged are kernels that take one operand for another of the same shape and dtype.
func (d drawn) exchanged() []Mutant {
	var out []Mutant
	all := d.family.Doc.Operands
	for i, a := range all {
		for _, b := range all[i+1:] {
			same := func(c bench.Call) bool {
				v, has := c.Views[a.Name]
				w, also := c.Views[b.Name]
				return has && also && slices.Equal(v.Shape, w.Shape) &&
					c.Storage[v.Storage].DType == c.Storage[w.Storage].DType
			}
			if !slices.ContainsFunc(d.calls, same) {
				continue
			}
			out = append(out, Mutant{
				Class: Exchanged, Name: a.Name + " and " + b.Name + " exchanged", touches: same,
				wrap: before(func(c *bench.Call) {
					if same(*c) {
						c.Views[a.Name], c.Views[b.Name] = c.Views[b.Name], c.Views[a.Name]
					}
				}),
			})
		}
	}
	return out
}
