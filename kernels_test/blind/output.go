package blind

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// facetOutputs are kernels of which one facet gives an output that is zero, 2^-6 too large, cut off where it is to be
// rounded (half of its elements, drawn, one step nearer to zero; outputs of two bytes only, since fp32 sums have no
// rounding of their own that a contract asks for), or 0 for NaN.
func (d drawn) facetOutputs() []Mutant {
	var out []Mutant
	for _, fc := range d.facets {
		seen := map[string]tensor{}
		one := drawn{suite: d.suite, family: d.family, calls: d.callsOf(fc)}
		for _, t := range one.outputs() {
			seen[t.name] = t
		}
		for _, name := range slices.Sorted(maps.Keys(seen)) {
			t := seen[name]
			how := map[string]func(v, unwritten float64, i int) float64{
				"zero": func(v, unwritten float64, _ int) float64 {
					if math.Float64bits(v) == math.Float64bits(unwritten) {
						return v
					}
					return 0
				},
			}
			if !integer(t.dtype) && t.dtype != bench.U8 {
				word, factor := "scaled by 1 + 2^-6", 1+0x1p-6
				if t.dtype == bench.E4M3 {
					word, factor = "scaled by 1 + 2^-3", 1+0x1p-3 // one step of e4m3
				}
				how[word] = func(v, _ float64, _ int) float64 { return v * factor }
				how["NaN turned into 0"] = func(v, unwritten float64, _ int) float64 {
					if v != v && math.Float64bits(v) != math.Float64bits(unwritten) {
						return 0
					}
					return v
				}
			}
			if t.dtype == bench.BF16 || t.dtype == bench.F16 {
				how["truncated"] = func(v, _ float64, i int) float64 {
					if suite.Seed(fmt.Sprint(i))%2 == 0 {
						return v
					}
					return toZero(t.dtype, v)
				}
			}
			for _, word := range slices.Sorted(maps.Keys(how)) {
				f := how[word]
				edit := func(c bench.Call, r *bench.Reply) {
					output(name, len(c.Outputs[name].Shape), func(_ []int, v []float64, i int, unwritten float64) float64 {
						return f(v[i], unwritten, i)
					})(c, r)
				}
				out = append(out, Mutant{
					Class: FacetOutput, Name: fmt.Sprintf("%s: %s %s", fc.Facet.Slug(), name, word), Facet: fc.Facet.String(),
					touches: func(c bench.Call) bool { _, asked := c.Outputs[name]; return asked },
					pure:    true, wrap: after(edit),
				})
			}
		}
	}
	return out
}

// callsOf are the calls of a facet's rows.
func (d drawn) callsOf(fc bench.FacetCases) []bench.Call {
	ids := map[string]bool{}
	for _, r := range fc.Rows {
		ids[r.Under(fc.Contracts[0]).ID] = true
	}
	var out []bench.Call
	for _, c := range d.calls {
		if ids[c.Case] {
			out = append(out, c)
		}
	}
	return out
}

// toZero is the neighbour of v nearer to zero in a dtype of two bytes.
func toZero(dtype string, v float64) float64 {
	if v == 0 || v != v || math.IsInf(v, 0) {
		return v
	}
	bits := 8.0 // of significand: bf16
	if dtype == bench.F16 {
		bits = 11
	}
	fraction, e := math.Frexp(math.Abs(v))
	return math.Copysign(math.Ldexp(fraction-math.Ldexp(1, -int(bits)), e), v)
}
