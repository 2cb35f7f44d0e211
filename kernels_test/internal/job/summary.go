package job

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/suite"
)

// Line is one line of the table: a facet.
type Line struct {
	Op, Facet, Phase               string
	State                          State
	Cases, Passed, Failed, Skipped int
	Rho                            float64 // the largest |got − want| / bound
	// the largest rms error over the emulated contract's, 0 where no case has one
	Ratio             float64
	Microseconds, GBs float64 // medians by the candidate's clock, 0 where it gave none
	Contract          string
	Cause             string
	NotSent           string
	Paths             []string
}

// Lines sums facets up.
func Lines(all []Judged) []Line {
	var out []Line
	for _, j := range all {
		l := Line{
			Op: j.Facet.Op, Facet: j.Facet.String(), Phase: j.Facet.Phase, State: j.State, Contract: j.Contract,
			NotSent: strings.Join(j.NotSent, "; "), Cause: j.cause(),
		}
		if j.Facet.Format == "" { // of a built-in candidate
			l.Facet = j.Facet.Op
		}
		var micros, gbs []float64
		for _, r := range j.Rows {
			l.add(r)
			if s := r.Report.Seconds; s > 0 && r.Outcome != suite.Skip {
				micros, gbs = append(micros, s*1e6), append(gbs, float64(r.Bytes)/s/1e9)
			}
		}
		l.Microseconds, l.GBs = median(micros), median(gbs)
		slices.Sort(l.Paths)
		out = append(out, l)
	}
	return out
}

// cause is the first cause of a faulty facet, in a few words.
func (j Judged) cause() string {
	if len(j.Causes) > 0 {
		return fmt.Sprintf("%s (%s)", j.Causes[0].Class, j.Causes[0].Name)
	}
	for _, r := range j.Rows {
		if len(r.Causes) > 0 {
			return fmt.Sprintf("%s (%s)", r.Causes[0].Class, r.Causes[0].Name)
		}
	}
	return ""
}

func (l *Line) add(r Row) {
	l.Cases++
	switch r.Outcome {
	case suite.Passed:
		l.Passed++
	case suite.Skip:
		l.Skipped++
		return
	default:
		l.Failed++
	}
	l.Rho = max(l.Rho, r.Report.Rho())
	for _, f := range r.Report.Findings {
		l.Ratio = max(l.Ratio, f.Verdict.Ratio)
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
// called its paths.
func Reach(lines []Line) []string {
	byOp := map[string][]Line{}
	for _, l := range lines {
		if l.Phase != "" {
			byOp[l.Op] = append(byOp[l.Op], l)
		}
	}
	var out []string
	for _, op := range slices.Sorted(maps.Keys(byOp)) {
		main := mainPath(byOp[op])
		for _, l := range byOp[op] {
			if main != "" && len(l.Paths) > 0 && !slices.Contains(l.Paths, main) {
				out = append(out, fmt.Sprintf("%s never reached %q: every call took %q", l.Facet, main,
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
