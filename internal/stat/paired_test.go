package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/stat"
)

func TestDropIntervalPublished(t *testing.T) {
	// Airway hyper-responsiveness before and after stem cell transplantation, 21 children, as analysed in Fagerland,
	// Lydersen and Laake, Statistics in Medicine 33 (2014) 2850-2875: 1 yes-yes, 1 yes-no, 7 no-yes, 12 no-no;
	// Newcombe's square-and-add interval is -0.507 to -0.026, the exact conditional test 0.0703.
	m := stat.Matched{Both: 1, Lost: 1, Won: 7, Neither: 12}
	v, err := stat.DropInterval(m, 0.95)
	require.NoError(t, err)
	printed(t, "drop", m.Drop(), -0.286, 3)
	printed(t, "low", v.Lo, -0.507, 3)
	printed(t, "high", v.Hi, -0.026, 3)
	p, err := stat.McNemar(m.Lost, m.Won, stat.TwoSided)
	require.NoError(t, err)
	printed(t, "exact conditional p", p, 0.0703, 4)
}

func TestDropIntervalMirror(t *testing.T) {
	// Exchanging before and now, or right and wrong, mirrors the interval.
	m := stat.Matched{Both: 30, Lost: 6, Won: 1, Neither: 3}
	v, err := stat.DropInterval(m, 0.95)
	require.NoError(t, err)
	for _, o := range []stat.Matched{{Both: 30, Lost: 1, Won: 6, Neither: 3}, {Both: 3, Lost: 1, Won: 6, Neither: 30}} {
		w, err := stat.DropInterval(o, 0.95)
		require.NoError(t, err)
		if !stat.WithinAbs(w.Lo, -v.Hi, 1e-15) || !stat.WithinAbs(w.Hi, -v.Lo, 1e-15) {
			t.Errorf("%+v gives %v, want the mirror of %v", o, w, v)
		}
	}
	if !v.Contains(m.Drop()) {
		t.Errorf("%v does not hold its own drop %v", v, m.Drop())
	}
}

func TestDropIntervalCoverageByEnumeration(t *testing.T) {
	// Every table of 20 pairs, weighted by its multinomial probability.
	const n = 20
	mean := 0.0
	logFact := func(k int) float64 { v, _ := math.Lgamma(float64(k + 1)); return v }
	for _, c := range []struct{ both, lost, won, neither float64 }{
		{0.7, 0.2, 0.05, 0.05},
		{0.4, 0.1, 0.1, 0.4},
		{0.88, 0.1, 0.01, 0.01},
		{0.25, 0.25, 0.25, 0.25},
		{0.5, 0.35, 0.1, 0.05},
	} {
		covered := 0.0
		for a := range n + 1 {
			for b := range n + 1 - a {
				for d := range n + 1 - a - b {
					m := stat.Matched{Both: a, Lost: b, Won: d, Neither: n - a - b - d}
					v, err := stat.DropInterval(m, 0.95)
					require.NoError(t, err)
					if v.Contains(c.lost - c.won) {
						covered += math.Exp(logFact(n) - logFact(a) - logFact(b) - logFact(d) - logFact(m.Neither) +
							float64(a)*math.Log(c.both) + float64(b)*math.Log(c.lost) + float64(d)*math.Log(c.won) +
							float64(m.Neither)*math.Log(c.neither))
					}
				}
			}
		}
		// Where few pairs can be lost the interval is wider than it need be, which no gate minds; below the level it
		// may fall a little, as Wilson's does.
		if covered < 0.94 {
			t.Errorf("%+v: coverage %.4f, want about 0.95 or more", c, covered)
		}
		mean += covered / 5
	}
	if mean > 0.98 {
		t.Errorf("mean coverage %.4f: the interval says nothing", mean)
	}
}

func TestDropIntervalRefuses(t *testing.T) {
	for _, m := range []stat.Matched{{}, {Both: -1, Lost: 3}} {
		if _, err := stat.DropInterval(m, 0.95); err == nil {
			t.Errorf("accepts %+v", m)
		}
	}
	if d := (stat.Matched{}).Drop(); d != 0 {
		t.Errorf("no pairs drop by %v", d)
	}
}

func TestDetectableDropAfterHolm(t *testing.T) {
	// 0.05 after Holm over 15 families needs 9 losses: 2^-9 < 0.05/15 < 2^-8. At that drop 80 % of runs have 9.
	d, err := stat.DetectableDropHolm(40, 15, 0.05, 0.8)
	require.NoError(t, err)
	reach := 0.0
	for k := 9; k <= 40; k++ {
		reach += pmf(40, k, d)
	}
	if !stat.WithinAbs(reach, 0.8, 1e-9) {
		t.Errorf("a drop of %v loses 9 of 40 in %v of runs, want 0.8", d, reach)
	}
	if _, err := stat.DetectableDropHolm(40, 0, 0.05, 0.8); err == nil {
		t.Error("accepts an empty family")
	}
}
