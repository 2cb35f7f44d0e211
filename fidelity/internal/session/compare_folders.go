package session

import (
	"fmt"
	"io"
	"slices"

	"github.com/assay-suite/assay/fidelity/internal/recall"
	"github.com/assay-suite/assay/internal/gate"
	"github.com/assay-suite/assay/internal/report"
	"github.com/assay-suite/assay/internal/suite"
)

// Folders compares two run folders of `live` or `bless`. Nothing is sent. Cells pair only where both sent the same
// prompt; a folder of a blessing has repeats, and its second one is the A/A arm.
type Folders struct {
	Before, Now string
	Dir         string                   // run folder of the comparison; empty: nothing is written
	Shown       func(path string) string // how the user reads a path; nil: as it is
	Out         io.Writer
	Style       report.Style
	Result      func(suite.Result) error // ledger; nil: none
}

// Run reads both folders and decides. It fails with ErrOtherRun on folders that have nothing in common.
func (f Folders) Run() (Compared, error) {
	if f.Shown == nil {
		f.Shown = func(p string) string { return p }
	}
	out := Compared{Arms: map[string]map[string]recall.Observation{}}
	was, err := readArm(f.Before)
	if err != nil {
		return out, err
	}
	is, err := readArm(f.Now)
	if err != nil {
		return out, err
	}
	order, b, err := f.common(was, is, &out)
	if err != nil {
		return out, err
	}
	out.Differences = differences(was.past.Settings, is.past.Settings)
	margins := haveMargins(out.Arms[ArmBefore]) && haveMargins(out.Arms[ArmNow])
	if again := was.second(order, out.Arms[ArmBefore]); again != nil {
		out.Arms[ArmAgain] = again
		err = out.decide(order, margins, b)
	} else {
		// Without repeats the first run stands for itself: the A/A arm then says nothing, and is not shown.
		out.Notes = append(out.Notes, "no A/A arm: the first folder holds one run, so that the server's own noise is unknown")
		out.Arms[ArmAgain] = out.Arms[ArmBefore]
		err = out.decide(order, margins, b)
		delete(out.Arms, ArmAgain)
	}
	if err != nil {
		return out, err
	}
	out.Report = report.Run{
		Title: fmt.Sprintf("compare  before %s · now %s", f.Shown(f.Before), f.Shown(f.Now)),
		Identity: []report.Fact{
			{Label: "before", Text: f.Shown(f.Before) + ", model " + was.past.Settings.Model},
			{Label: "now", Text: f.Shown(f.Now) + ", model " + is.past.Settings.Model},
		},
		Plan: []string{fmt.Sprintf("%d gated cells that both folders hold; nothing is sent", len(out.Arms[ArmNow]))},
	}
	if err := out.conclude(); err != nil {
		return out, err
	}
	out.fill(func(s string) string { return s })
	if f.Dir != "" {
		out.Report.Report = f.Shown(f.Dir) + "/report.html"
		if err := report.WriteAll(f.Dir, out.Report, report.Redact("")); err != nil {
			return out, err
		}
	}
	if err := report.WriteHead(f.Out, out.Report, f.Style); err != nil {
		return out, err
	}
	if err := report.WriteBody(f.Out, out.Report, f.Style); err != nil {
		return out, err
	}
	return out, out.record(f.Result)
}

// armOf is a run folder as one arm.
type armOf struct {
	past    *Past
	repeats []map[string]recall.Observation // by repeat and cell ID
}

func readArm(folder string) (armOf, error) {
	p, err := ReadPast(folder)
	if err != nil {
		return armOf{}, err
	}
	if len(p.Settings.Arms) > 0 {
		return armOf{}, fmt.Errorf("%q is the folder of a comparison, give the folder of a `live` or `bless` run: %w", folder,
			ErrOtherRun)
	}
	a := armOf{past: p}
	for _, o := range p.Answers {
		for len(a.repeats) <= max(o.Repeat, 0) {
			a.repeats = append(a.repeats, map[string]recall.Observation{})
		}
		a.repeats[max(o.Repeat, 0)][o.Cell.ID] = o.Observation
	}
	if len(a.repeats) == 0 {
		return armOf{}, fmt.Errorf("%q holds no answer: %w", folder, ErrOtherRun)
	}
	return a, nil
}

