package fidelity_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity"
)

// The four signatures are what the table by depth in docs/sources.md gives for nano-v4, put on the standard grid; the
// others are runs that must not be called a fault.
func TestControls(t *testing.T) {
	plan := standard(t)
	far := func(c fidelity.Cell) bool { return c.Family == fidelity.Recall && c.Tokens > 256 }
	for name, row := range map[string]struct {
		now      func(int, fidelity.Cell) fake
		standing fidelity.Standing
		where    string
		words    string // of the window test
	}{
		"healthy": {healthy, fidelity.Held, "", ""},
		"select-random": {func(i int, c fidelity.Cell) fake {
			return fake{
				miss: far(c) && i%8 != 0 || c.Family == fidelity.Window && c.Arm != fidelity.Repeated && c.Arm != fidelity.Short,
			}
		}, fidelity.Regressed, "length", "found when repeated, lost when alone"},
		"select-last": {func(_ int, c fidelity.Cell) fake {
			return fake{miss: far(c) && c.Depth < 0.75 || c.Arm == fidelity.Start}
		}, fidelity.Regressed, "distance", "start lost, tail and repeats found"},
		"first-half-lost": {func(_ int, c fidelity.Cell) fake {
			return fake{miss: c.Family == fidelity.Recall && c.Depth <= 0.5 || c.Arm == fidelity.Start}
		}, fidelity.Regressed, "distance", "start lost, tail and repeats found"},
		"compressor-overlap-dropped": {
			first(79, fake{miss: true}), fidelity.Regressed, "everywhere", "not even a short prompt",
		},
		"window-on-every-layer": {func(_ int, c fidelity.Cell) fake {
			return fake{
				miss: c.Family == fidelity.Recall && c.Depth < 1 && c.Tokens > 128 ||
					c.Family == fidelity.Window && c.Arm != fidelity.Tail && c.Arm != fidelity.Short,
			}
		}, fidelity.Regressed, "length", "only the last sentences are read"},

		"three-misses": {first(3, fake{miss: true}), fidelity.Held, "", ""},
		"evenly-weak":  {func(i int, _ fidelity.Cell) fake { return fake{miss: i%2 == 0} }, fidelity.Inconclusive, "", ""},
		"all-denials": {
			func(int, fidelity.Cell) fake { return fake{miss: true, class: "denial"} }, fidelity.Regressed, "everywhere", "",
		},
		"all-junk": {first(79, fake{miss: true, class: "junk"}), fidelity.Regressed, "everywhere", ""},
	} {
		t.Run(name, func(t *testing.T) {
			obs := script(plan, row.now)
			if name == "all-denials" || name == "all-junk" {
				// Without the form of an answer a total loss may be a template or a client's fault: no verdict.
				for i := range obs {
					obs[i].Formed = false
				}
				row.standing, row.where = fidelity.Inconclusive, ""
			}
			c, err := fidelity.Control(obs, plan.Lengths)
			require.NoError(t, err)
			if c.Standing != row.standing || c.Where != row.where {
				t.Errorf("%s %q (%s), want %s %q", c.Standing, c.Where, c.Text, row.standing, row.where)
			}
			if w := fidelity.JudgeWindow(obs).Words; row.words != "" && !strings.Contains(w, row.words) {
				t.Errorf("window in words %q, want %q", w, row.words)
			}
		})
	}
}

// Few cells decide nothing: 2 of 2 against 0 of 2 has p = 1/6 by Fisher's closed form.
func TestControlsNeedNumbers(t *testing.T) {
	plan := standard(t).Only(func(c fidelity.Cell) bool {
		return c.Family == fidelity.Recall && (c.Tokens == 128 || c.Tokens == 4096) && c.Depth < 0.5
	})
	c, err := fidelity.Control(script(plan, func(_ int, c fidelity.Cell) fake { return fake{miss: c.Tokens > 128} }),
		plan.Lengths)
	require.NoError(t, err)
	if c.Standing != fidelity.Inconclusive {
		t.Errorf("%s (%s) from four cells, want inconclusive", c.Standing, c.Text)
	}
}

func TestWindowCounts(t *testing.T) {
	plan := standard(t)
	w := fidelity.JudgeWindow(script(plan, func(_ int, c fidelity.Cell) fake {
		return fake{miss: c.ID == "fidelity/window/start/r-2"}
	}))
	if want := "tail 4/4 · just inside 4/4 · start 3/4 · repeated x8 4/4 · short 4/4"; w.Counts != want ||
		w.Words != "" {
		t.Errorf("got %q in words %q, want %q and none", w.Counts, w.Words, want)
	}
	w = fidelity.JudgeWindow(nil)
	if !strings.Contains(w.Counts, "tail unmeasured") || w.Words != "nothing was measured" {
		t.Errorf("an empty test reads %q, %q", w.Counts, w.Words)
	}
}
