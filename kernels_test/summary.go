package kernels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
)

// Line is one line of the table: an operator in a phase.
type Line struct {
	Op, Phase                              string
	Cases, Passed, Failed, Errors, Skipped int
	Rho                                    float64 // the largest |got − want| / bound
	// the largest rms error over the emulated contract's, 0 where no case has one
	Ratio             float64
	Microseconds, GBs float64 // medians by the candidate's clock, 0 where it gave none
	Contract          string
	Cause             string // of the first failure
	Paths             []string
}

// Verdict of the line in a word.
func (l Line) Verdict() string {
	switch {
	case l.Failed > 0:
		return "differs"
	case l.Errors > 0:
		return "breaks"
	case l.Passed == 0:
		return "not offered"
	}
	return "equivalent"
}

// Lines sums rows up by operator and phase, in the order of their first row.
func Lines(rows []Row) []Line {
	type key struct{ op, phase string }
	var order []key
	lines, micros, gbs := map[key]*Line{}, map[key][]float64{}, map[key][]float64{}
	for _, r := range rows {
		k := key{r.Case.Family.Op, r.Case.Scenario.Phase}
		l, seen := lines[k]
		if !seen {
			l = &Line{Op: k.op, Phase: k.phase, Contract: r.Case.Contract.Name}
			lines[k], order = l, append(order, k)
		}
		if l.Contract != r.Case.Contract.Name {
			l.Contract = "each"
		}
		l.add(r)
		if s := r.Report.Seconds; s > 0 {
			micros[k], gbs[k] = append(micros[k], s*1e6), append(gbs[k], float64(r.Bytes)/s/1e9)
		}
	}
	var out []Line
	for _, k := range order {
		l := lines[k]
		l.Microseconds, l.GBs = median(micros[k]), median(gbs[k])
		slices.Sort(l.Paths)
		out = append(out, *l)
	}
	return out
}

func (l *Line) add(r Row) {
	l.Cases++
	switch r.Outcome {
	case suite.Passed:
		l.Passed++
	case suite.Failed:
		l.Failed++
	case suite.Skip:
		l.Skipped++
		return
	default:
		l.Errors++
		return
	}
	l.Rho = max(l.Rho, r.Report.Rho())
	for _, f := range r.Report.Findings {
		l.Ratio = max(l.Ratio, f.Verdict.Ratio)
	}
	if l.Cause == "" && len(r.Causes) > 0 {
		l.Cause = fmt.Sprintf("%s (%s)", r.Causes[0].Class, r.Causes[0].Name)
	}
	if r.Report.Path != "" && !slices.Contains(l.Paths, r.Report.Path) {
		l.Paths = append(l.Paths, r.Report.Path)
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// Reach says which phases of an operator never reached the kernel that its other phases ran, by what the candidate
// called its paths, and which it does not offer at all.
func Reach(lines []Line) []string {
	byOp := map[string][]Line{}
	for _, l := range lines {
		if l.Phase != "" {
			byOp[l.Op] = append(byOp[l.Op], l)
		}
	}
	var out []string
	for _, op := range slices.Sorted(maps.Keys(byOp)) {
		phases := byOp[op]
		if !slices.ContainsFunc(phases, func(l Line) bool { return l.Skipped < l.Cases }) {
			continue // the operator is not offered at all
		}
		main := mainPath(phases)
		for _, l := range phases {
			switch {
			case l.Passed+l.Failed == 0 && l.Skipped > 0:
				out = append(out, fmt.Sprintf("%s: %s is not offered, so nothing is known of it", op, l.Phase))
			case main != "" && len(l.Paths) > 0 && !slices.Contains(l.Paths, main):
				out = append(out, fmt.Sprintf("%s: %s never reached %q: every call took %q", op, l.Phase, main,
					strings.Join(l.Paths, ", ")))
			}
		}
	}
	return out
}

// mainPath is the path that most phases name; of equals the one that the later phase names, since decode is what
// kernels are written for first. Nothing where one phase alone ran.
func mainPath(phases []Line) string {
	count := map[string]int{}
	ran, last := 0, ""
	for _, l := range phases {
		if len(l.Paths) == 0 {
			continue
		}
		ran++
		for _, p := range l.Paths {
			count[p]++
			if l.Phase == "decode" || last == "" {
				last = p
			}
		}
	}
	if ran < 2 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(boolInt(b == last), boolInt(a == last)), cmp.Compare(a, b))
	})
	return names[0]
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
