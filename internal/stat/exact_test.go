package stat_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/stat"
)

func TestFisherPublished(t *testing.T) {
	for _, c := range []struct {
		name       string // and source
		a, b, c, d int
		alt        stat.Alternative
		want       float64
		digits     int
	}{
		// Fisher 1935: three of four cups right; 17/70, and 34/70 on both sides.
		{"tea tasting, greater", 3, 1, 1, 3, stat.Greater, 0.2429, 4},
		{"tea tasting, two-sided", 3, 1, 1, 3, stat.TwoSided, 0.4857, 4},
		// Fisher 1962, convictions of twins, as printed by R's manual page of fisher.test.
		{"convictions, less", 2, 10, 15, 3, stat.Less, 0.0004652, 7},
		{"convictions, two-sided", 2, 10, 15, 3, stat.TwoSided, 0.0005367, 7},
		// A/B runs of serving reports: too few samples to name a cause.
		{"3/5 against 0/5", 3, 2, 0, 5, stat.TwoSided, 0.17, 2},
		{"0/3 against 3/3", 0, 3, 3, 0, stat.TwoSided, 0.10, 2},
		{"5/5 against 0/5", 5, 0, 0, 5, stat.TwoSided, 0.008, 3},
		{"6/8 against 0/8", 6, 2, 0, 8, stat.TwoSided, 0.007, 3},
		{"4/50 against 0/50", 4, 46, 0, 50, stat.TwoSided, 0.12, 2},
		{"empty row", 0, 0, 3, 4, stat.TwoSided, 1, 6},
		{"empty table", 0, 0, 0, 0, stat.Greater, 1, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := stat.FisherExact(c.a, c.b, c.c, c.d, c.alt)
			require.NoError(t, err)
			printed(t, "p", p, c.want, c.digits)
		})
	}
}

// fisherRational is the definition in exact rationals: every table with the same margins.
func fisherRational(a, b, c, d int) (two, less, greater float64) {
	row, col, n := a+b, a+c, a+b+c+d
	prob := func(k int) *big.Rat {
		num := new(big.Int).Mul(new(big.Int).Binomial(int64(row), int64(k)),
			new(big.Int).Binomial(int64(n-row), int64(col-k)))
		return new(big.Rat).SetFrac(num, new(big.Int).Binomial(int64(n), int64(col)))
	}
	at, t2, l, g := prob(a), new(big.Rat), new(big.Rat), new(big.Rat)
	for k := max(0, col-(n-row)); k <= min(row, col); k++ {
		p := prob(k)
		if p.Cmp(at) <= 0 {
			t2.Add(t2, p)
		}
		if k <= a {
			l.Add(l, p)
		}
		if k >= a {
			g.Add(g, p)
		}
	}
	two, _ = t2.Float64()
	less, _ = l.Float64()
	greater, _ = g.Float64()
	return two, less, greater
}

func TestFisherAgainstRationals(t *testing.T) {
	// Every 2 x 2 table of up to 12 observations, and some of grid size.
	check := func(a, b, c, d int) {
		two, less, greater := fisherRational(a, b, c, d)
		for alt, want := range map[stat.Alternative]float64{stat.TwoSided: two, stat.Less: less, stat.Greater: greater} {
			got, err := stat.FisherExact(a, b, c, d, alt)
			require.NoError(t, err)
			// Log-gammas up to lgamma(800) = 4.5e3: rounding 4.5e3 x 2^-52 x 9 terms = 9e-12.
			if !stat.WithinRel(got, want, 1e-11) {
				t.Errorf("table [%d %d; %d %d] %v: p = %v, want %v", a, b, c, d, alt, got, want)
			}
		}
	}
	for a := range 13 {
		for b := range 13 - a {
			for c := range 13 - a - b {
				for d := range 13 - a - b - c {
					check(a, b, c, d)
				}
			}
		}
	}
	check(79, 1, 40, 40)
	check(200, 0, 190, 10)
	check(399, 1, 380, 20)
}

func TestMcNemarClosedForm(t *testing.T) {
	for lost := range 15 {
		p, err := stat.McNemar(lost, 0, stat.Greater)
		require.NoError(t, err)
		if want := math.Ldexp(1, -lost); !stat.WithinRel(p, want, 1e-12) {
			t.Errorf("%d lost, 0 won: p = %v, want 2^-%d", lost, p, lost)
		}
	}
	for _, c := range []struct {
		name      string
		lost, won int
		alt       stat.Alternative
		want      float64
	}{
		{"five losses pass 0.05", 5, 0, stat.Greater, 0.03125},
		{"four do not", 4, 0, stat.Greater, 0.0625},
		{"two-sided doubles", 5, 0, stat.TwoSided, 0.0625},
		{"seven pass 0.01", 7, 0, stat.Greater, 0.0078125},
		{"one win costs", 5, 1, stat.Greater, 7.0 / 64},
		{"wins count the other way", 1, 5, stat.Less, 7.0 / 64},
		{"ten and two, two-sided", 10, 2, stat.TwoSided, 2 * 79.0 / 4096}, // (66+12+1)/4096 a side
		{"no discordant pair", 0, 0, stat.Greater, 1},
		{"balanced", 6, 6, stat.TwoSided, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := stat.McNemar(c.lost, c.won, c.alt)
			require.NoError(t, err)
			if !stat.WithinRel(p, c.want, 1e-12) {
				t.Errorf("p = %v, want %v", p, c.want)
			}
		})
	}
}

