package numerics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/assay-suite/assay/numerics/format"
)

// causes guesses, from residuals and contract only, likely first: an emulation that reproduces the result names itself;
// then zeros, a common factor by name (signatures), a constant offset, a tile or page period, growth along an axis, and
// a truncation bias where the contract does not truncate itself. bad are the offending elements; none where the offence
// is a mean.
func causes(t Trial, c Contract, v Verdict, bad []int) []Cause {
	if v.Gate == Structure || v.Gate == Selecting || v.Gate == Compounding {
		return nil // the reason says it already
	}
	var out []Cause
	for _, f := range v.Explain {
		if f.Name != c.Name && f.BitEqual >= 0.99 {
			out = append(out, Cause{
				f.Name, fmt.Sprintf("its emulation gives %.1f %% of the outputs bit for bit", 100*f.BitEqual),
			})
		}
	}
	all := make([]int, 0, len(t.Got))
	for i, w := range t.Want {
		if class(t.Got[i]) == 0 && class(w) == 0 {
			all = append(all, i)
		}
	}
	bad = slices.DeleteFunc(slices.Clone(bad), func(i int) bool { return class(t.Got[i]) != 0 || class(t.Want[i]) != 0 })
	for _, find := range []func(Trial, Contract, []int) (Cause, bool){zeros, scaled, offset} {
		cause, ok := find(t, c, all)
		if !ok && len(bad) >= 8 && len(bad) < len(all) {
			cause, ok = find(t, c, bad) // a fault of some rows shows among them
		}
		if ok {
			out = append(out, cause)
		}
	}
	if strings.Contains(v.Where.Pattern, " mod ") {
		out = append(out, Cause{"period", "the offending elements repeat with a tile or page: " + v.Where.Pattern})
	}
	if cause, ok := growth(t); ok {
		out = append(out, cause)
	}
	if cause, ok := truncation(t, c, v, all); ok {
		at := slices.IndexFunc(out, func(c Cause) bool { return c.Name == "scale" })
		if at >= 0 && t.cutRatherThanScaled(c, all) {
			out = slices.Insert(out, at, cause)
		} else {
			out = append(out, cause)
		}
	}
	return out
}

// cutRatherThanScaled compares two fits of the error in ulp: a constant number of ulp towards zero, as truncation
// gives, and a share of the value, which moves by a factor of two within a binade.
func (t Trial) cutRatherThanScaled(c Contract, at []int) bool {
	units := t.units(c)
	var n, syy, se, sey, see float64
	for _, i := range at {
		y := math.Abs(t.Want[i]) / units[i]
		e := math.Copysign(1, t.Want[i]) * (t.Got[i] - t.Want[i]) / units[i]
		n++
		syy += y * y
		se += e
		sey += e * y
		see += e * e
	}
	return see-se*se/n < see-sey*sey/syy
}

func zeros(t Trial, _ Contract, at []int) (Cause, bool) {
	n := 0
	for _, i := range at {
		if t.Got[i] == 0 && math.Abs(t.Want[i]) > t.Bound[i] {
			n++
		}
	}
	return Cause{"zeros", fmt.Sprintf("%d elements are exactly 0 where the exact value is beyond its bound", n)}, n > 0
}

// signatures are factors that say which mistake was made: the softmax scale's root, a base-2 exponent or logarithm
// taken for a natural one, a sign.
var signatures = []struct {
	name   string
	factor float64
}{
	{"sqrt 2", math.Sqrt2},
	{"1/sqrt 2", 1 / math.Sqrt2},
	{"2", 2},
	{"1/2", 0.5},
	{"log2 e", math.Log2E},
	{"ln 2", math.Ln2},
	{"sign", -1},
}

