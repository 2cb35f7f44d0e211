package diagnosis_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/internal/engine"
	"github.com/assay-suite/assay/internal/golden"
)

// scored is one half's bugs, its sound servers, and those of them whose recall declines with length.
type scored struct{ bugs, sound, declining score }

// halves are the scores of a half, by kind and together.
func halves(t *testing.T, h engine.Half) (by map[string]*score, all scored) {
	t.Helper()
	g, err := golden.Read(engineFamily)
	require.NoError(t, err)
	declines := map[string]bool{}
	for _, x := range engine.SoundServers(h) {
		declines[x.Slug] = x.Declines > 0
	}
	by = map[string]*score{}
	for name, c := range scores(g.Cases) {
		slug, isSound := strings.CutPrefix(name, "sound.")
		if engine.HalfOf(slug) != h {
			continue
		}
		by[name] = c
		switch {
		case !isSound:
			all.bugs.plus(*c)
		case declines[slug]:
			all.declining.plus(*c)
		default:
			all.sound.plus(*c)
		}
	}
	return by, all
}

func percent(n, of int) string {
	return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(max(1, of)))
}

const engineOpening = `
## The engine model, budget standard

Bugs in the mechanisms of a serving engine (internal/engine), with parameters as engines ship them, whose authors knew
nothing of this judge. It was tuned on one half of the kinds and looked at the other half once: 83 % detected, 37 %
first, 42 % among the first two, 27 % firm and wrong, no false alarm, code 0 for 70 % of the sound servers. After that
look both halves served for tuning; the numbers here are those of the judge as it is, on kinds that its authors have
seen.

A class is right for a bug if its sentence is true of the bug (truth_test.go). For 26 kinds what the judge's author had
counted as right beyond that was taken back, such as four classes for any mix-up in a batch; for 12 whose classes said
something else than the bug does (a question cut off as "head-cut"), the class that is true stands in their place. The
judge that had 64 % first by the old reading, both halves together, has 63 % by this one.

With each kind left out of what proves a rule, 54 of the 144 detected runs are firm (38 %), and none of them wrongly;
that holds the choice of rules against kinds that they have not seen, not their statements, which were written with
both halves in sight.

The fresh set has 50 bugs and 17 sound servers by an author who had read nothing of this judge but the names of its
classes, and who said beforehand which of them are right. It was run once, on a judge committed before it existed, with
one seed each: 70 % detected, 34 % right first, 40 % among the first two, 22 % firm and 4 % firm and wrong, no false
alarm, code 0 for every sound server that does not decline. Of the 15 that were missed 14 ended in code 0: they spoil
streams, tool calls, stop strings, aborted requests or non-greedy sampling and few or no ordinary answers.

Sound servers whose recall declines with length end in code 3, as they should, and are counted apart.

| half | bugs, runs | detected (code 1) | right first | among first two | firm | firm and wrong | sound, runs ` +
	`| code 0 | code 1 | declining, runs | code 0 | code 1 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`

// engineSection is what the judge makes of the engine model.
func engineSection(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(engineOpening)
	for _, h := range []engine.Half{engine.Tuning, engine.HeldOut, engine.Fresh} {
		_, all := halves(t, h)
		c := all.bugs
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s | %d | %s | %d | %d | %d | %d |\n", h, c.runs,
			percent(c.detected, c.runs), percent(c.first, c.runs), percent(c.two, c.runs), percent(c.firm, c.runs),
			percent(c.firmWrong, c.runs), all.sound.runs, percent(all.sound.clean, all.sound.runs), all.sound.detected,
			all.declining.runs, all.declining.clean, all.declining.detected)
	}
	for _, h := range []engine.Half{engine.Tuning, engine.HeldOut, engine.Fresh} {
		by, _ := halves(t, h)
		fmt.Fprintf(&b, "\n### Kinds: %s\n\n| served | runs | detected | first | first two | right | called |\n"+
			"| --- | --- | --- | --- | --- | --- | --- |\n", h)
		for _, name := range slices.Sorted(maps.Keys(by)) {
			c := by[name]
			bug, _ := engine.Lookup(name)
			right := strings.Join(rightFor(bug), " or ")
			if strings.HasPrefix(name, "sound.") {
				right = "no fault"
			}
			var said []string
			for _, k := range slices.Sorted(maps.Keys(c.called)) {
				said = append(said, fmt.Sprintf("%s %d", k, c.called[k]))
			}
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s | %s |\n", name, c.runs, c.detected, c.first, c.two, right,
				strings.Join(said, ", "))
		}
	}
	return b.String()
}

// Of both halves no sound server MUST be called a fault, nine of ten that do not decline MUST end in code 0, and what
// was reached MUST stay: 91 % detected, 68 % named first, 75 % among the first two, at most 1 % firm and wrong.
func TestEngineBars(t *testing.T) {
	var all scored
	for _, h := range []engine.Half{engine.Tuning, engine.HeldOut} {
		_, x := halves(t, h)
		all.bugs.plus(x.bugs)
		all.sound.plus(x.sound)
		all.declining.plus(x.declining)
	}
	c, s := all.bugs, all.sound
	assert.Zero(t, s.detected+all.declining.detected, "false alarms")
	assert.GreaterOrEqual(t, 100*s.clean, 90*s.runs)
	assert.GreaterOrEqual(t, 100*c.detected, 91*c.runs)
	assert.GreaterOrEqual(t, 100*c.first, 68*c.runs)
	assert.GreaterOrEqual(t, 100*c.two, 75*c.runs)
	assert.LessOrEqual(t, 100*c.firmWrong, c.runs)
	assert.GreaterOrEqual(t, 100*c.firm, 40*c.detected)
}