// second is the second repeat of a blessing, if it has every cell of the first.
func (a armOf) second(order []gate.Slot, first map[string]recall.Observation) map[string]recall.Observation {
	if len(a.repeats) < 2 {
		return nil
	}
	for id := range first {
		if _, ok := a.repeats[1][id]; !ok {
			return nil
		}
	}
	out := map[string]recall.Observation{}
	for id, o := range a.repeats[1] {
		o.Cell.Gate = familyIn(order, id)
		out[id] = o
	}
	return out
}

func familyIn(order []gate.Slot, id string) gate.Family {
	if i := slices.IndexFunc(order, func(s gate.Slot) bool { return s.ID == id }); i >= 0 {
		return order[i].Family
	}
	return ""
}

// common fills the arms with the gated cells that both folders hold, and returns the gate's whole order of the families
// that have any: a stage that was never asked to its end is not judged, as in the runs themselves.
func (f Folders) common(was, is armOf, out *Compared) (order []gate.Slot, b recall.Budget, err error) {
	a, c := was.past.Settings, is.past.Settings
	if b = a.Budget; recall.Profiles(a.Budget)[0] != recall.Profiles(c.Budget)[0] &&
		(c.Budget == recall.Smoke || a.Budget == recall.Full) {
		b = c.Budget // the smaller of the two
	}
	window := a.Window
	if c.Window > 0 && (window == 0 || c.Window < window) {
		window = c.Window
	}
	p, err := recall.NewPlan(b, window)
	if err != nil {
		return nil, "", err
	}
	cells := map[string]recall.Cell{}
	for _, x := range slices.Concat(p.Cells, p.Reserve) {
		cells[x.ID] = x
	}
	first, second := map[string]recall.Observation{}, map[string]recall.Observation{}
	same, alone, proven := 0, 0, 0
	held := map[gate.Family]bool{}
	for _, s := range p.Order {
		x, ok1 := was.repeats[0][s.ID]
		y, ok2 := is.repeats[0][s.ID]
		if ok1 != ok2 {
			alone++
		}
		if !ok1 || !ok2 {
			continue
		}
		x.Cell, y.Cell = cells[s.ID], cells[s.ID]
		x.Prompt, y.Prompt = was.past.prompt(x.Stored), is.past.prompt(y.Stored)
		first[s.ID], second[s.ID] = x, y
		held[s.Family] = true
		if x.PromptSHA == y.PromptSHA && x.PromptSHA != "" {
			same++
		}
		if s.Family == gate.Cache && x.Proven() && y.Proven() {
			proven++
		}
	}
	if same == 0 {
		return nil, "", fmt.Errorf("%s and %s have no prompt in common, so nothing can be paired (haystacks %q and %q): %w",
			f.Before, f.Now, a.Haystack, c.Haystack, ErrOtherRun)
	}
	order = slices.DeleteFunc(slices.Clone(p.Order), func(s gate.Slot) bool {
		return !held[s.Family] || s.Family == gate.Cache && proven == 0
	})
	if held[gate.Cache] && proven == 0 {
		out.Notes = append(out.Notes, "the cache family is left out: not both runs prove a hit")
	}
	if alone > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d gated cells are in one folder only", alone))
	}
	out.Arms[ArmBefore], out.Arms[ArmNow] = first, second
	return order, b, nil
}

func haveMargins(obs map[string]recall.Observation) bool {
	for _, o := range obs {
		if len(o.Positions) > 0 {
			return true
		}
	}
	return false
}
