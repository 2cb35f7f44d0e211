package recall

import (
	"math"
	"sort"

	"github.com/assay-suite/assay/internal/stat"
)

const (
	// practicalShift is the shift of a cell's margins or top log-probabilities that counts as moved, in
	// nats. docs/sources.md, "Faults in nano-v4": fp32 against float64 moves about 2e-5 and benign
	// reorderings below 1e-4, the smallest catalogued fault worth a verdict (mHC mix in bf16) 0.0028
	// in the median. 1e-3 is ten times the one and a third of the other.
	practicalShift = 1e-3
	// noiseFactor widens the shift on servers that are not deterministic: three times the 99 % quantile
	// of what the recorder's own repeats moved.
	noiseFactor = 3
	// fewMoved cells may move without a verdict: a tie in top-k may fall either way under an admissible
	// reordering, and moves the one row's cell that has it. A fault moves a whole column or more.
	fewMoved = 2
	// unmeasuredShare is the largest share of cells without a measurement or pair that a pass allows.
	unmeasuredShare = 0.05
)

// Shift is how far a cell moved against its golden: medians over the compared positions, nats.
type Shift struct {
	ID          string
	Margin, Top float64
}

// Size is the larger of the two.
func (s Shift) Size() float64 { return max(s.Margin, s.Top) }

// judgeShifts says whether the numbers are those of the golden. It is a gate for engines that repeat themselves to
// the bit only (Header.Exact); for any other it is what the diagnosis looks at.
func (c *Comparison) judgeShifts(noise Noise) {
	c.Threshold = max(practicalShift, noiseFactor*noise.Nats)
	c.Margins = Absent
	if len(c.Shifts) == 0 {
		return
	}
	sort.SliceStable(c.Shifts, func(i, j int) bool { return c.Shifts[i].Size() > c.Shifts[j].Size() })
	var margins, tops []float64
	for _, s := range c.Shifts {
		margins, tops = append(margins, s.Margin), append(tops, s.Top)
		if s.Size() > c.Threshold {
			c.Moved = append(c.Moved, s)
		}
	}
	c.Median = Shift{Margin: stat.Median(margins), Top: stat.Median(tops)}
	switch {
	case len(c.Moved) > fewMoved || c.Median.Size() > c.Threshold:
		c.Margins = Regressed
	case len(c.Moved) > 0:
		c.Margins = Inconclusive
	default:
		c.Margins = Held
	}
}

// shiftOf compares positions up to the first where either side took another way. Top is compared as
// order statistics: the i-th largest values cannot differ by more than the largest shift of any
// token, and do not jump when two tokens change places.
func shiftOf(got, want []Position) (Shift, bool) {
	var margins, tops []float64
	for i := range min(len(got), len(want)) {
		g, w := got[i], want[i]
		if g.Token != w.Token {
			break
		}
		if !g.AtMost || !w.AtMost {
			margins = append(margins, math.Abs(g.Margin-w.Margin))
		}
		for j := range min(len(g.Top), len(w.Top)) {
			tops = append(tops, math.Abs(g.Top[j]-w.Top[j]))
		}
	}
	if len(margins) == 0 {
		return Shift{}, false
	}
	s := Shift{Margin: stat.Median(margins)}
	if len(tops) > 0 {
		s.Top = stat.Median(tops)
	}
	return s, true
}

// NoiseOf is the noise between repeats of the same cells on the same server: the 99 % quantile over
// cells of the largest shift between any repeat and the first.
func NoiseOf(runs [][]Observation, source string) Noise {
	n := Noise{Repeats: len(runs), Source: source}
	if len(runs) < 2 {
		return n
	}
	first := map[string]Observation{}
	for _, o := range runs[0] {
		first[o.Cell.ID] = o
	}
	worst := map[string]float64{}
	for _, run := range runs[1:] {
		for _, o := range run {
			f, ok := first[o.Cell.ID]
			if !ok || f.PromptSHA != o.PromptSHA {
				continue
			}
			if s, ok := shiftOf(o.Positions, f.Positions); ok {
				worst[o.Cell.ID] = max(worst[o.Cell.ID], s.Size())
			}
		}
	}
	var all []float64
	for _, w := range worst {
		all = append(all, w)
	}
	if len(all) > 0 {
		n.Nats = stat.Quantile(all, 0.99)
	}
	return n
}
