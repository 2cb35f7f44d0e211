package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/assay-suite/assay/fidelity/diagnosis"
	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/fidelity/suspects"
	"github.com/assay-suite/assay/internal/endpoint"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// head is what stands above the answers: who is asked, what it can do, what will be sent.
func (j Job) head(s endpoint.Survey, p probe.Plan, began time.Time) report.Run {
	run := report.Run{Title: j.Title, Started: began, Plan: p.Lines(0)}
	run.Identity = append(run.Identity, report.Fact{Label: "model", Text: s.Model})
	if s.Identity.Kind != "" {
		run.Identity = append(run.Identity, report.Fact{
			Label: "server",
			Text:  strings.TrimSpace(fmt.Sprintf("%s %s", s.Identity.Kind, s.Identity.Version)),
		})
	}
	for _, f := range s.Features {
		c := report.Capability{Name: f.Name, Value: "ok", Missing: f.State != endpoint.Supported, Detail: f.Detail}
		if c.Missing {
			c.Value = string(f.State)
		} else if f.N > 0 {
			c.Value = fmt.Sprint(f.N)
		}
		run.Capabilities = append(run.Capabilities, c)
	}
	return run
}

// body is what was found.
func (j Job) body(d *Done) {
	code, text := d.Code()
	d.Report.Diagnosis = shown(d.Diagnosis, d.Evidence.Server)
	d.Report.Diagnosis.Text = text
	if d.stopped != "" { // half of the probes make no diagnosis
		d.Report.Diagnosis = nil
		d.Report.Facts = append(d.Report.Facts, report.Fact{Label: "so far", Text: d.Diagnosis.Line()})
	}
	if d.Logprobs != "" {
		d.Report.Facts = append(d.Report.Facts, report.Fact{Label: "evidence", Text: d.Logprobs})
	}
	d.Report.Facts = append(d.Report.Facts, report.Fact{Label: "answers", Text: d.Totals.Lines()})
	for _, s := range d.Suspects {
		d.Report.Suspects = append(d.Report.Suspects, report.Suspect{
			Name: s.Patch.Name, Operator: s.Patch.Operator, Phases: s.Patch.Phases, Stock: s.Stock,
			State:    report.Standing(s.State),
			Evidence: s.Evidence, Next: s.Patch.Off,
		})
	}
	if next := suspects.Next(d.Suspects); next != "" {
		d.Report.Facts = append(d.Report.Facts, report.Fact{Label: "flip next", Text: next})
	}
	for _, name := range evidence.Order() {
		if e, ok := measured(d.Evidence, name); ok {
			d.Report.Evidence = append(d.Report.Evidence, e)
		}
	}
	if c, ok := cliff(d.Evidence, j.Known, d.Survey.Window.N); ok {
		d.Report.Cliffs = append(d.Report.Cliffs, c)
	}
	if l, ok := ladder(d.Evidence); ok {
		d.Report.Ladders = append(d.Report.Ladders, l)
	}
	outcome := map[suite.Code]report.Outcome{suite.Regression: report.Fail, suite.Inconclusive: report.NotMeasured}[code]
	if outcome == "" {
		outcome = report.Pass
	}
	d.Report.Cases = []report.Case{
		{ID: "fidelity/diagnosis", Claim: "no probe MUST show a fault", Outcome: outcome, Message: text},
	}
	d.Report.Verdict = report.Verdict{Code: int(code), Text: text}
	if j.Dir != "" {
		d.Report.Report = j.Shown(j.Dir + "/" + report.HTMLFile)
		if code != suite.Pass {
			d.Report.Facts = append(d.Report.Facts, report.Fact{Label: "again", Verbatim: true, Text: fmt.Sprintf(
				"curl %s/v1/chat/completions -H 'Content-Type: application/json' -d @%s/requests/<case>-<n>.json", j.Client.Root(),
				j.Shown(j.Dir))})
		}
	}
}

// Code is the exit code and the verdict of a finished job: a class of the decision table first, then what the totals
// say, since a loss without a contrast has no class.
func (d Done) Code() (suite.Code, string) {
	v := d.Diagnosis.Verdict
	if d.stopped != "" {
		return suite.Inconclusive, "inconclusive: " + d.stopped
	}
	if d.onlyDeclines() {
		return suite.Inconclusive, "inconclusive: " + d.Totals.Text + "; were it a fault: " + d.Diagnosis.Line()
	}
	switch {
	case v == diagnosis.Fault || v == diagnosis.Ambiguous:
		return suite.Regression, verdictText(d.Diagnosis)
	case d.Totals.Code == suite.Regression:
		return d.Totals.Code, d.Totals.Text
	case v == diagnosis.Unmeasured:
		return suite.Inconclusive, verdictText(d.Diagnosis)
	case d.Totals.Code == suite.Inconclusive:
		return d.Totals.Code, "inconclusive: " + d.Totals.Text
	case d.Logprobs != "":
		return suite.Inconclusive, "inconclusive: " + d.Logprobs
	}
	return suite.Pass, verdictText(d.Diagnosis)
}

