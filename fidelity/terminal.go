package fidelity

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/needle"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/stat"
	"github.com/assay-suite/assay/internal/suite"
)

// head fills in what is known before the plan is sent.
func (j Job) head(d Done, began time.Time, flightTook time.Duration) report.Run {
	r := report.Run{
		Title: j.Title, Hint: j.Hint, Started: began,
		Identity: []report.Fact{
			{Label: "host", Text: j.Client.Host()},
			{Label: "model", Text: d.Flight.Model},
			{Label: "profile", Text: Profile(j.Haystack.Name, j.Budget)},
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
	r.Plan = j.planLines(d, flightTook)
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

func (j Job) planLines(d Done, flightTook time.Duration) []string {
	p, cost := d.Plan, d.Plan.Cost()
	rate := j.Rate
	on := " on 2 cores"
	if rate == 0 {
		// About ten prompts of some two hundred tokens; prefill of long prompts is rarely slower per token.
		rate = float64(d.Flight.Requests*200) / max(flightTook.Seconds(), 0.001)
		on = " at the pre-flight's speed"
	}
	further := p.Count(Extra) + p.Count(Concurrency)
	lines := []string{fmt.Sprintf("%d grid cells + %d window + %d cache + %d further; %s prompt tokens; about %s%s",
		p.Count(Recall), p.Count(Window), p.Count(Cache), further, thousands(cost.Tokens),
		duration(float64(cost.Tokens)/rate), on)}
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
		lines = append(lines, "no tokenize route: the length of each prompt costs about one more request of that length")
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
	r.Facts = append(r.Facts, window, report.Fact{Label: "cache", Text: jd.Cache.Text})
	r.Facts = append(r.Facts, j.goldenFacts(d, golden)...)
	if jd.Code == suite.Regression && len(after) == 0 {
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
	r.Tables = []report.Table{lengthTable(d, golden)}
	r.Findings = j.findings(d, golden)
	r.Cases = j.cases(d, golden)
	if j.Dir != "" {
		r.Report = j.Shown(j.Dir) + "/report.html"
	}
	r.Verdict = report.Verdict{Code: int(jd.Code), Text: jd.Verdict}
}

func (j Job) goldenFacts(d *Done, golden *Golden) []report.Fact {
	jd := d.Judgement
	if golden != nil && jd.Golden.Overall != Absent {
		f := report.Fact{Label: "golden", Text: jd.Golden.String()}
		for _, r := range jd.Golden.Gate.Families {
			if r.Standing != Absent {
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
	why := "none for " + GoldenFamily(d.Flight.Model, j.Haystack.Name, j.Budget)
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

func state(o Observation) report.State {
	switch {
	case !o.Measured:
		return report.Unmeasured
	case o.Hit:
		return report.Exact
	}
	return report.StateOf(o.Class)
}

// heatMap draws the worst repeat of every grid cell.
func heatMap(p Plan, obs []Observation, golden *Golden, jd Judgement) report.HeatMap {
	h := report.HeatMap{
		RowLabel: "depth", ColLabel: "length in tokens",
		Recall: &report.Recall{Hits: jd.Hits, Of: jd.Of, Low: jd.Interval.Lo, High: jd.Interval.Hi, Method: "Wilson, 95 %"},
	}
	for _, n := range p.Lengths {
		h.Cols = append(h.Cols, fmt.Sprint(n))
	}
	for _, depth := range p.Depths {
		h.Rows = append(h.Rows, fmt.Sprintf("%.2f", depth))
		row := make([]report.Cell, len(p.Lengths))
		for c, n := range p.Lengths {
			row[c] = report.Cell{State: report.Unmeasured, Class: string(needle.Unmeasured)}
			seen := false
			for _, o := range obs {
				if o.Cell.Family != Recall || o.Cell.Tokens != n || o.Cell.Depth != depth {
					continue
				}
				if cell := cellOf(o, golden); !seen || cell.State.Rank() > row[c].State.Rank() {
					row[c], seen = cell, true
				}
			}
		}
		h.Cells = append(h.Cells, row)
	}
	return h
}

func cellOf(o Observation, golden *Golden) report.Cell {
	c := report.Cell{
		Case:  o.Cell.ID,
		Class: o.Class,
		State: state(o),
		Title: fmt.Sprintf("want %s, got %q", o.Expected, clip(o.Answer, 60)),
	}
	if m, ok := o.MinMargin(); ok {
		c.Margin = &m
	}
	if g, ok := paired(o, golden); ok && len(g.Positions) > 0 {
		m, _ := Observation{Positions: g.Positions}.MinMargin()
		c.Golden = &m
	}
	return c
}

func paired(o Observation, golden *Golden) (GoldenCell, bool) {
	if golden == nil {
		return GoldenCell{}, false
	}
	g, ok := golden.Cells[o.Cell.ID]
	return g, ok && g.Prompt == o.PromptSHA
}

// lengthTable shows where along the length something changes.
func lengthTable(d *Done, golden *Golden) report.Table {
	t := report.Table{
		Title: "recall by length", Head: []string{"tokens", "found", "of", "median margin", "median shift"},
		Note:     "margins and shifts in nats; shift against the golden",
		Terminal: d.Judgement.Code == suite.Regression && golden != nil,
	}
	shift := shiftByID(d.Judgement)
	for _, n := range d.Plan.Lengths {
		hits, of := count(d.Observations, func(o Observation) bool { return o.Cell.Family == Recall && o.Cell.Tokens == n })
		var margins, shifts []float64
		for _, o := range d.Observations {
			if o.Cell.Family != Recall || o.Cell.Tokens != n {
				continue
			}
			for _, p := range o.Positions {
				margins = append(margins, p.Margin)
			}
			if s, ok := shift[o.Cell.ID]; ok {
				shifts = append(shifts, s.Size())
			}
		}
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(n), fmt.Sprint(hits), fmt.Sprint(of), medianText(margins), medianText(shifts),
		})
	}
	return t
}

func shiftByID(jd Judgement) map[string]Shift {
	out := map[string]Shift{}
	if jd.Golden != nil {
		for _, s := range jd.Golden.Shifts {
			out[s.ID] = s
		}
	}
	return out
}

func medianText(v []float64) string {
	if len(v) == 0 {
		return "-"
	}
	return nats(stat.Median(v))
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

// duration prints seconds as people say them.
func duration(s float64) string {
	if s < 100 {
		return fmt.Sprintf("%.0f s", max(1, s))
	}
	return fmt.Sprintf("%.0f min", s/60)
}

// thousands prints a number of tokens: 960, 97k.
func thousands(n int) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}

// missing cells first, then what moved most.
func sortFindings(f []report.Finding, size map[string]float64) {
	sort.SliceStable(f, func(i, k int) bool {
		if (f[i].State == report.Exact) != (f[k].State == report.Exact) {
			return f[k].State == report.Exact
		}
		return size[f[i].Case] > size[f[k].Case]
	})
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
