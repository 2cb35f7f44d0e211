package diagnosis_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/fidelity/diagnosis"
	"github.com/assay-suite/assay/internal/scripted"
)

const family = "fidelity/diagnosis"

// id names one run in the golden: budget, what was served, seed.
func (s subject) id() string {
	what := "control." + s.control
	if s.control == "" {
		what = strings.Join(s.faults, ".and.")
	}
	return fmt.Sprintf("%s/%s/%s/%d", family, s.budget, what, s.seed)
}

// firm marks a class that is named without a rival.
const firm = "!"

// said is a report as the golden keeps it: the verdict, the classes found, and in brackets the rivals and notes.
func said(r diagnosis.Report) string {
	var found, rivals, notes []string
	for _, f := range r.Findings {
		switch {
		case f.Note:
			notes = append(notes, f.Class)
		case f.Confidence.Grade == diagnosis.Firm:
			found = append(found, f.Class+firm)
		default:
			found = append(found, f.Class)
		}
	}
	for _, c := range r.Ranked() {
		if !slices.Contains(found, c) && !slices.Contains(found, c+firm) {
			rivals = append(rivals, c)
		}
	}
	out := strings.Join(append([]string{string(r.Verdict)}, found...), " ")
	if len(rivals) > 0 {
		out += " (or " + strings.Join(rivals, " ") + ")"
	}
	if len(notes) > 0 {
		out += " [" + strings.Join(notes, " ") + "]"
	}
	return out
}

// outcome is a golden's line, read back.
type outcome struct {
	verdict       diagnosis.Verdict
	found, ranked []string
	notes, firm   []string
}

func reread(line string) outcome {
	var o outcome
	line, notes, _ := strings.Cut(strings.TrimSuffix(line, "]"), " [")
	o.notes = strings.Fields(notes)
	line, rivals, _ := strings.Cut(strings.TrimSuffix(line, ")"), " (or ")
	words := strings.Fields(line)
	o.verdict = diagnosis.Verdict(words[0])
	for _, w := range words[1:] {
		name, sure := strings.CutSuffix(w, firm)
		o.found = append(o.found, name)
		if sure {
			o.firm = append(o.firm, name)
		}
	}
	o.ranked = append(slices.Clone(o.found), strings.Fields(rivals)...)
	return o
}

// count is what became of the runs of one subject.
type count struct {
	runs     int
	detected int // not called clean; for the two kinds that are no faults: called clean
	first    int // the right class first
	two      int // the right class among the first two
	both     int // two faults: both classes found, or ambiguous with both
	called   map[string]int
}

// tally sorts the golden's runs by budget and subject.
func tally(cases map[string]any) map[string]map[string]*count {
	classes := map[string]string{}
	for _, k := range scripted.Kinds() {
		classes[k.Slug] = k.Class
	}
	out := map[string]map[string]*count{}
	for id, v := range cases {
		line, ok := v.(string)
		parts := strings.Split(strings.TrimPrefix(id, family+"/"), "/")
		if !ok || len(parts) != 3 {
			continue
		}
		budget, what := parts[0], parts[1]
		if out[budget] == nil {
			out[budget] = map[string]*count{}
		}
		c := out[budget][what]
		if c == nil {
			c = &count{called: map[string]int{}}
			out[budget][what] = c
		}
		o := reread(line)
		c.runs++
		name := string(o.verdict)
		if len(o.ranked) > 0 {
			name = o.ranked[0]
		} else if len(o.notes) > 0 {
			name += " with a note: " + o.notes[0]
		}
		c.called[name]++
		faults := strings.Split(what, ".and.")
		switch {
		case strings.HasPrefix(what, "control."), what == "benign-noise", what == "thinking-budget":
			if o.verdict == diagnosis.Clean && (what != "thinking-budget" || slices.Contains(o.notes, "budget")) {
				c.detected, c.first, c.two = c.detected+1, c.first+1, c.two+1
			}
		case len(faults) == 2:
			if len(o.found) > 0 {
				c.detected++
			}
			if slices.Contains(o.ranked, classes[faults[0]]) && slices.Contains(o.ranked, classes[faults[1]]) {
				c.both++
			}
		default:
			at := slices.Index(o.ranked, classes[what])
			if len(o.found) > 0 {
				c.detected++
			}
			if at == 0 {
				c.first++
			}
			if at == 0 || at == 1 {
				c.two++
			}
		}
	}
	return out
}
