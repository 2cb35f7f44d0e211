package blind

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-suite/assay/kernels_test/bench"
)

// Classes of mutants, in the order of the issue that asks for them.
const (
	OutputExtent = "outputs beyond an extent"
	InputExtent  = "inputs beyond an extent"
	PartialTile  = "partial tile"
	Ignored      = "attribute or operand ignored"
	ShortIndex   = "index in few bits"
	FacetOutput  = "a facet's output"
	Rare         = "rarely wrong"
	Stale        = "state kept"
	Exchanged    = "operands exchanged"
)

// Classes lists them.
var Classes = []string{
	OutputExtent, InputExtent, PartialTile, Ignored, ShortIndex, FacetOutput, Rare, Stale, Exchanged,
}

// Mutant is a generic fault around a sound kernel of one operator.
type Mutant struct {
	Class string
	Name  string // unique within its operator
	Facet string // the one that is faulty; empty is every facet
	Hint  string // the attribute or operand alone that it changes, for the closed list of reasons

	baked   any                     // the value of Hint that it answers whatever is asked; nil for none
	touches func(c bench.Call) bool // whether it can change anything in a call; nil: ask it
	pure    bool                    // edits outputs and nothing else, the same way in every call
	wrap    func(c bench.Candidate) bench.Candidate
	seeded  func(seed int) func(c bench.Candidate) bench.Candidate // of rare mutants, which are many: wrap is seed 0
}

// Rare tells whether a mutant is wrong in calls or elements that are drawn from a seed.
func (m Mutant) Rare() bool { return m.seeded != nil }

// Wrap is the mutant around another sound candidate.
func (m Mutant) Wrap(sound bench.Candidate) bench.Candidate { return m.wrap(sound) }

// drawn is what the mutants of an operator are made from.
type drawn struct {
	suite  string
	family bench.Family
	calls  []bench.Call // of every row of every facet, under the facet's sharpest contract
	facets []bench.FacetCases
}

// tensor is an operand or an output, as the calls have it.
type tensor struct {
	name, dtype string
	kinds       []kind
}

// operands are those that any call has, by name and rank, the first of its dtypes.
func (d drawn) operands() []tensor {
	return d.tensors(func(c bench.Call, see func(string, string, int)) {
		for _, name := range slices.Sorted(maps.Keys(c.Views)) {
			see(name, c.Storage[c.Views[name].Storage].DType, len(c.Views[name].Shape))
		}
	})
}

// outputs are those that any call asks for.
func (d drawn) outputs() []tensor {
	return d.tensors(func(c bench.Call, see func(string, string, int)) {
		for _, name := range slices.Sorted(maps.Keys(c.Outputs)) {
			see(name, c.Outputs[name].DType, len(c.Outputs[name].Shape))
		}
	})
}

func (d drawn) tensors(each func(c bench.Call, see func(name, dtype string, rank int))) []tensor {
	seen := map[string]tensor{}
	for _, c := range d.calls {
		each(c, func(name, dtype string, rank int) {
			key := fmt.Sprint(name, rank)
			if _, ok := seen[key]; !ok {
				seen[key] = tensor{name, dtype, kindsOf(d.suite, d.family, name, rank)}
			}
		})
	}
	return slices.SortedFunc(maps.Values(seen), func(a, b tensor) int {
		return cmp.Or(cmp.Compare(a.name, b.name), len(a.kinds)-len(b.kinds))
	})
}

// mutants lists every mutant of an operator.
func (d drawn) mutants() []Mutant {
	all := slices.Concat(d.beyond(), d.tiles(), d.ignoring(), d.shortIndices(), d.facetOutputs(), d.rarely(), d.stale(),
		d.exchanged())
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(m Mutant) bool {
		again := seen[m.Name]
		seen[m.Name] = true
		return again
	})
}

// outside tells for each element of a shape whether its index in dimension d is in [from, to).
func within(shape []int, d, from, to int) func(i int) bool {
	step := 1
	for _, n := range shape[d+1:] {
		step *= n
	}
	return func(i int) bool {
		at := i / step % shape[d]
		return at >= from && at < to
	}
}

// operand edits an operand of a call's copy by row-major index; f gets the values as they were.
func operand(name string, rank int, f func(shape []int, values []float64, i int) float64) func(c *bench.Call) {
	return func(c *bench.Call) {
		v, ok := c.Views[name]
		if !ok || len(v.Shape) != rank {
			return
		}
		s := c.Storage[v.Storage]
		values := make([]float64, v.Len())
		v.Each(func(i, at int) { values[i] = s.Data[at] })
		v.Each(func(i, at int) { s.Data[at] = bench.Round(s.DType, f(v.Shape, values, i)) })
	}
}

// output edits an output of a reply by row-major index; f gets the values as they were, and the prefill pattern.
func output(name string, rank int, f func(shape []int, values []float64, i int, unwritten float64) float64,
) func(c bench.Call, r *bench.Reply) {
	return func(c bench.Call, r *bench.Reply) {
		o, ok := c.Outputs[name]
		s, has := r.Outputs[name]
		if !ok || !has || len(o.Shape) != rank || len(s.Data) == 0 {
			return
		}
		unwritten := c.Allocate()[name].Data[0]
		values := slices.Clone(s.Data)
		for i := range s.Data {
			v := f(o.Shape, values, i, unwritten)
			if math.Float64bits(v) != math.Float64bits(unwritten) {
				v = bench.Round(s.DType, v)
			}
			s.Data[i] = v
		}
	}
}

func before(f func(c *bench.Call)) func(bench.Candidate) bench.Candidate {
	return func(c bench.Candidate) bench.Candidate { return bench.Before(c, f) }
}

func after(f func(c bench.Call, r *bench.Reply)) func(bench.Candidate) bench.Candidate {
	return func(c bench.Candidate) bench.Candidate { return bench.After(c, f) }
}
