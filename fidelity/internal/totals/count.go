package totals

import (
	"fmt"
	"strings"

	"github.com/assay-suite/assay/internal/stat"
)

// Count is how many answers of a form are wrong.
type Count struct {
	Form                    Form // empty: of all
	Asked, Wrong, NotJudged int  // NotJudged are on top of Asked
}

// Share is the share of wrong answers.
func (c Count) Share() float64 { return float64(c.Wrong) / float64(max(1, c.Asked)) }

// String is "35 asked, 9 wrong (25.7 %, 14.2 % to 42.1 %)": the share with its Wilson interval of 95 %.
func (c Count) String() string {
	s := fmt.Sprintf("%d asked, %d wrong", c.Asked, c.Wrong)
	if iv, err := stat.Wilson(c.Wrong, c.Asked, 0.95); err == nil {
		s += fmt.Sprintf(" (%.1f %%, %.1f %% to %.1f %%)", 100*c.Share(), 100*iv.Lo, 100*iv.Hi)
	}
	if c.NotJudged > 0 {
		s += fmt.Sprintf(", %d not measured", c.NotJudged)
	}
	return s
}

func (c *Count) add(a Answer) {
	if !a.Measured {
		c.NotJudged++
		return
	}
	c.Asked++
	if a.Wrong {
		c.Wrong++
	}
}

func (c Count) plus(d Count) Count {
	c.Asked, c.Wrong, c.NotJudged = c.Asked+d.Asked, c.Wrong+d.Wrong, c.NotJudged+d.NotJudged
	return c
}

func counts(answers []Answer) (all Count, byForm []Count) {
	by := map[Form]*Count{}
	for _, a := range answers {
		all.add(a)
		if by[a.Form] == nil {
			by[a.Form] = &Count{Form: a.Form}
		}
		by[a.Form].add(a)
	}
	for _, f := range forms() {
		if c := by[f]; c != nil {
			byForm = append(byForm, *c)
		}
	}
	return all, byForm
}

// Lines are the counts for a reader: all answers, then each form.
func (r Result) Lines() string {
	lines := []string{r.All.String()}
	for _, c := range r.Forms {
		lines = append(lines, fmt.Sprintf("%-10s %s", c.Form, c))
	}
	return strings.Join(append(lines, r.Says...), "\n")
}
