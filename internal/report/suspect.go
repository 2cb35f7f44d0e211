package report

import "strings"

// Standing is what became of a suspect.
type Standing string

// The standings. An unknown one is shown as not exercised: nothing is cleared by mistake.
const (
	Cleared      Standing = "cleared"
	Implicated   Standing = "implicated"
	NotExercised Standing = "not exercised"
)

// Known returns s itself if it is one of the three, NotExercised otherwise.
func (s Standing) Known() Standing {
	if s == Cleared || s == Implicated {
		return s
	}
	return NotExercised
}

// Tone is the state whose colour and sign the standing borrows.
func (s Standing) Tone() State {
	switch s.Known() {
	case Cleared:
		return Exact
	case Implicated:
		return Lost
	default:
		return Unmeasured
	}
}

// Suspect is a patch, or a part of the stock engine, with what the evidence says about it.
type Suspect struct {
	Name     string
	Operator string   // what it replaces
	Phases   []string // "prefill", "decode", "extend"
	Stock    bool     // no patch, but a part of the engine as shipped
	State    Standing
	Evidence []string
	Next     string // the switch to flip next
}

// suspectTable is the table that the terminal prints.
func suspectTable(ss []Suspect) Table {
	t := Table{Title: "suspects", Head: []string{"suspect", "state", "evidence", "next"}}
	for _, s := range ss {
		for i, e := range atLeastOne(s.Evidence) {
			row := []string{"", "", e}
			if i == 0 {
				row = []string{s.Name, string(s.State.Known()), e, s.Next}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func atLeastOne(s []string) []string {
	if len(s) == 0 {
		return []string{""}
	}
	return s
}

// suspectLine is "implicated a, b · cleared c", worst first, empty without suspects.
func suspectLine(ss []Suspect) string {
	var parts []string
	for _, st := range []Standing{Implicated, NotExercised, Cleared} {
		var names []string
		for _, s := range ss {
			if s.State.Known() == st {
				names = append(names, oneLine(s.Name))
			}
		}
		if len(names) > 0 {
			parts = append(parts, string(st)+" "+strings.Join(names, ", "))
		}
	}
	return strings.Join(parts, " · ")
}
