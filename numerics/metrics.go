package numerics

import (
	"fmt"
	"math"

	"github.com/assay-suite/assay/numerics/format"
)

// The measures below compare got with want element by element. Both slices must have one length, else the measure is
// NaN. An element that is NaN on either side makes every measure NaN: a NaN is never a match and never skipped.
// Infinities of one sign on both sides count as equal; other infinities give +Inf (a cosine or calc_diff: NaN). They
// describe; none of them accepts or rejects anything.

// RelL2 is ||got−want||₂ / ||want||₂; 0 if both vanish, +Inf if only want does.
func RelL2(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	var num, den float64
	for i, w := range want {
		d := difference(got[i], w)
		num += d * d
		if !math.IsInf(w, 0) {
			den += w * w
		}
	}
	return ratio(math.Sqrt(num), math.Sqrt(den))
}

// MaxAbs is max |got−want|, 0 for no elements.
func MaxAbs(got, want []float64) float64 {
	return maxOver(got, want, func(d, _ float64) float64 { return d })
}

// MaxRel is max |got−want|/|want|; +Inf where want is 0 and got is not.
func MaxRel(got, want []float64) float64 {
	return maxOver(got, want, func(d, w float64) float64 {
		if math.IsInf(d, 1) {
			return d
		}
		return ratio(d, math.Abs(w))
	})
}

// MaxULP is max |got−want| in units in the last place of f at want. floor keeps the unit from shrinking around zero:
// |want| counts as at least floor (the project's rule is the row's rms times 2^-8).
func MaxULP(got, want []float64, f format.Format, floor float64) float64 {
	return maxOver(got, want, func(d, w float64) float64 { return ratio(d, f.Ulp(math.Max(math.Abs(w), floor))) })
}

// ULPDistance counts the steps of f between two of its values, 0 for equal ones and for +0 and −0; NaN and values
// that f does not hold are errors. It is a distance along the number line: crossing zero counts the values between.
func ULPDistance(a, b float64, f format.Format) (int64, error) {
	i, err := place(a, f)
	if err != nil {
		return 0, err
	}
	j, err := place(b, f)
	if err != nil {
		return 0, err
	}
	if i > j {
		i, j = j, i
	}
	return j - i, nil
}

// place numbers the values of f along the line, with 0 at 0.
func place(x float64, f format.Format) (int64, error) {
	if math.IsNaN(x) || f.RoundTo(x, format.RZ, format.Overflow) != x {
		return 0, fmt.Errorf("ulp distance: %v is not a value of %s; round it first", x, f.Name)
	}
	code := f.Encode(math.Abs(x), format.RN, format.Overflow) >> f.Shift
	if x < 0 {
		return -int64(code), nil
	}
	return int64(code), nil
}

// Cosine is the cosine of the angle between got and want; NaN if one of them vanishes. It cannot see a scale.
func Cosine(got, want []float64) float64 {
	xy, xx, yy := moments(got, want)
	return xy / math.Sqrt(xx*yy)
}

// CalcDiff is DeepGEMM's 1 − 2Σxy/Σ(x²+y²); 0 if both vanish (deepseek-ai/DeepGEMM,
// deep_gemm/testing/numeric.py). For y = (1+e)x it is about e²/2, so a limit of 1e-3 admits a scale error of 4.5 %.
func CalcDiff(got, want []float64) float64 {
	xy, xx, yy := moments(got, want)
	if xx+yy == 0 {
		return 0
	}
	return 1 - 2*xy/(xx+yy)
}

// BitEqual counts the elements of equal value; NaN equals NaN, −0 differs from +0.
func BitEqual(got, want []float64) int {
	n := 0
	for i := range min(len(got), len(want)) {
		if math.Float64bits(got[i]) == math.Float64bits(want[i]) || got[i] != got[i] && want[i] != want[i] {
			n++
		}
	}
	return n
}

func moments(x, y []float64) (xy, xx, yy float64) {
	if len(x) != len(y) {
		return math.NaN(), math.NaN(), math.NaN()
	}
	for i, v := range x {
		xy += v * y[i]
		xx += v * v
		yy += y[i] * y[i]
	}
	return xy, xx, yy
}

func maxOver(got, want []float64, f func(d, w float64) float64) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	var m float64
	for i, w := range want {
		m = math.Max(m, f(difference(got[i], w), w)) // math.Max keeps a NaN
	}
	return m
}

// difference is |a−b|, 0 for equal infinities.
func difference(a, b float64) float64 {
	if a == b {
		return 0
	}
	if math.IsInf(a, 0) && math.IsInf(b, 0) {
		return math.Inf(1)
	}
	return math.Abs(a - b)
}

// ratio is a/b with 0/0 = 0.
func ratio(a, b float64) float64 {
	if a == 0 && !math.IsNaN(b) {
		return 0
	}
	return a / b
}
