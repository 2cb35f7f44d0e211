package job

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
	"github.com/assay-suite/assay/kernels_test/bench"
)

// Outcome is a finished run as the report shows it.
type Outcome struct {
	Title   string
	Hello   bench.Hello // zero for the built-in candidates
	Unknown []string    // operators of the worker that no suite has
	Absent  []string    // operators of the suites that the worker does not offer
	Judged  []Judged
	Inside  []Inside
	Times   []Timed  // of kernels, where they were asked for
	Changes []string // since the recorded run of this engine, one sentence each
	Tape    string   // the file that was written; empty for none
	Stopped string   // why the run ended early; empty for a whole one
	Shard   suite.Shard
	Started time.Time
	Elapsed time.Duration
}

// Report is the run for terminal, HTML and JUnit.
func (o Outcome) Report() report.Run {
	lines := Lines(o.Judged)
	run := report.Run{
		Title: o.Title, Started: o.Started, Elapsed: o.Elapsed, Verdict: o.Verdict(),
		Identity: []report.Fact{{Label: "seeds", Text: suite.RandDescription}},
		Tables:   []report.Table{table(lines, o.Absent)},
	}
	if o.Hello.Name != "" {
		run.Identity = slices.Insert(run.Identity, 0, report.Fact{
			Label: "candidate",
			Text:  strings.TrimSpace(o.Hello.Name + " " + o.Hello.Version + " on " + o.Hello.Device),
		})
	}
	for _, j := range o.Judged {
		if o.Hello.Name != "" && j.Contract != "" {
			run.Facts = append(run.Facts, report.Fact{
				Label: "contract", Text: fmt.Sprintf("%s: %s, %s", j.Facet, j.Contract, j.Why),
			})
		}
	}
	run.Facts = append(run.Facts, o.measured()...)
	if len(o.Times) > 0 {
		run.Tables = append(run.Tables, timeTable(o.Times))
	}
	for _, r := range Reach(lines) {
		run.Facts = append(run.Facts, report.Fact{Label: "phases", Text: r})
	}
	for _, i := range o.Inside {
		run.Facts = append(run.Facts, report.Fact{Label: "inside", Text: i.String()})
	}
	for _, j := range o.Judged {
		for _, r := range j.Rows {
			run.Cases = append(run.Cases, report.Case{
				ID: r.Case.ID, Claim: r.Case.Claim, Outcome: report.Outcome(r.Outcome), Seconds: r.Report.Seconds,
				Message: r.Message, Type: r.Report.Gate(), Text: r.Text,
			})
			if r.Outcome == suite.Failed {
				run.Findings = append(run.Findings, finding(r))
			}
		}
	}
	return run
}

func table(lines []Line, absent []string) report.Table {
	t := report.Table{
		Title: "facets", Terminal: true,
		Head: []string{
			"facet", "contract", "cases", "failed", "worst rho", "ratio", "us", "GB/s", "verdict", "not judged", "cause",
		},
		Note: "a facet is what was offered: storage format, output, phase and mode, each judged by all of its cases; worst " +
			"rho: the largest |got - want| / bound, at most 1 for an accepted output; ratio: rms error over that of the " +
			"emulated contract; us and GB/s: medians by the candidate's own clock",
	}
	for _, l := range lines {
		t.Rows = append(t.Rows, []string{
			l.Facet, l.Contract, strconv.Itoa(l.Cases - l.Skipped), strconv.Itoa(l.Failed), number(l.Rho), number(l.Ratio),
			number(l.Microseconds), number(l.GBs), string(l.State), l.NotSent, l.Cause,
		})
	}
	if len(absent) > 0 {
		t.Note += "; operators that are not offered: " + strings.Join(absent, ", ")
	}
	return t
}

// number prints two digits, and nothing for what was not measured.
func number(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func finding(r Row) report.Finding {
	f := report.Finding{
		Case: r.Case.ID, Class: r.Report.Gate(), State: report.Lost, Claim: r.Case.Claim, Got: r.Message,
		Shape: labelled(r.Text, "shape"), Expected: labelled(r.Text, "want"),
		Again: r.Case.Again(), Pictures: r.Pictures,
	}
	if got := labelled(r.Text, "got"); got != "" {
		f.Got = got
	}
	if r.Repro != "" {
		f.Repro = "python3 " + filepath.Join(r.Repro, "repro.py")
	}
	var likely []string
	for _, c := range r.Causes {
		likely = append(likely, fmt.Sprintf("%s (%s): %s", c.Class, c.Name, c.Why))
	}
	for _, c := range r.Like {
		likely = append(likely, fmt.Sprintf("looks like the known bug %s: %s", c.Name, c.Why))
	}
	if f.Likely = strings.Join(likely, "; "); f.Likely == "" {
		f.Likely = labelled(r.Text, "likely") // which says that nothing is
	}
	return f
}

// labelled is one line of a failure's text.
func labelled(text, label string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), label+" "); ok {
			return strings.TrimLeft(rest, " ")
		}
	}
	return ""
}
