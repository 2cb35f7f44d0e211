package stat_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/stat"
)

// printed compares with a number that a paper prints: half a unit of its last digit.
func printed(t *testing.T, what string, got, want float64, digits int) {
	t.Helper()
	if !stat.WithinAbs(got, want, 0.5000001*math.Pow(10, -float64(digits))) {
		t.Errorf("%s is %.*f, want %.*f as printed", what, digits+3, got, digits, want)
	}
}

func TestIntervalsAgreeWithNewcombe(t *testing.T) {
	// Newcombe, Statistics in Medicine 17 (1998), table I: methods 3 (score) and 5 (exact).
	for _, c := range []struct {
		name                     string
		k, n                     int
		wLo, wHi, exactLo, exaHi float64
	}{
		{"81/263", 81, 263, 0.2553, 0.3662, 0.2527, 0.3676},
		{"15/148", 15, 148, 0.0624, 0.1605, 0.0578, 0.1617},
		{"0/20", 0, 20, 0.0000, 0.1611, 0.0000, 0.1684},
		{"1/29", 1, 29, 0.0061, 0.1718, 0.0009, 0.1776},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := stat.Wilson(c.k, c.n, 0.95)
			require.NoError(t, err)
			printed(t, "Wilson low", w.Lo, c.wLo, 4)
			printed(t, "Wilson high", w.Hi, c.wHi, 4)
			e, err := stat.ClopperPearson(c.k, c.n, 0.95)
			require.NoError(t, err)
			printed(t, "exact low", e.Lo, c.exactLo, 4)
			printed(t, "exact high", e.Hi, c.exaHi, 4)
		})
	}
}

func TestIntervalsInClosedForm(t *testing.T) {
	// 0 of n and n of n solve in closed form: (1-p)^n = tail.
	for _, n := range []int{1, 3, 12, 20, 35, 500} {
		e, err := stat.ClopperPearson(0, n, 0.95)
		require.NoError(t, err)
		want := -math.Expm1(math.Log(0.025) / float64(n))
		if e.Lo != 0 || !stat.WithinRel(e.Hi, want, 1e-9) {
			t.Errorf("0 of %d is %v, want [0, %v]", n, e, want)
		}
		lo, err := stat.LowerBound(n, n, 0.95)
		require.NoError(t, err)
		if want := math.Pow(0.05, 1/float64(n)); !stat.WithinRel(lo, want, 1e-9) {
			t.Errorf("one-sided lower bound of %d of %d is %v, want %v", n, n, lo, want)
		}
	}
	hi, err := stat.UpperBound(0, 100, 0.95)
	require.NoError(t, err)
	printed(t, "upper bound of 0 in 100", hi, 0.0295, 4) // the rule of three says 3/100
	cp, err := stat.ClopperPearson(0, 20, 0.95)
	require.NoError(t, err)
	printed(t, "exact upper end of 0/20", cp.Hi, 0.168433, 6)
	w, err := stat.Wilson(34, 35, 0.95)
	require.NoError(t, err)
	if w.String() != "[85.5 %, 99.5 %]" {
		t.Errorf("Wilson 34/35 prints %v", w)
	}
}

// pmf is the binomial probability from exact integers, so that no code of the package judges itself.
func pmf(n, k int, p float64) float64 {
	c, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(n), int64(k))).Float64()
	return c * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
}

func TestCoverageByEnumeration(t *testing.T) {
	for _, n := range []int{5, 20, 35, 79} {
		mean, cells := 0.0, 0
		for p := 0.005; p < 1; p += 0.005 {
			wilson, exact, oneSided := 0.0, 0.0, 0.0
			for k := 0; k <= n; k++ {
				w, err := stat.Wilson(k, n, 0.95)
				require.NoError(t, err)
				e, err := stat.ClopperPearson(k, n, 0.95)
				require.NoError(t, err)
				lo, err := stat.LowerBound(k, n, 0.95)
				require.NoError(t, err)
				pr := pmf(n, k, p)
				if w.Contains(p) {
					wilson += pr
				}
				if e.Contains(p) {
					exact += pr
				}
				if lo <= p {
					oneSided += pr
				}
			}
			// 1e-9: rounding of a sum of at most 80 probabilities.
			if exact < 0.95-1e-9 || oneSided < 0.95-1e-9 {
				t.Errorf("n %d p %.3f: exact covers %.4f, one-sided %.4f, want at least 0.95", n, p, exact, oneSided)
			}
			// Brown, Cai and DasGupta, Statistical Science 16 (2001): Wilson dips to about 0.83.
			if wilson < 0.82 {
				t.Errorf("n %d p %.3f: Wilson covers only %.4f", n, p, wilson)
			}
			mean += wilson
			cells++
		}
		if mean /= float64(cells); mean < 0.94 || mean > 0.97 {
			t.Errorf("n %d: Wilson covers %.4f on average over p, want 0.94 to 0.97", n, mean)
		}
	}
}

func TestIntervalsRefuseBadInput(t *testing.T) {
	for _, c := range []struct {
		name  string
		k, n  int
		level float64
	}{
		{"no trials", 0, 0, 0.95},
		{"negative hits", -1, 5, 0.95},
		{"more hits than trials", 6, 5, 0.95},
		{"level in percent", 3, 5, 95},
		{"level zero", 3, 5, 0},
		{"level NaN", 3, 5, math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, e1 := stat.Wilson(c.k, c.n, c.level)
			_, e2 := stat.ClopperPearson(c.k, c.n, c.level)
			_, e3 := stat.LowerBound(c.k, c.n, c.level)
			_, e4 := stat.UpperBound(c.k, c.n, c.level)
			for i, err := range []error{e1, e2, e3, e4} {
				if err == nil {
					t.Errorf("function %d accepts it", i)
				}
			}
		})
	}
}
