package stat

import (
	"fmt"
	"math"
)

// Matched counts n pairs of answers by what they were before and what they are now.
type Matched struct {
	Both    int // right before and now
	Lost    int // right before, wrong now
	Won     int // wrong before, right now
	Neither int // wrong before and now
}

// N is the number of pairs.
func (m Matched) N() int { return m.Both + m.Lost + m.Won + m.Neither }

// Drop is the fall of the rate from before to now, (Lost-Won)/n; negative for a gain, 0 without pairs.
func (m Matched) Drop() float64 {
	if m.N() == 0 {
		return 0
	}
	return float64(m.Lost-m.Won) / float64(m.N())
}

// DropInterval returns a two-sided interval of the drop of a rate between paired answers, within [-1, 1]: Wilson's
// intervals of the two rates put together with the correlation of the pairs. Like Wilson's its coverage is near the
// level and not guaranteed; the tests enumerate it.
//
// Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 2635-2650, method 10: a positive correlation is corrected
// for continuity. It fails on a negative count, without a pair, and when level is not inside (0, 1).
func DropInterval(m Matched, level float64) (Interval, error) {
	if m.Both < 0 || m.Lost < 0 || m.Won < 0 || m.Neither < 0 {
		return Interval{}, fmt.Errorf("interval of a paired drop: counts %+v, want none below 0", m)
	}
	n := m.N()
	before, now := m.Both+m.Lost, m.Both+m.Won
	w1, err := Wilson(before, n, level)
	if err != nil {
		return Interval{}, fmt.Errorf("interval of a paired drop: %w", err)
	}
	w2, err := Wilson(now, n, level)
	if err != nil {
		return Interval{}, fmt.Errorf("interval of a paired drop: %w", err)
	}
	p1, p2 := float64(before)/float64(n), float64(now)/float64(n)
	phi := 0.0
	if margins := float64(before) * float64(n-before) * float64(now) * float64(n-now); margins > 0 {
		agree := float64(m.Both)*float64(m.Neither) - float64(m.Lost)*float64(m.Won)
		if agree > 0 { // the continuity correction; a negative correlation is taken as it is
			agree = math.Max(0, agree-float64(n)/2)
		}
		phi = agree / math.Sqrt(margins)
	}
	side := func(a, b float64) float64 { return math.Sqrt(math.Max(0, a*a-2*phi*a*b+b*b)) }
	drop := m.Drop()
	return Interval{
		Lo: math.Max(-1, drop-side(p1-w1.Lo, w2.Hi-p2)),
		Hi: math.Min(1, drop+side(w1.Hi-p1, p2-w2.Lo)),
	}, nil
}