// scaled fits one factor and names it: a signature, or a scale of the operator that was applied twice, three times,
// dropped or inverted.
func scaled(t Trial, c Contract, at []int) (Cause, bool) {
	var gw, ww, gg float64
	for _, i := range at {
		gw += t.Got[i] * t.Want[i]
		ww += t.Want[i] * t.Want[i]
		gg += t.Got[i] * t.Got[i]
	}
	if ww == 0 || gg == 0 {
		return Cause{}, false
	}
	scale := gw / ww
	left := math.Sqrt(math.Max(gg-scale*gw, 0) / ww) // what one factor leaves unexplained
	if !(math.Abs(scale-1) > 4*left) && !(math.Abs(scale-1) > 6*left/math.Sqrt(float64(len(at))) && left < 0.02) {
		return Cause{}, false
	}
	type candidate struct {
		name   string
		factor float64
	}
	named := []candidate{}
	for _, s := range signatures {
		named = append(named, candidate{s.name, s.factor})
	}
	for name, s := range t.Scales {
		if s == 0 || s == 1 {
			continue
		}
		named = append(named, candidate{name + " applied twice", s}, candidate{name + " applied three times", s * s},
			candidate{
				name + " dropped", 1 / s,
			}, candidate{name + " inverted", 1 / (s * s)})
	}
	off := func(s candidate) float64 { return math.Abs(scale/s.factor - 1) }
	best := slices.MinFunc(named, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(off(a), off(b)), cmp.Compare(a.name, b.name))
	})
	why := fmt.Sprintf("one factor of %.7g explains the difference but %.2g of it", scale, left/math.Abs(scale-1))
	if off(best) <= math.Min(0.005, 4*left/math.Sqrt(float64(len(at)))+c.Output().U()) {
		return Cause{best.name, why}, true
	}
	return Cause{"scale", why}, true
}

// offset finds one constant in the difference, as of an LSE whose maximum or base was treated wrongly.
func offset(t Trial, _ Contract, at []int) (Cause, bool) {
	var sum, sq float64
	n := float64(len(at))
	for _, i := range at {
		d := t.Got[i] - t.Want[i]
		sum += d
		sq += d * d
	}
	mean := sum / n
	sd := math.Sqrt(math.Max(sq/n-mean*mean, 0))
	return Cause{
		"offset", fmt.Sprintf("one constant of %.5g explains the difference but %.2g of it", mean, sd/math.Abs(mean)),
	}, n >= 8 && math.Abs(mean) > 8*sd
}

// growth looks for an error, in units of the bound, that grows along an axis: with position, length or K.
func growth(t Trial) (Cause, bool) {
	rho := Rho(t.Got, t.Want, t.Bound)
	for a, d := range t.Shape {
		if d < 8 {
			continue
		}
		sq, n := make([]float64, d), make([]float64, d)
		for i, r := range rho {
			if class(r) == 0 {
				at := coord(i, t.Shape)[a]
				sq[at] += r * r
				n[at]++
			}
		}
		var xs, ys []float64
		for i := range sq {
			if sq[i] > 0 {
				xs, ys = append(xs, math.Log(float64(i+1))), append(ys, math.Log(sq[i]/n[i])/2)
			}
		}
		if slope, r2 := regress(xs, ys); len(xs) >= 8 && slope > 0.3 && r2 > 0.6 {
			return Cause{
				"growth", fmt.Sprintf("the error grows along %s to the power %.2g (R² %.2g), beyond what the bound expects",
					axisName(t.Axes, a), slope, r2),
			}, true
		}
	}
	return Cause{}, false
}

// regress is the least-squares slope of y over x and its coefficient of determination.
func regress(x, y []float64) (slope, r2 float64) {
	var mx, my, sxx, sxy, syy float64
	n := float64(len(x))
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
		syy += (y[i] - my) * (y[i] - my)
	}
	if sxx == 0 || syy == 0 {
		return 0, 0
	}
	return sxy / sxx, sxy * sxy / (sxx * syy)
}

// truncation is a mean error towards zero that the contract does not have: by the calibrated bias where there is one,
// else by counting.
func truncation(t Trial, c Contract, v Verdict, at []int) (Cause, bool) {
	if c.Acc.Rounding == format.RZ && v.Magnified.SD == 0 {
		return Cause{}, false
	}
	if m := v.Magnified; m.SD > 0 {
		return Cause{
			"truncation", fmt.Sprintf("results are %.3g ulp smaller in magnitude than the exact ones, the contract's are %.3g",
				-m.Value, -m.Centre),
		}, m.Value < m.Low
	}
	toward := 0
	for _, i := range at {
		if math.Abs(t.Got[i]) < math.Abs(t.Want[i]) {
			toward++
		}
	}
	n := float64(len(at))
	share := float64(toward) / n
	return Cause{
		"truncation", fmt.Sprintf("%.0f %% of the outputs are smaller in magnitude than the exact value", 100*share),
	}, n >= 32 && share-0.5 > 3/math.Sqrt(n)
}
