package exact

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Direction is how much of a known fault's shift the margins of one phase show: 1 is the fault as catalogued.
type Direction struct {
	Fault     string
	Phase     Phase
	Amplitude float64
	Low, High float64 // of sound engines
	Explains  float64 // share of the squared shifts that goes with it
}

// Outside reports whether no sound engine of the format shows that amplitude.
func (d Direction) Outside() bool { return d.Amplitude < d.Low || d.Amplitude > d.High }

// directionRisk is that of a sound engine being outside of one direction's limits. There are eight directions in three
// phases whose noises are nearly the same, so that one in a thousand sound runs has one outside.
const directionRisk = 1e-4

// directed fits every known fault to the shifts of a phase.
func directed(r Reference, seen []Seen, phase Phase, name string) []Direction {
	use, d := shiftsOf(r, seen, phase, name)
	if len(use) < 2*digits {
		return nil
	}
	f := newFit(r.Members[name], use)
	d = f.weigh(d)
	var out []Direction
	for _, fault := range slices.Sorted(maps.Keys(r.Directions)) {
		g := f.weigh(at(r.Directions[fault], use))
		x := Direction{Fault: fault, Phase: phase}
		x.Amplitude, x.Explains = amplitude(d, g, f.common)
		low, high := limits(f.sound(g), directionRisk, 0)
		half := (high - low) / 2
		x.Low, x.High = math.Min(low, -half), math.Max(high, half)
		out = append(out, x)
	}
	return out
}

// shiftsOf lists the digits of a phase that can be compared, and their shifts.
func shiftsOf(r Reference, seen []Seen, phase Phase, name string) (use []int, d []float64) {
	for _, s := range seen {
		if s.Phase != phase || s.Err != nil || !phaseProven(s) {
			continue
		}
		for j, got := range s.Margins {
			i := s.Cell*digits + j
			want := r.Digits[i].Margin()
			if !math.IsNaN(got) && !(quantised(name) && want < leastMargin) {
				use, d = append(use, i), append(d, got-want)
			}
		}
	}
	return use, d
}

func at(x []float64, use []int) []float64 {
	out := make([]float64, len(use))
	for k, i := range use {
		out[k] = x[i]
	}
	return out
}

// fit is how amplitudes are estimated: by least squares over digits, each weighted by one over the variance of the
// emulated engines at it and at all digits, in the complement of their common mode. Rounding of weights moves all
// margins together, along one direction that carries half of the engines' spread; what is left of a fault's shift
// beside it tells the fault.
type fit struct {
	root    []float64   // of the weights
	members [][]float64 // weighed
	common  []float64   // mode, of length 1
}

func newFit(members [][]float64, use []int) fit {
	f := fit{root: make([]float64, len(use))}
	all := 0.0
	for k, i := range use {
		for _, m := range members {
			f.root[k] += m[i] * m[i] / float64(len(members))
		}
		all += f.root[k] / float64(len(use))
	}
	for k, v := range f.root {
		f.root[k] = math.Sqrt(2 / (v + all))
	}
	for _, m := range members {
		f.members = append(f.members, f.weigh(at(m, use)))
	}
	f.common = mode(f.members)
	return f
}

func (f fit) weigh(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * f.root[i]
	}
	return out
}

// sound are the amplitudes of the emulated engines, each beside the common mode of the others.
func (f fit) sound(g []float64) []float64 {
	var out []float64
	for j, m := range f.members {
		a, _ := amplitude(m, g, mode(slices.Delete(slices.Clone(f.members), j, j+1)))
		out = append(out, a)
	}
	return out
}

// amplitude is the a that brings a·g nearest to d beside a mode, and the share of d's squares there that it explains.
func amplitude(d, g, mode []float64) (a, explains float64) {
	d, g = beside(d, mode), beside(g, mode)
	gg, dg := dot(g, g), dot(d, g)
	return dg / gg, dg * dg / (gg * dot(d, d))
}

// beside is x without its part along a mode.
func beside(x, mode []float64) []float64 {
	s := dot(x, mode)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v - s*mode[i]
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// mode is the direction with the largest sum of squares over the rows: their first right singular vector, by power
// iteration on the products of rows.
func mode(rows [][]float64) []float64 {
	const rounds = 60 // the second singular value is well below the first; what is left of it does no harm
	v := make([]float64, len(rows))
	for i := range v {
		v[i] = 1
	}
	var x []float64
	for range rounds {
		x = make([]float64, len(rows[0]))
		for i, r := range rows {
			for k, y := range r {
				x[k] += v[i] * y
			}
		}
		length := math.Sqrt(dot(x, x))
		for k := range x {
			x[k] /= length
		}
		for i, r := range rows {
			v[i] = dot(r, x)
		}
	}
	return x
}

// smallest is the factor on attention's values that leaves the limits of sound engines in 95 % of all runs, where its
// effect is linear: the way from the middle of the limits to one of them, and the one-sided 5 % point beyond it.
func smallest(r Reference, name string) float64 {
	g, ok := r.Directions["v-scale-1.02"]
	if !ok {
		return math.NaN()
	}
	var use []int
	for i, d := range r.Digits {
		if !quantised(name) || d.Margin() >= leastMargin {
			use = append(use, i)
		}
	}
	f := newFit(r.Members[name], use)
	a := f.sound(f.weigh(at(g, use)))
	low, high := limits(a, directionRisk, 0)
	least, most := limits(a, 0.1, 0)
	half := (high - low) / 2
	return 1 + 0.02*(math.Max(high, half)-(low+high)/2+(most-least)/2)
}

// sortDirections puts the one that explains most first.
func sortDirections(all []Direction) {
	slices.SortStableFunc(all, func(a, b Direction) int { return cmp.Compare(b.Explains, a.Explains) })
}
