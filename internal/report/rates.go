package report

import "fmt"

// Rate is how often an arm was right, with the interval that the caller computed.
type Rate struct {
	At         float64 // coordinate: tokens, clients, turn
	Hits, Of   int
	Low, High  float64 // interval ends in [0, 1]; both 0: none is drawn
	Unmeasured int     // asked without an answer that counts
}

// Share is the rate; ok is false where nothing was measured.
func (r Rate) Share() (share float64, ok bool) {
	if r.Of <= 0 {
		return 0, false
	}
	return max(0, min(1, float64(r.Hits)/float64(r.Of))), true
}

// State is exact for all, lost for none, partial between them.
func (r Rate) State() State {
	switch share, ok := r.Share(); {
	case !ok:
		return Unmeasured
	case share == 1:
		return Exact
	case share == 0:
		return Lost
	default:
		return Partial
	}
}

// Text is "3/4", with the number of unmeasured ones behind it; "unmeasured" where nothing was.
func (r Rate) Text() string {
	if r.Of <= 0 {
		return "unmeasured"
	}
	s := fmt.Sprintf("%d/%d", r.Hits, r.Of)
	if r.Unmeasured > 0 {
		s += fmt.Sprintf(" (%d unmeasured)", r.Unmeasured)
	}
	return s
}

// Interval is "85.5 % to 99.5 %", or empty.
func (r Rate) Interval() string {
	if r.Of <= 0 || r.Low == 0 && r.High == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %% to %.1f %%", 100*r.Low, 100*r.High)
}

// Ladder is a table of rates: arms (rows) by steps of load (columns).
type Ladder struct {
	Title     string   // "concurrency"
	StepLabel string   // "clients at once"
	Steps     []string // "1", "2", "4"
	Arms      []LadderArm
	Note      string
}

// LadderArm is one row. Rates that are missing at the end are unmeasured.
type LadderArm struct {
	Name  string
	Rates []Rate // [len(Steps)]
}

// Step returns the rate at step i, an unmeasured one where there is none.
func (a LadderArm) Step(i int) Rate {
	if i < 0 || i >= len(a.Rates) {
		return Rate{}
	}
	return a.Rates[i]
}

// table is the ladder for the terminal.
func (l Ladder) table() Table {
	t := Table{Title: l.Title, Head: append([]string{l.StepLabel}, l.Steps...), Note: l.Note}
	for _, a := range l.Arms {
		row := []string{a.Name}
		for i := range l.Steps {
			row = append(row, a.Step(i).Text())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
