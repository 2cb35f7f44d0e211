package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/fidelity/evidence"
	"github.com/assay-suite/assay/fidelity/internal/probe"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/stat"
)

// rate is an arm with its Wilson interval.
func rate(a evidence.Arm) report.Rate {
	r := report.Rate{At: a.At, Hits: a.Right, Of: a.Runs, Unmeasured: a.Unmeasured}
	if iv, err := stat.Wilson(a.Right, a.Runs, 0.95); err == nil && a.Runs > 0 {
		r.Low, r.High = iv.Lo, iv.Hi
	}
	return r
}

// cliff is recall by length, with the edge that was bisected and what is known to break there.
func cliff(s evidence.Set, known probe.Known, window int) (report.Cliff, bool) {
	var c report.Cliff
	for _, a := range s.Of(evidence.Length) {
		c.Rates = append(c.Rates, rate(a))
	}
	if len(c.Rates) < 2 {
		return c, false
	}
	if edge, ok := s.Number(evidence.Length, "edge"); ok {
		width, _ := s.Number(evidence.Length, "edge-width")
		c.Edge = &report.Edge{At: edge, PlusMinus: width}
		for _, text := range probe.Cliffs(int(edge), int(width), known, window) {
			c.Causes = append(c.Causes, report.Cause{Text: text})
		}
	}
	return c, true
}

// ladder is the concurrency ladder: a row for each way of asking, a column for each number of clients.
func ladder(s evidence.Set) (report.Ladder, bool) {
	l := report.Ladder{Title: "concurrency", StepLabel: "clients at once"}
	arms := s.Of(evidence.Ladder)
	var clients []float64
	var names []string
	for _, a := range arms {
		if !slices.Contains(clients, a.At) {
			clients = append(clients, a.At)
		}
		if name := way(a); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(clients, cmp.Compare)
	for _, n := range clients {
		l.Steps = append(l.Steps, fmt.Sprintf("%g", n))
	}
	for _, name := range names {
		row := report.LadderArm{Name: name}
		for _, n := range clients {
			i := slices.IndexFunc(arms, func(a evidence.Arm) bool { return a.At == n && way(a) == name })
			if i < 0 {
				row.Rates = append(row.Rates, report.Rate{})
				continue
			}
			row.Rates = append(row.Rates, rate(arms[i]))
		}
		l.Arms = append(l.Arms, row)
	}
	return l, len(l.Arms) > 0
}

// way is an arm's name without the number of clients: n4-shared-equal-short is shared-equal-short.
func way(a evidence.Arm) string {
	if _, rest, ok := strings.Cut(a.Name, "-"); ok && strings.HasPrefix(a.Name, "n") {
		return rest
	}
	return a.Name
}
