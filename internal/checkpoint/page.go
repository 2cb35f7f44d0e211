package checkpoint

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/assay-suite/assay/internal/report"
)

// Page is the report as report.html, junit.xml and the terminal show it; name is the checkpoint's as the
// user knows it.
func (r Report) Page(name string, started time.Time) report.Run {
	run := report.Run{
		Title: "doctor of " + name, Started: started, Elapsed: time.Duration(r.Seconds * float64(time.Second)),
		Identity: []report.Fact{
			{Label: "checkpoint", Text: name},
			{Label: "family", Text: cmp.Or(r.Family, "unknown: examined by peers")},
			{Label: "stored", Text: r.Plan},
			{Label: "tensors", Text: r.size()},
			{Label: "read", Text: fmt.Sprintf("%.3g GB in %.2f s (%.2f GB/s)", float64(r.Bytes)/1e9, r.Seconds, r.GBps())},
		},
		Facts: []report.Fact{
			{Label: "doctor", Text: fmt.Sprintf("%d findings: %d certain, %d likely, %d worth a look, %d notes", len(r.Findings),
				r.Count(Certain), r.Count(Likely), r.Count(Look), r.Count(Note))},
		},
		Cases: r.cases(name),
	}
	for _, s := range r.Skipped {
		run.Facts = append(run.Facts, report.Fact{Label: "unmeasured", Text: s})
	}
	if len(r.Formats) > 0 {
		t := report.Table{Title: "formats", Head: []string{"format", "stored as", "tensors", "bytes", "examined"}}
		for _, f := range r.Formats {
			t.Rows = append(t.Rows, []string{
				f.Layout, f.Detail, fmt.Sprint(f.Tensors), fmt.Sprint(f.Bytes), cmp.Or(f.Why, "yes"),
			})
		}
		run.Tables = append(run.Tables, t)
	}
	if len(r.Findings) > 0 {
		t := report.Table{Title: "findings, worst first", Head: []string{"severity", "kind", "what", "tensors"}}
		for _, f := range r.Findings {
			t.Rows = append(t.Rows, []string{f.Severity.String(), f.Kind, f.Text, strings.Join(f.Tensors, " ")})
		}
		run.Tables = append(run.Tables, t)
	}
	if len(r.Base) > 0 {
		t := report.Table{
			Title: "against the base, worst first",
			Head:  []string{"tensor", "relative L2", "half steps", "outside"},
		}
		for _, d := range r.Base {
			t.Rows = append(t.Rows, []string{
				d.Tensor, fmt.Sprintf("%.3g", d.RelL2), fmt.Sprintf("%.3g", d.HalfSteps), fmt.Sprint(d.Outside),
			})
		}
		run.Tables = append(run.Tables, t)
		run.Charts = append(run.Charts, r.picture())
	}
	code, text := r.Verdict()
	run.Verdict = report.Verdict{Code: int(code), Text: text}
	return run
}

// named is how many of the worst tensors the picture names.
const named = 8

// picture draws the errors against the base, worst tensor first, on a logarithmic scale; the worst are named.
func (r Report) picture() report.Chart {
	c := report.Chart{
		Title: "error against the base", XLabel: "tensors, worst first", YLabel: "log2", LogX: true,
		Note: "half steps: at most 1 (log2 0) is what rounding to nearest leaves",
	}
	steps, relative := report.Series{Name: "largest error, half steps"}, report.Series{Name: "relative L2"}
	for i, d := range r.Base {
		x := float64(i + 1)
		if d.HalfSteps > 0 {
			steps.Points = append(steps.Points, report.Point{X: x, Y: math.Log2(d.HalfSteps)})
		}
		if d.RelL2 > 0 {
			relative.Points = append(relative.Points, report.Point{X: x, Y: math.Log2(d.RelL2)})
		}
		if i < named {
			c.Marks = append(c.Marks, report.Mark{At: x, Text: fmt.Sprintf("%s: %.3g half steps, relative L2 %.3g", d.Tensor,
				d.HalfSteps, d.RelL2)})
		}
	}
	c.Series = []report.Series{steps, relative}
	return c
}

// cases are one passed case for a sound checkpoint, else one for every finding; only certain and likely ones are
// failures.
func (r Report) cases(name string) []report.Case {
	id := "weights/doctor/" + slug(name)
	if len(r.Findings) == 0 {
		return []report.Case{{ID: id + "/sound", Claim: claim, Outcome: report.Pass, Seconds: r.Seconds}}
	}
	var out []report.Case
	for i, f := range r.Findings {
		c := report.Case{
			ID: fmt.Sprintf("%s/%s/%d", id, f.Kind, i), Claim: claim, Outcome: report.Pass, Type: f.Kind,
			Message: f.String(), Text: f.Text + "\n" + strings.Join(f.Tensors, "\n"),
		}
		if f.Severity >= Likely {
			c.Outcome = report.Fail
		}
		out = append(out, c)
	}
	return out
}

const claim = "a checkpoint MUST agree with its index, its config and its formats"

// slug makes a case segment of a folder's name.
func slug(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, name)
}
