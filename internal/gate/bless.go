package gate

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Repeats is how often every cell is asked at bless.
const Repeats = 4

// choosing is how many of the repeats choose the stable cells; the one after them is the baseline.
const choosing = Repeats - 1

// Outcome is one answer to one cell.
type Outcome struct {
	Measured bool `json:"measured"` // false: transport, timeout, no answer
	Hit      bool `json:"hit"`
	// Margin of the right answer over its best rival, nats, averaged over the answer's positions. Valid if HasMargin.
	Margin    float64 `json:"margin,omitempty"`
	HasMargin bool    `json:"has_margin,omitempty"`
	Prompt    string  `json:"prompt,omitempty"` // hash of the bytes asked; only equal ones pair
}

// Cell is a cell's record at bless, repeats in the order in which they were asked.
type Cell struct {
	ID      string
	Family  Family
	Repeats [Repeats]Outcome
}

// Request asks for a golden. Cells stand in plan order: the gate runs the first stable ones.
type Request struct {
	Reason string // why the golden is made or changed
	CI     bool   // goldens are not made in CI
	Cells  []Cell
}

// Baseline is what a golden keeps of a family.
type Baseline struct {
	Family   Family   `json:"family"`
	Stable   []string `json:"stable"`   // IDs in plan order
	Unstable []string `json:"unstable"` // left out of the gate
	// Cells are the outcomes of repeat 4, by ID, of stable cells only.
	Cells map[string]Outcome `json:"cells"`
	// Recall over repeats 1 to 3 of all cells.
	Recall float64 `json:"recall"`
	// Margins says that margins are gated: at least 95 % of the stable cells had one at bless.
	Margins bool `json:"margins"`
	// AA is the largest difference of mean margins between any two of the four repeats, nats.
	AA float64 `json:"aa_nats"`
}

// Golden is what a run is compared with.
type Golden struct {
	Reason   string     `json:"reason"`
	Families []Baseline `json:"families"`
}

// RefusalError is one reason why no golden was made.
type RefusalError struct {
	Rule   string // "reason", "ci", "empty", "duplicate", "unmeasured", "prompt", "margin", "unstable" or "floor"
	Family Family // empty when it is about the whole request
	Why    string // the sentence
}

// Error returns the sentence.
func (r *RefusalError) Error() string { return r.Why }

// Bless makes a golden, or returns every RefusalError joined (errors.As finds the first).
//
// It refuses without a reason, in CI, without cells, on a cell that stands twice, on a repeat that was not measured or
// asked other bytes, on a margin that is no number, when more than Policy.MaxUnstable of a family disagree with
// themselves in repeats 1 to 3, and when a family's recall in those is below Policy.RecallFloor.
func Bless(r Request, p Policy) (Golden, error) {
	if err := p.validate(); err != nil {
		return Golden{}, err
	}
	var errs []error
	refuse := func(rule string, f Family, format string, args ...any) {
		errs = append(errs, &RefusalError{rule, f, "no golden is made: " + fmt.Sprintf(format, args...)})
	}
	if strings.TrimSpace(r.Reason) == "" {
		refuse("reason", "", "a golden needs a reason: say why it is made or changed")
	}
	if r.CI {
		refuse("ci", "", "this is CI, where a red gate would bless itself: make it by hand and commit it")
	}
	if len(r.Cells) == 0 {
		refuse("empty", "", "there is no cell")
	}
	g := Golden{Reason: strings.TrimSpace(r.Reason)}
	seen := map[string]bool{}
	byFamily := map[Family][]Cell{}
	var order []Family
	for _, c := range r.Cells {
		if seen[c.ID] {
			refuse("duplicate", c.Family, "the cell %q stands twice: give each its own ID", c.ID)
			continue
		}
		seen[c.ID] = true
		if rule, why := badCell(c); rule != "" {
			refuse(rule, c.Family, "%s", why)
			continue
		}
		if byFamily[c.Family] == nil {
			order = append(order, c.Family)
		}
		byFamily[c.Family] = append(byFamily[c.Family], c)
	}
	for _, f := range order {
		b := baselineOf(f, byFamily[f])
		n := len(byFamily[f])
		if float64(len(b.Unstable)) > p.MaxUnstable*float64(n) {
			refuse("unstable", f, "%d of %d cells of %s answer differently within three repeats, more than %.0f %%: lower the "+
				"concurrency or the temperature, or find what makes the server undecided",
				len(b.Unstable), n, string(f), 100*p.MaxUnstable)
		}
		if b.Recall < p.RecallFloor {
			refuse("floor", f, "recall of %s is %.1f %% over three repeats, below the floor of %.0f %%: too little is found "+
				"for a loss to show; diagnose this server first",
				string(f), 100*b.Recall, 100*p.RecallFloor)
		}
		g.Families = append(g.Families, b)
	}
	if len(errs) > 0 {
		return Golden{}, errors.Join(errs...)
	}
	return g, nil
}

func badCell(c Cell) (rule, why string) {
	for i, o := range c.Repeats {
		switch {
		case !o.Measured:
			return "unmeasured", fmt.Sprintf("the cell %q was not measured in repeat %d: a golden with holes would pass for a "+
				"complete one, run it again", c.ID, i+1)
		case o.Prompt != c.Repeats[0].Prompt:
			return "prompt", fmt.Sprintf("the cell %q asked other bytes in repeat %d (%q) than in the first (%q): repeats "+
				"must be the same question", c.ID, i+1, o.Prompt, c.Repeats[0].Prompt)
		case o.HasMargin && (math.IsNaN(o.Margin) || math.IsInf(o.Margin, 0)):
			return "margin", fmt.Sprintf("the cell %q has a margin of %v in repeat %d: say that it has none instead", c.ID,
				o.Margin, i+1)
		}
	}
	return "", ""
}

func baselineOf(f Family, cells []Cell) Baseline {
	b := Baseline{Family: f, Cells: map[string]Outcome{}}
	hits, withMargin := 0, 0
	var sum [Repeats]float64
	complete := 0
	for _, c := range cells {
		mine := 0
		for _, o := range c.Repeats[:choosing] {
			if o.Hit {
				mine++
			}
		}
		hits += mine
		if mine != 0 && mine != choosing {
			b.Unstable = append(b.Unstable, c.ID)
			continue
		}
		b.Stable = append(b.Stable, c.ID)
		b.Cells[c.ID] = c.Repeats[choosing]
		if c.Repeats[choosing].HasMargin {
			withMargin++
		}
		all := true
		for _, o := range c.Repeats {
			all = all && o.HasMargin
		}
		if all {
			complete++
			for i, o := range c.Repeats {
				sum[i] += o.Margin
			}
		}
	}
	b.Recall = float64(hits) / float64(choosing*len(cells))
	b.Margins = complete > 0 && float64(withMargin) >= 0.95*float64(len(b.Stable))
	if b.Margins {
		for i := range sum {
			for j := range i {
				b.AA = math.Max(b.AA, math.Abs(sum[i]-sum[j])/float64(complete))
			}
		}
	}
	return b
}
