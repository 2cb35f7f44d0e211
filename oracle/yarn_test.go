package oracle_test

import (
	"math"
	"testing"

	"github.com/assay-suite/assay/oracle"
)

// published compares with a value given to so many significant digits.
func published(got, want float64, digits int) bool {
	unit := math.Pow(10, math.Floor(math.Log10(want))-float64(digits-1))
	return math.Abs(got-want) <= unit/2*(1+1e-6)
}

// The values of docs/sources.md.
func TestYaRNPublishedValues(t *testing.T) {
	v4 := oracle.YaRN{Rope: oracle.Rope{Base: 160000, Dims: 64}, Factor: 16, Original: 65536, BetaFast: 32, BetaSlow: 1}
	v32 := oracle.YaRN{Rope: oracle.Rope{Base: 10000, Dims: 64}, Factor: 40, Original: 4096, BetaFast: 32, BetaSlow: 1}
	if low, high := v4.Correction(); low != 15 || high != 25 {
		t.Errorf("V4 blends %d to %d", low, high)
	}
	if low, high := v32.Correction(); low != 10 || high != 23 {
		t.Errorf("V3.2 blends %d to %d", low, high)
	}
	for _, c := range []struct {
		name   string
		yarn   oracle.YaRN
		i      int
		want   float64
		digits int
	}{
		{"V4", v4, 16, 2.265625e-3, 7},
		{"V4", v4, 20, 2.96977778e-4, 9},
		{"V4", v4, 25, 5.37231267e-6, 9},
		{"V4", v4, 31, 5.68052904e-7, 9},
		{"V3.2", v32, 16, 5.5e-3, 12},
		{"V3.2", v32, 23, 3.33380358e-5, 9},
	} {
		if got := c.yarn.Frequencies()[c.i]; !published(got, c.want, c.digits) {
			t.Errorf("%s: frequency %d is %v, published %v", c.name, c.i, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		got, want float64
		digits    int
	}{
		"mscale of V3.2":             {oracle.YaRNMScale(40, 1), 1.3688879454, 11},
		"mscale wrongly put into V4": {oracle.YaRNMScale(16, 1), 1.2772589, 8},
		"its square":                 {math.Pow(oracle.YaRNMScale(16, 1), 2), 1.631390, 7},
		"square of V3.2":             {math.Pow(oracle.YaRNMScale(40, 1), 2), 1.8738542071, 11},
	} {
		if !published(c.got, c.want, c.digits) {
			t.Errorf("%s is %v, published %v", name, c.got, c.want)
		}
	}
}

// The ends: fast pairs as without YaRN, slow ones divided, between them strictly between; off means off.
func TestYaRNEnds(t *testing.T) {
	y := oracle.YaRN{Rope: oracle.Rope{Base: 160000, Dims: 64}, Factor: 16, Original: 65536, BetaFast: 32, BetaSlow: 1}
	plain, got := y.Rope.Frequencies(), y.Frequencies()
	for i, theta := range plain {
		switch {
		case i <= 15 && got[i] != theta, i >= 25 && !near(got[i], theta/16),
			i > 15 && i < 25 && (got[i] >= theta || got[i] <= theta/16):
			t.Errorf("pair %d turns by %v, plain %v", i, got[i], theta)
		}
	}
	y.Original = 0
	for i, theta := range y.Frequencies() {
		if theta != plain[i] {
			t.Errorf("off: pair %d turns by %v", i, theta)
		}
	}
	if oracle.YaRNMScale(1, 1) != 1 || oracle.YaRNMScale(0.5, 1) != 1 {
		t.Error("a factor up to 1 has an amplitude other than 1")
	}
	// All pairs on one side of the range: low = high.
	flat := oracle.YaRN{Rope: oracle.Rope{Base: 10000, Dims: 8}, Factor: 2, Original: 6, BetaFast: 32, BetaSlow: 1}
	if low, high := flat.Correction(); low != 0 || high != 0 {
		t.Errorf("range %d to %d", low, high)
	}
	for i, theta := range flat.Frequencies() {
		want := flat.Rope.Frequencies()[i]
		if i > 0 {
			want /= 2
		}
		if theta != want {
			t.Errorf("no width: pair %d turns by %v, want %v", i, theta, want)
		}
	}
}
