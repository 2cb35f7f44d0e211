package checkpoint

import (
	"math"
	"slices"

	"github.com/assay-suite/assay/internal/stat"
)

// median leaves out NaN, which has been reported and must not blind the rest; it is 0 of nothing.
func median(x []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	if len(known) == 0 {
		return 0
	}
	return stat.Median(known)
}

// spread is the median absolute deviation in units of a normal standard deviation.
func spread(x []float64) float64 {
	m := median(x)
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = math.Abs(v - m)
	}
	return 1.4826 * median(d)
}

// pearson is the correlation of two slices of one length; 0 where one of them is constant.
func pearson(a, b []float64) float64 {
	n := float64(len(a))
	var ma, mb float64
	for i := range a {
		ma += a[i] / n
		mb += b[i] / n
	}
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return math.Max(-1, math.Min(1, ab/math.Sqrt(aa*bb)))
}

// fisher is the variance-stabilised correlation; its standard error is 1/sqrt(n-3).
func fisher(r float64) float64 { return math.Atanh(math.Max(-0.999999, math.Min(0.999999, r))) }

// dependent is the z of the difference of two correlations with a common variable, ra = corr(y, a) and
// rb = corr(y, b), given rab and n. Source: Meng, Rosenthal and Rubin, Psychological Bulletin 111 (1992),
// equation 1.
func dependent(ra, rb, rab float64, n int) float64 {
	mean := (ra*ra + rb*rb) / 2
	if mean >= 1 || rab >= 1 {
		return 0
	}
	f := math.Min(1, (1-rab)/(2*(1-mean)))
	h := (1 - f*mean) / (1 - mean)
	return (fisher(ra) - fisher(rb)) * math.Sqrt(float64(n-3)/(2*(1-rab)*h))
}

// critical is the normal quantile that a sound checkpoint of tests tensors exceeds anywhere with
// probability at most risk (Bonferroni, one side).
func critical(risk float64, tests int) float64 {
	return math.Sqrt2 * math.Erfinv(1-2*risk/float64(max(1, tests)))
}
