package report

import (
	"fmt"
	"strings"
)

// Diagnosis is what a run's pattern points at, decided by the caller. The zero value says nothing and is not shown.
type Diagnosis struct {
	Verdict    string // "clean", "fault", "ambiguous", "unmeasured"
	Text       string // one line: "sparse-selection", "ambiguous: A or B"
	Classes    []Class
	Unmeasured []string // probes without an answer, each with its reason
}

// Class is one cause that the evidence fits, as far as it can be told from outside.
type Class struct {
	Name     string // slug, "sparse-selection"
	Says     string // what is seen, in words
	Grade    string // "firm", "likely", "weak"
	Runs     int    // answers that it rests on
	Arms     int    // ways of asking that it rests on
	P        float64
	Evidence []string
	Rivals   []string // likeliest first
	Splitter string   // the experiment that tells the rivals apart
	Flags    []Flag   // the one switch to flip next, one per engine
	Note     bool     // no fault, but worth knowing
}

// Flag is the switch to flip next on one engine. An empty Text: that engine has none that would tell more.
type Flag struct {
	Engine string // "SGLang"
	Text   string
	This   bool // the engine that was asked
}

// Faulty reports whether the diagnosis says that something is, or may be, wrong.
func (d *Diagnosis) Faulty() bool {
	return d != nil && (d.Verdict == "fault" || d.Verdict == "ambiguous")
}

// Confidence is the grade with what it rests on: "firm: 24 runs, 3 arms, p 1.2e-07".
func (c Class) Confidence() string {
	var parts []string
	if c.Runs > 0 {
		parts = append(parts, fmt.Sprintf("%s runs", thousands(c.Runs)))
	}
	if c.Arms > 0 {
		parts = append(parts, fmt.Sprintf("%d arms", c.Arms))
	}
	if c.P > 0 {
		parts = append(parts, fmt.Sprintf("p %.2g", c.P))
	}
	rest := strings.Join(parts, ", ")
	switch grade := oneLine(c.Grade); {
	case grade == "":
		return rest
	case rest == "":
		return grade
	default:
		return grade + ": " + rest
	}
}

// Next lists the switches: that of the engine asked alone where it is known and has one, else those that there are.
func (c Class) Next() []Flag {
	var out []Flag
	for _, f := range c.Flags {
		if strings.TrimSpace(f.Text) == "" {
			continue
		}
		if f.This {
			return []Flag{f}
		}
		out = append(out, f)
	}
	return out
}

// head is the class with its confidence: "sparse-selection (firm: 24 runs)".
func (c Class) head() string {
	if conf := c.Confidence(); conf != "" {
		return oneLine(c.Name) + " (" + conf + ")"
	}
	return oneLine(c.Name)
}

// facts is the diagnosis as the terminal prints it.
func (d *Diagnosis) facts() []Fact {
	if d == nil || d.Verdict == "" && d.Text == "" && len(d.Classes) == 0 {
		return nil
	}
	first := Fact{Label: "diagnosis", Text: d.Text}
	if first.Text == "" {
		first.Text = d.Verdict
	}
	var out []Fact
	for i, c := range d.Classes {
		f := c.fact()
		switch {
		case c.Note:
			f.Label = "note"
		case i > 0:
			f.Label = "also"
		case d.Verdict == "ambiguous":
			f.Text = first.Text + "\n" + f.Text
		}
		out = append(out, f)
	}
	if len(out) == 0 || d.Classes[0].Note { // a note is no diagnosis: the line above it says so
		out = append([]Fact{first}, out...)
	}
	if len(d.Unmeasured) > 0 {
		last := &out[len(out)-1]
		last.Sub = append(last.Sub, Fact{Label: "unmeasured", Text: strings.Join(d.Unmeasured, "\n")})
	}
	return out
}

func (c Class) fact() Fact {
	f := Fact{Label: "diagnosis", Text: c.head()}
	if c.Says != "" {
		f.Text += ": " + c.Says
	}
	add := func(label string, lines []string, sep string) {
		if text := strings.Join(lines, sep); text != "" {
			f.Sub = append(f.Sub, Fact{Label: label, Text: text})
		}
	}
	add("evidence", c.Evidence, "\n")
	add("rivals", c.Rivals, " · ")
	add("splitter", []string{c.Splitter}, "")
	add("next", flagLines(c.Next()), "\n")
	return f
}

// flagLines is "SGLang: --flag" for each.
func flagLines(fs []Flag) []string {
	var out []string
	for _, f := range fs {
		if f.Engine == "" {
			out = append(out, oneLine(f.Text))
			continue
		}
		out = append(out, oneLine(f.Engine)+": "+oneLine(f.Text))
	}
	return out
}
