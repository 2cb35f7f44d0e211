package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/stat"
)

// withinULP reports whether two positive numbers are at most n steps of float64 apart.
func withinULP(a, b float64, n int64) bool {
	steps := int64(math.Float64bits(a)) - int64(math.Float64bits(b))
	return -n <= steps && steps <= n
}

func TestHolmByHand(t *testing.T) {
	// Sorted .005 .01 .03 .04 times 4 3 2 1 is .02 .03 .06 .04, and the last is raised to .06.
	got, err := stat.Holm([]float64{0.01, 0.04, 0.03, 0.005})
	require.NoError(t, err)
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if !withinULP(got[i], want, 2) {
			t.Errorf("p %d becomes %v, want %v", i, got[i], want)
		}
	}
	if got, err := stat.Holm([]float64{0.9, 0.8}); err != nil || !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("large p-values become %v (%v), want 1 and 1", got, err)
	}
	if got, err := stat.Holm(nil); err != nil || len(got) != 0 {
		t.Errorf("an empty family becomes %v (%v)", got, err)
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := stat.Holm([]float64{0.5, bad}); err == nil {
			t.Errorf("accepts a p-value of %v", bad)
		}
	}
}

func TestHolmFamilyErrorBySimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs, family, alpha = 20000, 15, 0.05
	anyFalse := 0
	for range runs {
		p := make([]float64, family)
		for i := range p {
			p[i] = rng.Float64()
		}
		p[0] *= 1e-4 // one true fault must not loosen the gate for the rest
		adj, err := stat.Holm(p)
		require.NoError(t, err)
		if slices.Min(adj[1:]) < alpha {
			anyFalse++
		}
	}
	// True rate is 1-(1-alpha/14)^14 = 0.0489 when the fault is always rejected first;
	// standard error 0.0015, 4 of them.
	if got := float64(anyFalse) / runs; !stat.WithinAbs(got, 0.0489, 0.0061) {
		t.Errorf("family-wise error %.4f, want 0.0489", got)
	}
}

func TestQuantile(t *testing.T) {
	x := []float64{9, 1, 4, 2} // sorted 1 2 4 9
	before := slices.Clone(x)
	for _, c := range []struct {
		name string
		x    []float64
		q    float64
		want float64
	}{
		{"minimum", x, 0, 1},
		{"lower quartile, R type 7", x, 0.25, 1.75},
		{"median of even", x, 0.5, 3},
		{"upper quartile", x, 0.75, 5.25},
		{"maximum", x, 1, 9},
		{"median of odd", []float64{3, 1, 2}, 0.5, 2},
		{"single", []float64{7}, 0.9, 7},
		{"equal infinities", []float64{math.Inf(1), math.Inf(1), 0}, 0.75, math.Inf(1)},
		{"empty", nil, 0.5, math.NaN()},
		{"missing value", []float64{1, math.NaN()}, 0.5, math.NaN()},
		{"q above one", x, 1.5, math.NaN()},
		{"q NaN", x, math.NaN(), math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := stat.Quantile(c.x, c.q)
			if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if diff := cmp.Diff(before, x); diff != "" {
		t.Errorf("the argument was changed: %s", diff)
	}
	if got := stat.Median(x); got != 3 {
		t.Errorf("median %v, want 3", got)
	}
}

func TestLogSumExp(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float64
		want float64
	}{
		{"two halves", []float64{math.Log(0.5), math.Log(0.5)}, 0},
		{"far below", []float64{-1000, -1000}, -1000 + math.Ln2},
		{"far above", []float64{1000, 1000}, 1000 + math.Ln2},
		{"nothing", nil, math.Inf(-1)},
		{"impossible and certain", []float64{math.Inf(-1), 0}, 0},
		{"impossible twice", []float64{math.Inf(-1), math.Inf(-1)}, math.Inf(-1)},
		{"infinite", []float64{1, math.Inf(1)}, math.Inf(1)},
		{"missing", []float64{1, math.NaN()}, math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := stat.LogSumExp(c.x...)
			if !stat.WithinAbs(got, c.want, 3e-16*math.Max(1, math.Abs(c.want))) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		got  bool
		want bool
	}{
		{"abs on the edge", stat.WithinAbs(1.5, 1, 0.5), true},
		{"abs over the edge", stat.WithinAbs(1.5000001, 1, 0.5), false},
		{"abs equal infinities", stat.WithinAbs(inf, inf, 0), true},
		{"abs opposite infinities", stat.WithinAbs(inf, -inf, inf), false},
		{"abs infinity and number, endless tol", stat.WithinAbs(inf, 1, inf), false},
		{"abs NaN", stat.WithinAbs(nan, nan, inf), false},
		{"abs negative tol", stat.WithinAbs(1, 1, -1), false},
		{"abs NaN tol", stat.WithinAbs(1, 1, nan), false},
		{"rel on the edge", stat.WithinRel(150, 100, 0.5), true},
		{"rel is of want", stat.WithinRel(100, 150, 0.333), false},
		{"rel of zero", stat.WithinRel(1e-300, 0, 0.5), false},
		{"rel zero of zero", stat.WithinRel(0, 0, 0), true},
		{"rel equal infinities", stat.WithinRel(-inf, -inf, 0.1), true},
		{"rel number and infinity", stat.WithinRel(1, inf, 0.1), false},
		{"rel negative tol", stat.WithinRel(1, 1, -1), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}
