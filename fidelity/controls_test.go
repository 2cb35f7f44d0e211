package fidelity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/internal/recall"
)

// The four signatures are what the table by depth in docs/sources.md gives for nano-v4, put on the standard grid; the
// others are runs that must not be called a fault.
func TestControls(t *testing.T) {
	plan := standard(t)
	far := func(c recall.Cell) bool { return c.Family == recall.Recall && c.Tokens > 256 }
	for name, row := range map[string]struct {
		now      func(int, recall.Cell) fake
		standing recall.Standing
		where    string
		words    string // of the window test
	}{
		"healthy": {healthy, recall.Held, "", ""},
		"select-random": {func(i int, c recall.Cell) fake {
			return fake{
				miss: far(c) && i%8 != 0 || c.Family == recall.Window && c.Arm != recall.Repeated && c.Arm != recall.Short,
			}
		}, recall.Regressed, "length", "found when repeated, lost when alone"},
		"select-last": {func(_ int, c recall.Cell) fake {
			return fake{miss: far(c) && c.Depth < 0.75 || c.Arm == recall.Start}
		}, recall.Regressed, "distance", "start lost, tail and repeats found"},
		"first-half-lost": {func(_ int, c recall.Cell) fake {
			return fake{miss: c.Family == recall.Recall && c.Depth <= 0.5 || c.Arm == recall.Start}
		}, recall.Regressed, "distance", "start lost, tail and repeats found"},
		"compressor-overlap-dropped": {
			first(79, fake{miss: true}), recall.Regressed, "everywhere", "not even a short prompt",
		},
		"window-on-every-layer": {func(_ int, c recall.Cell) fake {
			return fake{
				miss: c.Family == recall.Recall && c.Depth < 1 && c.Tokens > 128 ||
					c.Family == recall.Window && c.Arm != recall.Tail && c.Arm != recall.Short,
			}
		}, recall.Regressed, "length", "only the last sentences are read"},

		"three-misses": {first(3, fake{miss: true}), recall.Held, "", ""},
		"evenly-weak":  {func(i int, _ recall.Cell) fake { return fake{miss: i%2 == 0} }, recall.Inconclusive, "", ""},
		"all-denials": {
			func(int, recall.Cell) fake { return fake{miss: true, class: "denial"} }, recall.Regressed, "everywhere", "",
		},
		"all-junk": {first(79, fake{miss: true, class: "junk"}), recall.Regressed, "everywhere", ""},
	} {
		t.Run(name, func(t *testing.T) {
			obs := script(plan, row.now)
			if name == "all-denials" || name == "all-junk" {
				// Without the form of an answer a total loss may be a template or a client's fault: no verdict.
				for i := range obs {
					obs[i].Formed = false
				}
				row.standing, row.where = recall.Inconclusive, ""
			}
			c, err := recall.Control(obs, plan.Lengths)
			require.NoError(t, err)
			if c.Standing != row.standing || c.Where != row.where {
				t.Errorf("%s %q (%s), want %s %q", c.Standing, c.Where, c.Text, row.standing, row.where)
			}
			if w := recall.JudgeWindow(obs).Words; row.words != "" && !strings.Contains(w, row.words) {
				t.Errorf("window in words %q, want %q", w, row.words)
			}
		})
	}
}

// Few cells decide nothing: 2 of 2 against 0 of 2 has p = 1/6 by Fisher's closed form.
func TestControlsNeedNumbers(t *testing.T) {
	plan := standard(t).Only(func(c recall.Cell) bool {
		return c.Family == recall.Recall && (c.Tokens == 128 || c.Tokens == 4096) && c.Depth < 0.5
	})
	c, err := recall.Control(script(plan, func(_ int, c recall.Cell) fake { return fake{miss: c.Tokens > 128} }),
		plan.Lengths)
	require.NoError(t, err)
	if c.Standing != recall.Inconclusive {
		t.Errorf("%s (%s) from four cells, want inconclusive", c.Standing, c.Text)
	}
}

func TestWindowCounts(t *testing.T) {
	plan := standard(t)
	w := recall.JudgeWindow(script(plan, func(_ int, c recall.Cell) fake {
		return fake{miss: c.ID == "fidelity/window/start/r-2"}
	}))
	if want := "tail 4/4 · just inside 4/4 · start 3/4 · repeated x8 4/4 · short 4/4"; w.Counts != want ||
		w.Words != "" {
		t.Errorf("got %q in words %q, want %q and none", w.Counts, w.Words, want)
	}
	w = recall.JudgeWindow(nil)
	if !strings.Contains(w.Counts, "tail unmeasured") || w.Words != "nothing was measured" {
		t.Errorf("an empty test reads %q, %q", w.Counts, w.Words)
	}
}
