package layers_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/numerics/layers"
)

// Anscombe's first data set (The American Statistician 27, 1973, 17-21) has a published line: slope 0.5001 with
// standard error 0.1179, intercept 3.0001; with Student's 2.2622 at 9 degrees of freedom the interval is [0.2333,
// 0.7668]. Published to four decimals, so compared to half a unit of the fourth, times the quantile for the interval's
// ends.
func TestFitReproducesAnscombe(t *testing.T) {
	x := []float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}
	y := []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}
	for i := range x {
		x[i], y[i] = math.Exp(x[i]), math.Exp(y[i])
	}
	law, err := layers.Fit(x, y, 0.95)
	require.NoError(t, err)
	for name, row := range map[string]struct{ got, want, within float64 }{
		"slope":     {law.Slope, 0.5001, 0.00005},
		"intercept": {math.Log(law.Prefactor), 3.0001, 0.00005},
		"lower end": {law.Lo, 0.5001 - 2.2622*0.1179, 0.0002},
		"upper end": {law.Hi, 0.5001 + 2.2622*0.1179, 0.0002},
	} {
		if math.Abs(row.got-row.want) > row.within {
			t.Errorf("%s is %.5f, published %.5f within %v", name, row.got, row.want, row.within)
		}
	}
}

func TestExactPowerLaw(t *testing.T) {
	depth := []float64{1, 2, 3, 5, 8, 13}
	curves := make([][]float64, 3)
	for r := range curves {
		for _, d := range depth {
			curves[r] = append(curves[r], float64(r+1)*1e-3*math.Pow(d, 0.75))
		}
	}
	law, err := layers.Slopes(depth, curves, 0.95)
	require.NoError(t, err)
	// Logarithms and sums of float64: some ten roundings of 2^-53 of numbers of at most 7.
	if math.Abs(law.Slope-0.75) > 1e-14 || law.Hi-law.Lo > 1e-6 {
		t.Errorf("depth^0.75 has slope %v in [%v, %v]", law.Slope, law.Lo, law.Hi)
	}
}

// The interval of Slopes covers the true slope as often as it says. Rows are random walks in 256 dimensions, whose size
// grows as depth^½ with the same relative spread at every depth, so that the mean slope is ½ whatever the serial
// correlation. 600 trials at 95 %: three standard deviations of a binomial are 2.7 points. Fit on one such row, whose
// points are not independent, must be seen to cover less: that is why Slopes exists.
func TestIntervalsCoverAsStated(t *testing.T) {
	const trials, rows, depths, dims = 600, 8, 20, 256
	rng := rand.New(rand.NewPCG(7, 0))
	depth := make([]float64, depths)
	for l := range depth {
		depth[l] = float64(l + 1)
	}
	covered, naive := 0, 0
	for range trials {
		curves := make([][]float64, rows)
		for r := range curves {
			walk := make([]float64, dims)
			for range depths {
				size := 0.0
				for i := range walk {
					walk[i] += rng.NormFloat64()
					size += walk[i] * walk[i]
				}
				curves[r] = append(curves[r], math.Sqrt(size))
			}
		}
		law, err := layers.Slopes(depth, curves, 0.95)
		require.NoError(t, err)
		one, err := layers.Fit(depth, curves[0], 0.95)
		require.NoError(t, err)
		if law.Contains(0.5) {
			covered++
		}
		if one.Contains(0.5) {
			naive++
		}
	}
	t.Logf("of %d intervals at 95 %%, %d over rows cover the slope, %d over the points of one row", trials, covered, naive)
	if p := float64(covered) / trials; math.Abs(p-0.95) > 3*math.Sqrt(0.95*0.05/trials) {
		t.Errorf("%.1f %% of the 95 %% intervals cover the true slope", 100*p)
	}
	if float64(naive)/trials > 0.8 {
		t.Errorf("Fit covers %d of %d on correlated points; the warning in its comment would be wrong", naive, trials)
	}
}

func TestLawsRefuseWhatHasNoSlope(t *testing.T) {
	one := []float64{1, 2, 3}
	for name, row := range map[string]struct {
		call func() error
		says string
	}{
		"exact result":    {func() error { _, err := layers.Fit(one, []float64{1, 0, 1}, 0.95); return err }, "exact result"},
		"NaN":             {func() error { _, err := layers.Fit(one, []float64{1, math.NaN(), 1}, 0.95); return err }, "NaN"},
		"two points":      {func() error { _, err := layers.Fit(one[:2], one[:2], 0.95); return err }, "at least 3"},
		"one depth":       {func() error { _, err := layers.Fit([]float64{2, 2, 2}, one, 0.95); return err }, "one depth"},
		"unequal lengths": {func() error { _, err := layers.Fit(one, one[:2], 0.95); return err }, "3 depths and 2 values"},
		"confidence":      {func() error { _, err := layers.Fit(one, one, 95); return err }, "confidence of 95"},
		"one row": {
			func() error { _, err := layers.Slopes(one, [][]float64{one}, 0.95); return err }, "at least 2 tokens",
		},
		"infinite row": {
			func() error { _, err := layers.Slopes(one, [][]float64{one, {1, 2, math.Inf(1)}}, 0.95); return err }, "row 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := row.call(); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("error %v, want one that says %q", err, row.says)
			}
		})
	}
}