func TestLossesNeeded(t *testing.T) {
	for alpha, want := range map[float64]int{0.05: 5, 0.01: 7, 0.001: 10, 0.05 / 15: 9, 0.5: 2} {
		got, err := stat.LossesNeeded(alpha)
		require.NoError(t, err)
		if got != want {
			t.Errorf("alpha %v needs %d losses, want %d", alpha, got, want)
		}
	}
}

func TestDetectableDropBySimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n            int
		alpha, drop  float64
		pointsDigits int
	}{
		{20, 0.05, 0.31, 2},
		{40, 0.01, 0.22, 2},
		{60, 0.001, 0.20, 2},
		{120, 0.05, 0.055, 3},
		{240, 0.01, 0.038, 3},
		{500, 0.05, 0.013, 3},
	} {
		d, err := stat.DetectableDrop(c.n, c.alpha, 0.8)
		require.NoError(t, err)
		printed(t, "drop", d, c.drop, c.pointsDigits) // an independent power table
		seen := 0
		const runs = 4000
		for range runs {
			lost := 0
			for range c.n {
				if rng.Float64() < d {
					lost++
				}
			}
			p, err := stat.McNemar(lost, 0, stat.Greater)
			require.NoError(t, err)
			if p < c.alpha {
				seen++
			}
		}
		// Standard error sqrt(0.8 x 0.2 / 4000) = 0.0063; 4 of them.
		if got := float64(seen) / runs; !stat.WithinAbs(got, 0.8, 0.0253) {
			t.Errorf("n %d alpha %v: a drop of %.3f is seen in %.3f of runs, want 0.80", c.n, c.alpha, d, got)
		}
	}
	if d, err := stat.DetectableDrop(4, 0.05, 0.8); err != nil || d != 1 {
		t.Errorf("four pairs: drop %v, error %v; want 1: nothing can be seen", d, err)
	}
}

func TestExactErrorRateByEnumeration(t *testing.T) {
	// Under no difference the share of tables with p < alpha must not exceed alpha.
	for _, rate := range []float64{0.5, 0.9, 0.97} {
		for _, alpha := range []float64{0.05, 0.01} {
			alarm := 0.0
			const n = 20
			for a := 0; a <= n; a++ {
				for c := 0; c <= n; c++ {
					p, err := stat.FisherExact(a, n-a, c, n-c, stat.TwoSided)
					require.NoError(t, err)
					if p < alpha {
						alarm += pmf(n, a, rate) * pmf(n, c, rate)
					}
				}
			}
			if alarm > alpha {
				t.Errorf("Fisher at rate %v alpha %v: false alarms %.4f", rate, alpha, alarm)
			}
			for _, discordant := range []int{5, 9, 30} {
				alarm := 0.0
				for lost := 0; lost <= discordant; lost++ {
					p, err := stat.McNemar(lost, discordant-lost, stat.Greater)
					require.NoError(t, err)
					if p < alpha {
						alarm += pmf(discordant, lost, 0.5)
					}
				}
				if alarm > alpha {
					t.Errorf("McNemar of %d discordant pairs, alpha %v: false alarms %.4f", discordant, alpha, alarm)
				}
			}
		}
	}
}

func TestExactRefusesBadInput(t *testing.T) {
	if _, err := stat.FisherExact(-1, 1, 1, 1, stat.TwoSided); err == nil {
		t.Error("Fisher accepts a negative count")
	}
	if _, err := stat.FisherExact(1, 1, 1, 1, stat.Alternative(9)); err == nil {
		t.Error("Fisher accepts an unknown alternative")
	}
	if _, err := stat.McNemar(0, -1, stat.Less); err == nil {
		t.Error("McNemar accepts a negative count")
	}
	for _, alpha := range []float64{0, 1, -1, math.NaN()} {
		if _, err := stat.LossesNeeded(alpha); err == nil {
			t.Errorf("LossesNeeded accepts alpha %v", alpha)
		}
	}
	if _, err := stat.DetectableDrop(0, 0.05, 0.8); err == nil {
		t.Error("DetectableDrop accepts no pairs")
	}
	if _, err := stat.DetectableDrop(10, 0.05, math.NaN()); err == nil {
		t.Error("DetectableDrop accepts a power of NaN")
	}
}
