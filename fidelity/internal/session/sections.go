package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// head fills in what is known before the plan is sent.
func (j Job) head(d Done, began time.Time) report.Run {
	r := report.Run{
		Title: j.Title, Hint: j.Hint, Started: began,
		Identity: []report.Fact{
			{Label: "host", Text: j.Client.Host()},
			{Label: "model", Text: d.Flight.Model},
			{Label: "profile", Text: recall.Profile(j.Haystack.Name, j.Budget)},
			{Label: "haystack", Text: j.Haystack.Name + " sha256 " + j.Haystack.SHA256[:16]},
			{Label: "seeds", Text: "PCG by FNV-1a of seed and case ID"},
		},
	}
	if !j.Deterministic { // a server whose model is only known now
		r.Title += " · " + d.Flight.Model
	}
	for _, f := range d.Flight.Features {
		r.Capabilities = append(r.Capabilities, capability(f))
	}
	r.Plan = j.planLines(d)
	return r
}

// againLines are the lines that ask failing cells again, the cheapest first.
func againLines(d *Done) []string {
	var out []string
	for _, o := range d.Observations {
		if !o.Hit && o.Curl != "" {
			out = append(out, o.Curl)
		}
	}
	return out
}

// capability prints a feature the way the field spells it.
func capability(f endpoint.Feature) report.Capability {
	c := report.Capability{Name: strings.ReplaceAll(f.Name, "-", "_"), Value: "ok"}
	switch {
	case f.State != endpoint.Supported:
		c.Value, c.Missing = string(f.State), true
	case f.N > 0:
		c.Value = fmt.Sprint(f.N)
	}
	return c
}

func (j Job) planLines(d Done) []string {
	p, cost := d.Plan, d.Plan.Cost()
	took := 0.0
	for _, c := range p.Cells {
		took += d.pace.Seconds(c)
	}
	further := p.Count(recall.Extra) + p.Count(recall.Concurrency)
	lines := []string{fmt.Sprintf("%d grid cells + %d window + %d cache + %d further; %s prompt tokens; about %s%s",
		p.Count(recall.Recall), p.Count(recall.Window), p.Count(recall.Cache), further, thousands(cost.Tokens),
		duration(took*float64(max(1, j.Repeats))), j.paceWords(d))}
	if j.Repeats > 1 {
		lines = append(lines, fmt.Sprintf("all of it %d times: the first %d choose the stable cells, the last is the golden",
			j.Repeats, j.Repeats-1))
	} else if n := len(p.Whole(j.Budget).Cells) - len(p.Cells); d.Golden != nil && n > 0 {
		lines = append(lines, fmt.Sprintf("up to %d more if the golden gate cannot decide on these", n))
	}
	if j.Past != nil {
		n := 0
		for r := range max(1, j.Repeats) {
			n += len(j.Past.answered(p.Cells, r))
		}
		lines = append(lines, fmt.Sprintf("continues %s: %d answers are taken over", j.Shown(j.Past.Folder), n))
	}
	if d.Flight.State("tokenize") != endpoint.Supported {
		lines = append(lines, "no tokenize route: the length of each prompt costs about one more request of that length, "+
			"which is in the time")
	}
	if len(p.LeftOut) > 0 {
		lines = append(lines, "left out: "+strings.Join(p.LeftOut, ", "))
	}
	return lines
}

