package session

import (
	"fmt"
	"sort"
	"strings"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/internal/suite"
)

// shownMoved bounds the findings for cells that were found but moved: they differ in a number only.
const shownMoved = 10

// findings lists every cell that was not answered exactly and, when the run regressed, the cells that moved
// most, each with prompt, answer, margins and a line that sends it again.
func (j Job) findings(d *Done, golden *recall.Golden) []report.Finding {
	moved := map[string]float64{}
	if g := d.Judgement.Golden; g != nil && d.Judgement.Code == suite.Regression {
		for i, s := range g.Moved {
			if i < shownMoved {
				moved[s.ID] = s.Size()
			}
		}
	}
	var out []report.Finding
	for _, o := range d.Observations {
		if _, ok := moved[o.Cell.ID]; o.Hit && !ok || o.Wire == string(endpoint.Cancelled) { // not asked to the end
			continue
		}
		out = append(out, j.finding(o, golden, d.Judgement))
	}
	sortFindings(out, moved)
	return out
}

func (j Job) finding(o recall.Observation, golden *recall.Golden, jd recall.Judgement) report.Finding {
	f := report.Finding{
		Case: o.Cell.ID, Class: o.Class, State: state(o), Claim: o.Cell.Claim,
		Expected: o.Expected, Prompt: o.Prompt, Answer: o.Answer, Again: o.Curl,
		Got: fmt.Sprintf("%q", recall.Clip(o.Answer, 80)),
	}
	if o.Cell.Family == recall.Cache {
		f.Claim = recall.Claim
	}
	if o.Stored != "" {
		f.Request = j.Shown(j.Dir) + "/requests/" + o.Stored + ".json"
	}
	if o.Err != nil {
		f.Got = j.Client.Redact(o.Err.Error())
	}
	if o.Reasoning != "" {
		f.Answer += "\n\n[reasoning]\n" + o.Reasoning
	}
	want, isPaired := paired(o, golden)
	for i, p := range o.Positions {
		m := report.Margin{Token: p.Token, Got: p.Margin}
		if isPaired && i < len(want.Positions) {
			m.Golden = &want.Positions[i].Margin
		}
		f.Margins = append(f.Margins, m)
	}
	if s, ok := shiftByID(jd)[o.Cell.ID]; ok && o.Hit {
		f.Class = "moved"
		f.Claim = "margins MUST be those of the golden within the recorded noise"
		f.Got = fmt.Sprintf("the right code, with margins moved by %s and top log-probabilities by %s nat in the median "+
			"(allowed %s)", recall.Nats(s.Margin), recall.Nats(s.Top), recall.Nats(jd.Golden.Threshold))
	}
	return f
}

// cases is the run for junit.xml. A cell fails only in a run that failed: one miss among many hits is an
// observation, and readers of JUnit count failures.
func (j Job) cases(d *Done, golden *recall.Golden) []report.Case {
	moved := map[string]recall.Shift{}
	if g := d.Judgement.Golden; g != nil {
		for _, s := range g.Moved {
			moved[s.ID] = s
		}
	}
	var out []report.Case
	for _, o := range d.Observations {
		c := report.Case{
			ID:      o.Cell.ID,
			Claim:   o.Cell.Claim,
			Outcome: report.Pass,
			Seconds: o.Seconds,
			Type:    o.Class,
			Output:  o.Curl,
		}
		want, isPaired := paired(o, golden)
		s, isMoved := moved[o.Cell.ID]
		failed := d.Judgement.Code == suite.Regression
		if o.Measured && !o.Hit { // also where the run does not fail by it
			c.Output = strings.TrimRight(fmt.Sprintf("%s: %s\n%s", o.Class, wanted(o), o.Curl), "\n")
		}
		switch {
		case o.Class == string(needle.Failed):
			c.Outcome = report.Error
		case !o.Measured:
			c.Outcome = report.NotMeasured
		case failed && !o.Hit && (!isPaired || want.Hit):
			c.Outcome, c.Message = report.Fail, wanted(o)
		case failed && isMoved:
			c.Outcome, c.Type = report.Fail, "moved"
			c.Message = fmt.Sprintf(
				"margins moved by %s nat (allowed %s)",
				recall.Nats(s.Size()),
				recall.Nats(d.Judgement.Golden.Threshold),
			)
		}
		if o.Err != nil {
			c.Message = o.Class + ": " + j.Client.Redact(o.Err.Error())
		}
		out = append(out, c)
	}
	for _, g := range d.Judgement.Gates() {
		out = append(out, report.Case{ID: g.ID, Claim: g.Claim, Outcome: junitOutcome(g.Outcome), Message: g.Text})
	}
	return out
}

