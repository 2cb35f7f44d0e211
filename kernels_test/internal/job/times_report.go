package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-suite/assay/internal/report"
)

// Timing says whether a run takes kernel times.
type Timing int

// The kinds of timing.
const (
	NoTimes   Timing = iota
	WithTimes        // after the cases were judged
	TimesOnly        // and nothing is judged
)

// ParseTiming reads ASSAY_TIMES.
func ParseTiming(word string) Timing {
	switch word {
	case "1":
		return WithTimes
	case "only":
		return TimesOnly
	}
	return NoTimes
}

// measured are the facts of a run with times, tapes or an earlier run to compare with.
func (o Outcome) measured() []report.Fact {
	var out []report.Fact
	for _, t := range o.Times {
		if c := t.Ceilings; t.NotTimed == "" {
			out = append(out, report.Fact{Label: "ceilings", Text: fmt.Sprintf("copy %.0f GB/s, bf16 product %.0f TFLOP/s, fp8 "+
				"product %.0f TFLOP/s, measured in this run", c.CopyGBs, c.BF16, c.FP8)})
			break
		}
	}
	for _, line := range o.Changes {
		label := "changed"
		if strings.HasPrefix(line, "slower: ") {
			label = "slower"
		}
		out = append(out, report.Fact{Label: label, Text: strings.TrimPrefix(line, "slower: ")})
	}
	if o.Tape != "" {
		out = append(out, report.Fact{Label: "tape", Text: o.Tape})
	}
	return out
}

func timeTable(all []Timed) report.Table {
	t := report.Table{
		Title: "kernel times", Terminal: true,
		Head: []string{"operator", "shape", "us", "spread", "rate", "share", "of", "first s", "taken by", "path"},
		Note: "medians of repetitions on the device's clock, the L2 cache overwritten before each; what an adapter does " +
			"around its kernel is outside; " +
			"spread: half the distance of the quartiles over the median; share: of the ceiling that " +
			"was measured in this run; first s: the first launch, compilation with it",
	}
	for _, r := range all {
		if r.NotTimed != "" {
			t.Rows = append(t.Rows, []string{r.Op, r.Class, "", "", "", "", "", "", "not timed: " + r.NotTimed, ""})
			continue
		}
		t.Rows = append(t.Rows, []string{
			r.Op, r.Class, fmt.Sprintf("%.1f", r.Microseconds), fmt.Sprintf("%.0f %%", 100*r.Spread), r.Rate,
			fmt.Sprintf("%.2f", r.Share), r.Of, fmt.Sprintf("%.2f", r.First), r.How, r.Path,
		})
	}
	return t
}

// slower are the changes that say that a kernel became slower: a kind of their own, never counted as a wrong result.
func (o Outcome) slower() []string {
	return slices.DeleteFunc(slices.Clone(o.Changes), func(s string) bool { return !strings.HasPrefix(s, "slower: ") })
}

func (o Outcome) timed() int {
	n := 0
	for _, t := range o.Times {
		if t.NotTimed == "" {
			n++
		}
	}
	return n
}
