package exact

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-suite/assay/internal/report"
)

// Table is the rows for terminal and page.
func (o Result) Table() report.Table {
	t := report.Table{
		Title: fmt.Sprintf("exact reference: %s in float64, %s", o.Model, o.Format),
		Head: []string{
			"phase", "part", "digits", "rms shift", "expected", "mean shift", "expected", "lists", "bound", "verdict",
		},
		Note: "shifts of the served margins from the exact ones, nats; expected is what emulated engines of the format " +
			"show; bound: the largest shift of a digit over its limit",
		Terminal: true,
	}
	for _, r := range o.Rows {
		if r.Digits == 0 {
			t.Rows = append(t.Rows, []string{
				string(r.Phase), string(r.Part), fmt.Sprintf("0/%d", r.Of), "", "", "", "", "", "",
				string(Unjudged),
			})
			continue
		}
		lists := ""
		if !math.IsNaN(r.Lists) {
			lists = nats(r.Lists)
		}
		verdict := string(r.Standing)
		if r.Standing == Rejected {
			verdict += " (" + gate(r) + ")"
		}
		t.Rows = append(t.Rows, []string{
			string(r.Phase), string(r.Part), fmt.Sprintf("%d/%d", r.Digits, r.Of), nats(r.RMS), nats(r.Expected.RMS),
			nats(r.Mean), nats(r.Expected.Mean), lists, fmt.Sprintf("%.2f", r.Verdict.Rho.Max), verdict,
		})
	}
	return t
}

func gate(r Row) string {
	if r.Verdict.Accepted {
		return "lists"
	}
	return string(r.Verdict.Gate)
}

func nats(x float64) string { return fmt.Sprintf("%.2g", x) }

// shownDirections and shownRows bound what is printed.
const (
	shownDirections = 3
	shownRows       = 6
)

// Fact is what the mode says on the terminal.
func (o Result) Fact() report.Fact {
	f := report.Fact{Label: "exact"}
	if o.Model == "" {
		f.Text = "no nano model is recognised: " + o.Why
		return f
	}
	lines := []string{fmt.Sprintf("%s, by %s; format %s, from %s", o.Model, o.Why, o.Format, o.FormatFrom), o.Verdict}
	n := 0
	for _, r := range o.Rows {
		if r.Why != "" && r.Standing != Held && n < shownRows {
			lines = append(lines, fmt.Sprintf("%s %s: %s", r.Phase, r.Part, r.Why))
			n++
		}
	}
	for i, d := range o.Directions {
		if i < shownDirections && d.Explains > o.Directions[0].Explains/2 {
			lines = append(lines, fmt.Sprintf("%s: %.3g times the shift of %s, which sound engines show from %.2g to %.2g "+
				"times; it explains %.0f %% of the shifts", d.Phase, d.Amplitude, d.Fault, d.Low, d.High, 100*min(d.Explains, 1)))
		}
	}
	if !math.IsNaN(o.Smallest) {
		lines = append(lines, fmt.Sprintf("smallest factor on attention's values that is seen under %s: 1 + %.2g", o.Format,
			o.Smallest-1))
	}
	if o.Slow != "" {
		lines = append(lines, o.Slow)
	}
	lines = append(lines, o.Left...)
	f.Text = strings.Join(lines, "\n")
	return f
}
