package gate

import (
	"fmt"
	"math"
	"strings"
)

// sentence is a family's result in one line.
func (f *family) sentence(p Policy) string {
	head := fmt.Sprintf("%s %s", string(f.Family), string(f.Standing))
	switch {
	case f.Looks == 0:
		return head + ": the golden has no such cells"
	case f.Look == 0:
		return fmt.Sprintf("%s: %d cells to ask", head, len(f.More))
	case f.Pairs == 0:
		return fmt.Sprintf("%s: none of %d cells has a pair", head, f.Cells)
	}
	parts := []string{fmt.Sprintf("%d lost, %d won of %d pairs", f.Counts.Lost, f.Counts.Won, f.Pairs)}
	if f.Unmeasured > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d cells unmeasured", f.Unmeasured, f.Cells))
	}
	if f.Counts.Lost+f.Counts.Won > 0 {
		parts = append(parts, fmt.Sprintf("p %s, %s after Holm", pvalue(f.P), pvalue(f.Adjusted)))
	}
	parts = append(parts, fmt.Sprintf("drop %.1f points (%.0f %% interval %.1f to %.1f)",
		points(f.Drop), 100*p.Level, points(f.Interval.Lo), points(f.Interval.Hi)))
	if f.Smallest < 1 {
		parts = append(parts, fmt.Sprintf("minimum detectable drop %.0f points", points(f.Smallest)))
	} else {
		parts = append(parts, "too few cells to see any drop")
	}
	out := head + ": " + strings.Join(parts, ", ")
	if m := f.Margins; m.Gated {
		mean := -math.Round(100*m.Mean)/100 + 0 // a fall is positive in m; + 0: no negative zero
		out += fmt.Sprintf("; mean margin changed by %+.2f nat over %d pairs (allowed -%.2f), p %s, %s after Holm",
			mean, m.Pairs, m.Allowed, pvalue(m.P.P), pvalue(m.Adjusted))
		if m.Missing > 0 {
			out += fmt.Sprintf(", %d right answers without a margin", m.Missing)
		}
	}
	switch {
	case f.Standing == Undecided:
		out += fmt.Sprintf("; %d more cells to ask", len(f.More))
	case f.Standing == Inconclusive && !f.gaps(p) && f.suspicious(p):
		if n := f.settle(p); n > f.Cells {
			out += fmt.Sprintf("; at this rate %d cells in all would settle it", n)
		}
	}
	return out
}

// sentence is the decision in one line.
func (d Decision) sentence(p Policy) string {
	var which []string
	measured := 0
	for _, r := range d.Families {
		if r.Standing == d.Overall {
			which = append(which, string(r.Family))
		}
		measured += r.Pairs
	}
	names := strings.Join(which, ", ")
	switch d.Overall {
	case Regressed:
		return fmt.Sprintf("regressed in %s: %d tests on %d pairs, false alarms held at %g", names, d.Tests, measured,
			p.Alpha)
	case Undecided:
		return fmt.Sprintf("undecided in %s: %d cells to ask", names, len(d.More))
	case Inconclusive:
		return fmt.Sprintf("inconclusive in %s: %d tests on %d pairs", names, d.Tests, measured)
	case Held:
		return fmt.Sprintf("held in %s: %d tests on %d pairs", names, d.Tests, measured)
	case Absent:
	}
	return "no gate: the golden has none of the families"
}

// points prints a share in points, without a negative zero.
func points(share float64) float64 { return 100*share + 0 }

func pvalue(p float64) string {
	if p < 1e-9 {
		return "< 1e-9"
	}
	return fmt.Sprintf("%.2g", math.Min(1, p))
}