func junitOutcome(o suite.Outcome) report.Outcome { return report.Outcome(o) }

// diagnosis says what the pattern points at, with the evidence and what else it could be.
func diagnosis(d *Done, golden *recall.Golden) report.Fact {
	jd := d.Judgement
	f := report.Fact{Label: "diagnosis"}
	lost := jd.Golden != nil && len(jd.Golden.Lost) > 0 || jd.Golden == nil && jd.Controls.Standing == recall.Regressed
	switch {
	case jd.Canned != "":
		f.Text = jd.Canned
	case jd.Replicas.Standing == recall.Regressed:
		f.Text = jd.Replicas.Text
	case jd.Controls.Standing == recall.Regressed && jd.Controls.Where == "everywhere":
		f.Text = "recall is lost at every length and distance, while answers keep their form"
	case jd.Window.Named:
		f.Text = jd.Window.Words
	case lost && jd.Shape.Text != "":
		f.Text = jd.Shape.Text
	case jd.Window.Words != "":
		f.Text = jd.Window.Words
	case lost:
		f.Text = "needles are lost here and there: no distance, position or length stands out"
	case jd.Golden != nil && jd.Golden.Margins == recall.Regressed && jd.Golden.Overall == recall.Regressed:
		f.Text = "no needle is lost, but the model computes other numbers: a scale, a bound, a precision or another " +
			"checkpoint"
	default:
		f.Text = jd.Cache.Text
	}
	var evidence []string
	if jd.Controls.Text != "" && jd.Golden != nil { // without a golden it stands above already
		evidence = append(evidence, jd.Controls.Text)
	}
	if s := onset(d); s != "" {
		evidence = append(evidence, s)
	}
	if jd.Cache.Text != f.Text {
		evidence = append(evidence, jd.Cache.Text)
	}
	f.Sub = append(f.Sub, report.Fact{Label: "evidence", Text: strings.Join(evidence, "\n")})
	if jd.Controls.Rivals != "" && (golden == nil || jd.Golden.Overall == recall.Absent) {
		f.Sub = append(f.Sub, report.Fact{Label: "rivals", Text: jd.Controls.Rivals})
	}
	return f
}

// onset says from which length on margins move, when the shorter ones stand still: ranking among keys is
// not exercised while all of them are selected.
func onset(d *Done) string {
	g := d.Judgement.Golden
	if g == nil || len(g.Shifts) == 0 {
		return ""
	}
	byLength := map[int][]float64{}
	shift := shiftByID(d.Judgement)
	for _, o := range d.Observations {
		if s, ok := shift[o.Cell.ID]; ok && o.Cell.Family == recall.Recall {
			byLength[o.Cell.Tokens] = append(byLength[o.Cell.Tokens], s.Size())
		}
	}
	still, moves := 0, 0
	for _, n := range d.Plan.Lengths {
		if len(byLength[n]) == 0 {
			continue
		}
		switch moved := stat.Median(byLength[n]) > g.Threshold; {
		case moved && moves == 0:
			moves = n
		case !moved && moves == 0:
			still = n
		case !moved:
			return "margins move at some lengths only, with no clean onset"
		}
	}
	switch {
	case moves == 0:
		return ""
	case still == 0:
		return fmt.Sprintf("margins move at every length, from %d tokens on", moves)
	}
	return fmt.Sprintf("margins stand still up to %d tokens and move from %d on: something that only longer contexts "+
		"exercise", still, moves)
}

// sortFindings puts missing cells first, then what moved most.
func sortFindings(f []report.Finding, size map[string]float64) {
	sort.SliceStable(f, func(i, k int) bool {
		if (f[i].State == report.Exact) != (f[k].State == report.Exact) {
			return f[k].State == report.Exact
		}
		return size[f[i].Case] > size[f[k].Case]
	})
}