// body fills in what the run found.
func (j Job) body(d *Done) {
	r, jd, golden := &d.Report, d.Judgement, d.Golden
	after := r.Facts
	r.Facts = nil
	r.Grids = []report.HeatMap{heatMap(d.Plan, d.Observations, golden, jd)}
	window := report.Fact{Label: "window", Text: jd.Window.Counts}
	if jd.Code != suite.Regression && jd.Window.Words != "" { // otherwise it is the diagnosis
		window.Text += "\n" + jd.Window.Words
	}
	if jd.Logprobs != "" {
		r.Facts = append(r.Facts, report.Fact{Label: "evidence", Text: jd.Logprobs})
	}
	if jd.Shape.Text != "" {
		r.Facts = append(r.Facts, report.Fact{Label: "shape", Text: jd.Shape.Text})
	}
	r.Facts = append(
		r.Facts,
		report.Fact{Label: "answers", Text: jd.Totals.Lines()},
		window,
		report.Fact{Label: "cache", Text: jd.Cache.Text},
	)
	if jd.Gaps != "" {
		r.Facts = append(r.Facts, report.Fact{Label: "unmeasured", Text: jd.Gaps})
	}
	if jd.Replicas.Text != "" {
		r.Facts = append(r.Facts, report.Fact{Label: "replicas", Text: jd.Replicas.Text})
	}
	r.Facts = append(r.Facts, j.goldenFacts(d, golden)...)
	if jd.Code == suite.Regression &&
		!slices.ContainsFunc(after, func(f report.Fact) bool { return f.Label == "diagnosis" }) {
		r.Facts = append(r.Facts, diagnosis(d, golden))
	}
	r.Facts = append(r.Facts, after...)
	if n := j.Client.Retries(); n > 0 {
		r.Facts = append(r.Facts, report.Fact{
			Label: "retries",
			Text:  fmt.Sprintf("%d requests were repeated after a transport failure before the first byte", n),
		})
	}
	if lines := againLines(d); j.EveryCurl && len(lines) > 0 {
		const most = 6
		if rest := len(lines) - most; rest > 0 {
			lines = append(lines[:most], fmt.Sprintf("and %d more, one for each failing cell: requests/*.sh in the run "+
				"folder, and in the report", rest))
		}
		r.Facts = append(r.Facts, report.Fact{Label: "again", Text: strings.Join(lines, "\n"), Verbatim: true})
	}
	r.Tables = append(r.Tables, lengthTable(d, golden))
	r.Findings = j.findings(d, golden)
	r.Cases = j.cases(d, golden)
	if j.Dir != "" {
		r.Report = j.Shown(j.Dir) + "/report.html"
	}
	r.Verdict = report.Verdict{Code: int(jd.Code), Text: jd.Verdict}
}

func (j Job) goldenFacts(d *Done, golden *recall.Golden) []report.Fact {
	jd := d.Judgement
	if golden != nil && jd.Golden.Overall != recall.Absent {
		f := report.Fact{Label: "golden", Text: jd.Golden.String()}
		for _, r := range jd.Golden.Gate.Families {
			if r.Standing != recall.Absent {
				f.Text += "\n" + r.Sentence
			}
		}
		if d.Added > 0 {
			f.Text += fmt.Sprintf("\n%d cells were asked besides the plan", d.Added)
		}
		facts := []report.Fact{f}
		if diff := golden.Server.Differences(d.Server); golden.Server.Hash != "" && len(diff) > 0 {
			facts = append(facts, report.Fact{Label: "server", Text: serverText("changed since the golden", diff)})
		}
		return facts
	}
	why := "none for " + recall.GoldenFamily(d.Flight.Model, j.Haystack.Name, j.Budget)
	if golden != nil {
		why = golden.Family + " holds no cell with these prompts"
	}
	facts := []report.Fact{
		{Label: "golden", Text: why + "; the internal controls decide"},
		{Label: "controls", Text: jd.Controls.Text},
	}
	if j.Record != "" && jd.Code != suite.Regression { // a golden of a faulty server would hide the fault
		facts = append(facts, report.Fact{Label: "record one", Text: j.Record, Verbatim: true})
	}
	return facts
}

// shownFields bounds the fields of a fingerprint that are printed.
const shownFields = 12

func serverText(what string, diff []string) string {
	more := ""
	if n := len(diff); n > shownFields {
		diff, more = diff[:shownFields], fmt.Sprintf("\nand %d fields more", n-shownFields)
	}
	return what + ":\n" + strings.Join(diff, "\n") + more
}
