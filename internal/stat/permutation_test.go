package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/stat"
)

// darwin is the difference in height of crossed and self-fertilised plants of Zea mays in eighths of an inch, as
// printed in R. A. Fisher, The Design of Experiments (1935) table 3.
func darwin() []float64 {
	return []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
}

func TestPermutationPublished(t *testing.T) {
	// Fisher, section 21: 863 of the 32,768 sign patterns give a total of at least 314; on both sides 5.267 %.
	one, err := stat.PairedPermutation(darwin(), stat.Greater, stat.Resampling{})
	require.NoError(t, err)
	if !one.Exact || one.Extreme != 863 || one.Patterns != 32768 {
		t.Errorf("Darwin's plants, one side: %+v, want 863 of 32768", one)
	}
	two, err := stat.PairedPermutation(darwin(), stat.TwoSided, stat.Resampling{})
	require.NoError(t, err)
	if two.Extreme != 1726 {
		t.Errorf("Darwin's plants, two sides: %+v, want 1726", two)
	}
	printed(t, "p of Darwin's plants", two.P, 0.05267, 5)
	less, err := stat.PairedPermutation(darwin(), stat.Less, stat.Resampling{})
	require.NoError(t, err)
	if less.Extreme != 32768-863+28 { // 28 patterns give 314 exactly and count on both sides
		t.Errorf("Darwin's plants, other side: %+v, want %d", less, 32768-863+28)
	}
}

func TestPermutationAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 1; n <= 11; n++ {
		d := make([]float64, n)
		for i := range d {
			d[i] = float64(rng.IntN(9) - 4) // integers, so that ties are plenty and sums exact
		}
		count := map[stat.Alternative]int{}
		total := 0.0
		for _, v := range d {
			total += v
		}
		for w := range 1 << n {
			s := 0.0
			for i, v := range d {
				if w>>i&1 == 1 {
					v = -v
				}
				s += v
			}
			if s >= total {
				count[stat.Greater]++
			}
			if s <= total {
				count[stat.Less]++
			}
			if math.Abs(s) >= math.Abs(total) {
				count[stat.TwoSided]++
			}
		}
		for alt, c := range count {
			got, err := stat.PairedPermutation(d, alt, stat.Resampling{})
			require.NoError(t, err)
			if want := float64(c) / float64(int(1)<<n); !withinULP(got.P, want, 1) {
				t.Errorf("%v %v: p = %v, want %v", d, alt, got.P, want)
			}
		}
	}
}

func TestPermutationDrawn(t *testing.T) {
	// Fisher's plants and six that differ by nothing: those only double patterns, so p stays 863/32768. With six that
	// differ by a hair 21 pairs are drawn, and the bound must hold the exact share, still within a hair of it.
	d := darwin()
	for i := range 6 {
		d = append(d, 1e-6*float64(1+i))
	}
	got, err := stat.PairedPermutation(d, stat.Greater, stat.Resampling{Seed: 1})
	require.NoError(t, err)
	exact := (835.0 + 14) / 32768 // the 28 ties at 314 are split in halves by the hairs, give or take one pattern in 64
	if got.Exact || got.Patterns != stat.DefaultResamples || got.Bound.Lo > exact+14.0/64/32768 || got.Bound.Hi < exact {
		t.Errorf("drawn: %+v does not bound %v", got, exact)
	}
	again, err := stat.PairedPermutation(d, stat.Greater, stat.Resampling{Seed: 1})
	require.NoError(t, err)
	if got != again {
		t.Errorf("the same seed gives %+v and %+v", got, again)
	}
	// All of 70 pairs positive (two words): no draw is as extreme, and p is its smallest, never 0.
	all := make([]float64, 70)
	for i := range all {
		all[i] = 1
	}
	got, err = stat.PairedPermutation(all, stat.Greater, stat.Resampling{Draws: 999})
	require.NoError(t, err)
	if got.P != 0.001 || got.Bound.Lo != 0 {
		t.Errorf("70 of 70 up, 999 draws: %+v, want p 0.001 and a lower bound of 0", got)
	}
}

func TestPermutationErrorRateBySimulation(t *testing.T) {
	// Under symmetry the share of p <= alpha is at most alpha: exact (8 pairs) and drawn (30 pairs, 199 draws).
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct{ n, draws int }{{8, 0}, {30, 199}} {
		const runs = 4000
		alarms := 0
		d := make([]float64, c.n)
		for range runs {
			for i := range d {
				d[i] = math.Exp(rng.NormFloat64()) * float64(2*rng.IntN(2)-1) // heavy tails
			}
			p, err := stat.PairedPermutation(d, stat.Greater, stat.Resampling{Draws: c.draws, Seed: rng.Uint64()})
			require.NoError(t, err)
			if p.P <= 0.05 {
				alarms++
			}
		}
		// 12/256 = 0.0469 exactly for 8 pairs, 0.05 for draws; standard error 0.0034, 4 of them.
		want := 0.05
		if c.draws == 0 {
			want = 12.0 / 256
		}
		if got := float64(alarms) / runs; !stat.WithinAbs(got, want, 0.0138) {
			t.Errorf("%d pairs: false alarms %.4f, want %.4f", c.n, got, want)
		}
	}
}

func TestPermutationEdges(t *testing.T) {
	for _, d := range [][]float64{nil, {0, 0, 0}} {
		p, err := stat.PairedPermutation(d, stat.Greater, stat.Resampling{})
		if err != nil || p.P != 1 {
			t.Errorf("%v: %+v, %v; want p 1", d, p, err)
		}
	}
	for _, c := range []struct {
		name  string
		d     []float64
		alt   stat.Alternative
		draws int
	}{
		{"NaN", []float64{1, math.NaN()}, stat.Less, 0},
		{"overflow", []float64{math.MaxFloat64, math.MaxFloat64}, stat.Less, 0},
		{"alternative", nil, 7, 0},
		{"number of draws", nil, stat.Less, -1},
	} {
		if _, err := stat.PairedPermutation(c.d, c.alt, stat.Resampling{Draws: c.draws}); err == nil {
			t.Errorf("accepts a bad %s", c.name)
		}
	}
}

func BenchmarkPairedPermutation(b *testing.B) {
	d := make([]float64, 40)
	rng := rand.New(rand.NewPCG(9, 10))
	for i := range d {
		d[i] = rng.NormFloat64()
	}
	for b.Loop() {
		if _, err := stat.PairedPermutation(d, stat.Greater, stat.Resampling{}); err != nil {
			b.Fatal(err)
		}
	}
}
