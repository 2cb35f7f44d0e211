package gate

import (
	"math"

	"github.com/assay-suite/assay/internal/stat"
)

// family is a family while it is being decided.
type family struct {
	Result
	base   Baseline
	stages []int
	// recall and margin are the smallest weighted p over the looks so far.
	recall, margin float64
	open, fresh    bool
	holm           int // tests that Holm corrects for
}

func (f *family) tests() int {
	if f.Margins.Gated {
		return 2
	}
	return 1
}

// ready reports whether the next stage was tried to its last cell.
func (f *family) ready(now map[string]Outcome) bool {
	return f.Look < f.Looks && len(f.untried(now)) == 0
}

// untried lists the cells of the next stage that were not tried.
func (f *family) untried(now map[string]Outcome) []string {
	var out []string
	for _, id := range f.base.Stable[:f.stages[f.Look]] {
		if _, ok := now[id]; !ok {
			out = append(out, id)
		}
	}
	return out
}

// look takes the next look: all pairs of all stages up to it.
func (f *family) look(now map[string]Outcome, p Policy) (err error) {
	weight := Weights(f.Looks)[f.Look]
	ids := f.base.Stable[:f.stages[f.Look]]
	f.Look++
	f.Cells, f.Pairs, f.Unmeasured = len(ids), 0, 0
	f.Lost, f.Won, f.Counts = nil, nil, stat.Matched{}
	f.Margins.Missing = 0
	var drops []float64
	for _, id := range ids {
		was, is := f.base.Cells[id], now[id]
		if !is.Measured || is.Prompt != was.Prompt {
			f.Unmeasured++
			continue
		}
		f.Pairs++
		switch {
		case was.Hit && is.Hit:
			f.Counts.Both++
		case was.Hit:
			f.Counts.Lost++
			f.Lost = append(f.Lost, id)
		case is.Hit:
			f.Counts.Won++
			f.Won = append(f.Won, id)
		default:
			f.Counts.Neither++
		}
		switch {
		case was.HasMargin && is.HasMargin:
			drops = append(drops, was.Margin-is.Margin)
		case was.HasMargin && is.Hit:
			f.Margins.Missing++ // a lost answer without a margin is counted by the recall test
		}
	}
	if f.P, err = stat.McNemar(f.Counts.Lost, f.Counts.Won, stat.Greater); err != nil {
		return err
	}
	f.recall = math.Min(f.recall, f.P/weight)
	f.Drop = f.Counts.Drop()
	if f.Pairs > 0 {
		if f.Interval, err = stat.DropInterval(f.Counts, p.Level); err != nil {
			return err
		}
	}
	if !f.Margins.Gated {
		return nil
	}
	m := &f.Margins
	m.Pairs, m.Mean = len(drops), 0
	for _, v := range drops {
		m.Mean += v / float64(len(drops))
	}
	m.Allowed = math.Max(p.MarginNats, p.NoiseFactor*f.base.AA)
	if m.P, err = stat.PairedPermutation(drops, stat.Greater, p.Draw); err != nil {
		return err
	}
	f.margin = math.Min(f.margin, m.P.P/weight)
	return nil
}

func (f *family) recallRegressed(p Policy) bool { return f.Adjusted < p.Alpha && f.Drop > p.DropMargin }

func (f *family) marginsRegressed(p Policy) bool {
	return f.Margins.Gated && f.Margins.Adjusted < p.Alpha && f.Margins.Mean > f.Margins.Allowed
}

// gaps reports whether too much is unmeasured to say anything.
func (f *family) gaps(p Policy) bool {
	return float64(f.Unmeasured) > p.MaxUnmeasured*float64(f.Cells)
}

func (f *family) marginGaps(p Policy) bool {
	return f.Margins.Gated && float64(f.Margins.Missing) > p.MaxUnmeasured*float64(f.Cells)
}

// suspicious reports whether what was seen asks for more cells: losses at the first look by their number, later until
// they are neither a trend nor a drop that matters; margins as long as they are both.
func (f *family) suspicious(p Policy) bool {
	if m := f.Margins; m.Gated && m.P.P < p.Dismiss && m.Mean > m.Allowed {
		return true
	}
	if f.Counts.Lost < p.TriggerLost {
		return false
	}
	return f.Look == 1 && f.Looks > 1 || f.P < p.Dismiss && f.Drop > p.DropMargin
}

// goesOn decides after a look whether the family gets its next stage.
func (f *family) goesOn(p Policy) bool {
	return f.Look < f.Looks && !f.gaps(p) && !f.recallRegressed(p) && !f.marginsRegressed(p) && f.suspicious(p)
}

// conclude sets standing, cells to run and the smallest drop that is seen.
func (f *family) conclude(now map[string]Outcome, p Policy, tests int) {
	f.holm = tests
	switch {
	case f.Look > 0 && f.gaps(p):
		f.Standing = Inconclusive
	case f.Look > 0 && (f.recallRegressed(p) || f.marginsRegressed(p)):
		f.Standing = Regressed
	case f.open && f.Look < f.Looks:
		f.Standing, f.More = Undecided, f.untried(now)
	case f.marginGaps(p) || f.suspicious(p):
		f.Standing = Inconclusive
	default:
		f.Standing = Held
	}
	f.Smallest = 1
	hits := f.Counts.Both + f.Counts.Lost
	if f.Look == 0 || hits == 0 {
		return
	}
	// Only what was found can be lost: the share of hits, in shares of pairs. The arguments are within the function's
	// domain by construction; were they not, 1 says that nothing is seen.
	spend := p.Alpha * Weights(f.Looks)[f.Look-1]
	if d, err := stat.DetectableDropHolm(hits, tests, spend, p.Power); err == nil && d < 1 {
		f.Smallest = d * float64(hits) / float64(f.Pairs)
	}
}

// settle returns how many cells in all would make the drop seen so far significant, were it to go on at the same rate;
// 0 when more than twenty times as many would not.
func (f *family) settle(p Policy) int {
	spend := p.Alpha * Weights(f.Looks)[max(f.Looks, 1)-1] / float64(max(f.holm, 1))
	for n := f.Cells; n > 0 && n <= 20*f.Cells; n++ {
		lost, won := f.Counts.Lost*n/f.Cells, (f.Counts.Won*n+f.Cells-1)/f.Cells
		if v, err := stat.McNemar(lost, won, stat.Greater); err == nil && v < spend {
			return n
		}
	}
	return 0
}