// onlyDeclines says that every finding is a loss with length that is not firm, and that a smooth decline explains it.
func (d Done) onlyDeclines() bool {
	if !d.Totals.Declines || d.Totals.Code != suite.Inconclusive {
		return false
	}
	faults := 0
	for _, f := range d.Diagnosis.Findings {
		if !f.Note && (f.Channel != "far" || f.Confidence.Grade == diagnosis.Firm) {
			return false
		}
		faults++
	}
	return faults > 0
}

func (d Done) clean() bool { code, _ := d.Code(); return code == suite.Pass }

// verdictText is the diagnosis in a line.
func verdictText(r diagnosis.Report) string {
	var classes []string
	for _, f := range r.Findings {
		if !f.Note {
			classes = append(classes, f.Class)
		}
	}
	switch r.Verdict {
	case diagnosis.Fault:
		return "fault: " + strings.Join(classes, " and ")
	case diagnosis.Ambiguous:
		if all := r.Ranked(); !r.Narrow() {
			return fmt.Sprintf("fault, not narrowed down: %s or %d others", all[0], len(all)-1)
		}
		if len(r.Findings) > 0 && len(classes) == 1 {
			classes = append(classes, r.Findings[0].Rivals...)
		}
		return "fault, ambiguous: " + strings.Join(classes, " or ")
	case diagnosis.Unmeasured:
		return fmt.Sprintf("inconclusive: %d probes without a measured answer", len(r.Unmeasured))
	case diagnosis.Clean:
	}
	if len(r.Unmeasured) > 0 {
		return fmt.Sprintf("no fault found; %d probes unmeasured", len(r.Unmeasured))
	}
	return "no fault found"
}

// shown is the diagnosis as the report's own values.
func shown(r diagnosis.Report, server string) *report.Diagnosis {
	out := &report.Diagnosis{Verdict: string(r.Verdict), Text: verdictText(r), Unmeasured: r.Unmeasured}
	for _, f := range r.Findings {
		c := report.Class{
			Name: f.Class, Says: f.Says, Grade: string(f.Confidence.Grade), Runs: f.Confidence.Runs, Arms: f.Confidence.Arms,
			P:        f.Confidence.P,
			Evidence: distinct(f.Evidence), Rivals: f.Rivals, Splitter: f.Splitter, Note: f.Note,
		}
		for _, e := range []struct{ name, id, text string }{
			{"SGLang", "sglang", f.Next.SGLang},
			{"vLLM", "vllm", f.Next.VLLM},
			{"llama.cpp", "llama.cpp", f.Next.LlamaCpp},
		} {
			c.Flags = append(c.Flags, report.Flag{Engine: e.name, Text: e.text, This: e.id == server})
		}
		out.Classes = append(out.Classes, c)
	}
	return out
}

// distinct keeps the first of equal lines: two rules of a class may rest on one of them.
func distinct(lines []string) []string {
	var out []string
	for _, l := range lines {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// measured is one probe's evidence.
func measured(s evidence.Set, name string) (report.Evidence, bool) {
	e := report.Evidence{Probe: name, LeftOut: s.LeftOut[name]}
	for _, a := range s.Of(name) {
		e.Arms = append(e.Arms, report.Arm{Name: a.Name, Rate: rate(a), Classes: classesOf(a), Shows: a.Shows})
	}
	for _, key := range slices.Sorted(maps.Keys(s.Numbers)) {
		if label, ok := strings.CutPrefix(key, name+"/"); ok {
			e.Facts = append(e.Facts, report.Fact{Label: label, Text: fmt.Sprintf("%.6g", s.Numbers[key])})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Words)) {
		if label, ok := strings.CutPrefix(key, name+"/"); ok {
			e.Facts = append(e.Facts, report.Fact{Label: label, Text: s.Words[key]})
		}
	}
	return e, len(e.Arms)+len(e.Facts) > 0 || e.LeftOut != ""
}

func classesOf(a evidence.Arm) string {
	var out []string
	for _, c := range slices.Sorted(maps.Keys(a.Classes)) {
		if c != "" {
			out = append(out, fmt.Sprintf("%s %d", c, a.Classes[c]))
		}
	}
	return strings.Join(out, ", ")
}
