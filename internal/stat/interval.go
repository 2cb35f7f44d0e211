package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a closed interval of a proportion, 0 <= Lo <= Hi <= 1, or of a difference of two, -1 <= Lo <= Hi <= 1.
type Interval struct {
	Lo, Hi float64
}

// String prints the interval in percent with one decimal, as the terminal shows it: [85.5 %, 99.5 %].
func (v Interval) String() string {
	return fmt.Sprintf("[%.1f %%, %.1f %%]", 100*v.Lo, 100*v.Hi)
}

// Contains reports whether p lies in the interval, ends included. NaN lies in none.
func (v Interval) Contains(p float64) bool { return v.Lo <= p && p <= v.Hi }

// Wilson returns the two-sided score interval of a proportion with k hits in n trials at the
// given confidence level (0.95 for 95 %), without continuity correction.
//
// Its mean coverage is close to the level, but coverage at one p can fall below it; use
// ClopperPearson where the level must be guaranteed.
//
// Source: E. B. Wilson, JASA 22 (1927) 209-212; R. G. Newcombe, Statistics in Medicine 17 (1998)
// 857-872, method 3. It fails when n < 1, k is outside 0..n, or level is not inside (0, 1).
func Wilson(k, n int, level float64) (Interval, error) {
	if err := checkProportion(k, n, level); err != nil {
		return Interval{}, fmt.Errorf("Wilson interval: %w", err)
	}
	z := distuv.UnitNormal.Quantile(0.5 + level/2)
	kf, nf := float64(k), float64(n)
	z2 := z * z
	mid := (kf + z2/2) / (nf + z2)
	half := z / (nf + z2) * math.Sqrt(kf*(nf-kf)/nf+z2/4)
	v := Interval{Lo: math.Max(0, mid-half), Hi: math.Min(1, mid+half)}
	// At the ends the bound is 0 or 1 by algebra; rounding would leave 1e-17 or 1-1e-16.
	if k == 0 {
		v.Lo = 0
	}
	if k == n {
		v.Hi = 1
	}
	return v, nil
}

// ClopperPearson returns the two-sided exact interval: each end leaves at most (1-level)/2 of
// error, so coverage is at least level for every p.
//
// Source: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934) 404-413, through quantiles of the
// beta distribution. It fails as Wilson does.
func ClopperPearson(k, n int, level float64) (Interval, error) {
	if err := checkProportion(k, n, level); err != nil {
		return Interval{}, fmt.Errorf("Clopper-Pearson interval: %w", err)
	}
	tail := (1 - level) / 2
	return Interval{Lo: exactLower(k, n, tail), Hi: exactUpper(k, n, tail)}, nil
}

// LowerBound returns the one-sided exact lower bound: with probability at least level the true
// rate lies above it. For n of n it is (1-level)^(1/n). It fails as Wilson does.
func LowerBound(k, n int, level float64) (float64, error) {
	if err := checkProportion(k, n, level); err != nil {
		return 0, fmt.Errorf("lower bound: %w", err)
	}
	return exactLower(k, n, 1-level), nil
}

// UpperBound returns the one-sided exact upper bound: what "clean in n runs" still allows.
// For 0 of n it is 1-(1-level)^(1/n), about 3/n at 95 %. It fails as Wilson does.
func UpperBound(k, n int, level float64) (float64, error) {
	if err := checkProportion(k, n, level); err != nil {
		return 0, fmt.Errorf("upper bound: %w", err)
	}
	return exactUpper(k, n, 1-level), nil
}

func exactLower(k, n int, tail float64) float64 {
	if k == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
}

func exactUpper(k, n int, tail float64) float64 {
	if k == n {
		return 1
	}
	// By the mirror image: 1-tail would lose digits of a small tail.
	return 1 - exactLower(n-k, n, tail)
}

func checkProportion(k, n int, level float64) error {
	switch {
	case n < 1:
		return fmt.Errorf("n is %d, want at least one trial", n)
	case k < 0 || k > n:
		return fmt.Errorf("k is %d, want 0 to n = %d hits", k, n)
	case !(level > 0 && level < 1):
		return fmt.Errorf("confidence level is %v, want a number between 0 and 1 such as 0.95", level)
	}
	return nil
}
