package fidelity

import (
	"fmt"
	"math"
	"sort"

	"github.com/assay-suite/assay/internal/stat"
)

// Standing is a gate's answer.
type Standing string

// The three answers; a fourth, absent, is for a gate that had nothing to compare.
const (
	Held         Standing = "held"
	Regressed    Standing = "regressed"
	Inconclusive Standing = "inconclusive"
	Absent       Standing = "absent"
)

const (
	// recallAlpha is the level of the paired test: seven losses against none.
	recallAlpha = 0.01
	// recallMargin is the drop of the recall rate that matters in practice, beside the test's level.
	recallMargin = 0.05
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

// Comparison is a run against a golden.
type Comparison struct {
	Pairs     int // measured on both sides, same prompt bytes
	Hits      int // of the golden, among the pairs
	Lost, Won []string
	P         float64       // one-sided exact McNemar
	Drop      stat.Interval // 95 %, of the share of pairs lost
	Detect    float64       // smallest drop seen with 80 % power at recallAlpha

	Shifts    []Shift // pairs with margins on both sides, largest first
	Moved     []Shift // beyond Threshold
	Threshold float64
	Median    Shift // medians over cells, ID empty

	Unpaired []string // cells without a golden of the same prompt
	Missing  []string // cells that were not measured
	Recall   Standing
	Margins  Standing
	Overall  Standing
}

// Compare pairs a run with a golden by case ID and prompt bytes. Recall is one family over all cells
// (grid, window and cache together: many small families could not lose anything significantly), margins
// are another.
func Compare(obs []Observation, g *Golden) (Comparison, error) {
	var c Comparison
	for _, o := range obs {
		want, ok := g.Cells[o.Cell.ID]
		switch {
		case !o.Measured:
			c.Missing = append(c.Missing, o.Cell.ID)
			continue
		case !ok || want.Prompt != o.PromptSHA:
			c.Unpaired = append(c.Unpaired, o.Cell.ID)
			continue
		}
		c.Pairs++
		switch {
		case want.Hit && !o.Hit:
			c.Lost = append(c.Lost, o.Cell.ID)
		case !want.Hit && o.Hit:
			c.Won = append(c.Won, o.Cell.ID)
		}
		if want.Hit {
			c.Hits++
		}
		if s, ok := shiftOf(o.Positions, want.Positions); ok {
			s.ID = o.Cell.ID
			c.Shifts = append(c.Shifts, s)
		}
	}
	if err := c.judgeRecall(); err != nil {
		return c, err
	}
	c.judgeMargins(g.Noise)
	c.Overall = c.combine(len(obs))
	return c, nil
}

func (c *Comparison) judgeRecall() (err error) {
	c.P, c.Recall = 1, Absent
	if c.Pairs == 0 {
		return nil
	}
	if c.P, err = stat.McNemar(len(c.Lost), len(c.Won), stat.Greater); err != nil {
		return err
	}
	if c.Drop, err = stat.Wilson(len(c.Lost), c.Pairs, 0.95); err != nil {
		return err
	}
	if c.Detect, err = stat.DetectableDrop(c.Pairs, recallAlpha, 0.8); err != nil {
		return err
	}
	net := float64(len(c.Lost)-len(c.Won)) / float64(c.Pairs)
	switch {
	case c.P < recallAlpha && net > recallMargin:
		c.Recall = Regressed
	case c.Drop.Hi <= 2*recallMargin:
		c.Recall = Held
	default:
		c.Recall = Inconclusive
	}
	return nil
}

func (c *Comparison) judgeMargins(noise Noise) {
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

// combine lets either gate report a regression. Margins that held on nearly all cells, with no needle
// lost, also settle recall: where every log-probability stands still the few pairs need not prove it.
func (c *Comparison) combine(cells int) Standing {
	gaps := float64(len(c.Unpaired)+len(c.Missing)) > unmeasuredShare*float64(cells)
	switch {
	case c.Recall == Regressed || c.Margins == Regressed:
		return Regressed
	case c.Pairs == 0:
		return Absent
	case gaps || c.Margins == Inconclusive:
		return Inconclusive
	case c.Margins == Held && len(c.Lost) == 0 && float64(len(c.Shifts)) >= (1-unmeasuredShare)*float64(c.Pairs):
		return Held
	}
	return c.Recall
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

// String is the gate in one line.
func (c Comparison) String() string {
	if c.Pairs == 0 {
		return "no pair: no cell has a golden of the same prompt"
	}
	s := fmt.Sprintf("%s: %d lost, %d won of %d pairs", c.Overall, len(c.Lost), len(c.Won), c.Pairs)
	if len(c.Lost)+len(c.Won) > 0 {
		s += fmt.Sprintf(", p %s", pvalue(c.P))
	}
	if len(c.Shifts) > 0 {
		s += fmt.Sprintf("; margins moved in %d of %d cells, median %s nat (allowed %s)", len(c.Moved), len(c.Shifts), nats(c.Median.Size()), nats(c.Threshold))
	} else {
		s += fmt.Sprintf("; no margins to compare, drops under %.0f points stay unseen", 100*c.Detect)
	}
	if gaps := len(c.Unpaired) + len(c.Missing); gaps > 0 {
		s += fmt.Sprintf("; %d cells unpaired, %d unmeasured", len(c.Unpaired), len(c.Missing))
	}
	return s
}

func pvalue(p float64) string {
	if p < 1e-9 {
		return "< 1e-9"
	}
	return fmt.Sprintf("= %.2g", p)
}

func nats(v float64) string {
	if v != 0 && math.Abs(v) < 0.01 {
		return fmt.Sprintf("%.1g", v)
	}
	return fmt.Sprintf("%.2g", v)
}
