package diagnosis_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assay-suite/assay/fidelity/diagnosis"
	"github.com/assay-suite/assay/internal/golden"
	"github.com/assay-suite/assay/internal/scripted"
)

var page = filepath.Join("..", "..", "docs", "diagnosis.md")

const opening = `# Diagnosis

How a run's evidence becomes a class of fault. This page is written by a test (` +
	"`go test ./fidelity/diagnosis -run TestPage -update`" + `) from the
decision table in the code and from the measured runs in goldens/fidelity/diagnosis.json and
engine.json. These are executed ` +
	`again by
` + "`ASSAY_BUDGET=full go test ./fidelity/diagnosis -run 'TestMeasured|TestEngine' -timeout 2h`" + `; with ` +
	"`-tags exhaustive`" + ` those of budget standard as well.

## How it decides

1. A channel is one way in which answers go wrong. Each is asked for its symptom, in the order below; where it is ` +
	`absent, nothing is
   concluded from that channel.
2. What is lost of lone cold prompts, and when, is explained by models, not by thresholds: a window, a cut head or ` +
	`tail, a band, a cliff,
   boundaries of chunks, a residue of the length, a slope with distance, a selection by likeness, coarse values, ` +
	`drift with what was served,
   every n-th request. Each gives the chance of the very answers, with its parameters and shares integrated out on a ` +
	`grid, and so does a
   sound server (one share everywhere, or a smooth decline). A fault must explain them 20,000 times better than any ` +
	`sound server, and a
   class stands alone where it does so 1,000 times better than the next.
3. Elsewhere the classes of a channel compete by statements: one holds when every statement under it is answered ` +
	`with yes. A statement
   without enough runs is neither yes nor no. A class with no statement against it, and its first one answered with ` +
	`yes, stays as a rival.
4. Where no class holds, those with nothing against them are "ambiguous: A or B", likeliest first; more than three ` +
	`rivals are "not narrowed
   down", in one line. Where something is against each, those with least stay.
5. What a class brings along by itself (a reused prefix that is unseen makes chats forget) is left out beside it; ` +
	`what is proven by counts
   of tokens or by content is not, so that two faults are both named.
6. A contrast is Fisher's exact test, one-sided, at 1e-4: eight runs all right beside eight all wrong have 7.8e-5 ` +
	`and are the least that
   names a cause. Classes of answers that no sound server gives are tested against luck (a random code of five ` +
	`digits is near another in
   1.1 % of cases) by the binomial law.
7. A class is what is seen from outside. No component of an engine is named: one flag is, whose flip confirms or clears.

Grades: *firm* is such odds or such a contrast, or a count of tokens, with no rival left and nothing unexplained: ` +
	`the rule was right on every kind
that it stood alone on, two or more of the two engines; its model is 1,000 times likelier than an unknown mechanism, ` +
	`which gives each arm a
share of wrong answers of its own; no other class stands beside it but from counts; and no short facts asked alone ` +
	`fail that the class spares
(95 % lower bound above 2 %). *Likely* lacks some of that, or has rivals or an unsettled statement; *weak* fits no ` +
	`class in full. Probes without a measured answer are listed as unmeasured, and a run without short and ` +
	`long answers is
unmeasured as a whole. Wrong answers that are no sound server's and fit no class are "unexplained losses".

## The decision table

`

func measured(t *testing.T) map[string]map[string]*count {
	t.Helper()
	g, err := golden.Read(family)
	require.NoError(t, err)
	return tally(g.Cases)
}

func cell(c *count) string {
	if c == nil {
		return "not run"
	}
	return fmt.Sprintf("%d / %d", c.first, c.runs)
}

func called(c *count) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.called)) {
		out = append(out, fmt.Sprintf("%s %d", name, c.called[name]))
	}
	return strings.Join(out, ", ")
}

func render(t *testing.T) string {
	t.Helper()
	all := measured(t)
	var b strings.Builder
	b.WriteString(opening + diagnosis.Markdown())
	b.WriteString("## What each budget shows\n\nRuns in which the right class stood first, of runs measured, against " +
		"the scripted engine's 44 kinds with parameters drawn per seed. Standard and full ran with ASSAY_DISRUPT=1, smoke " +
		"without.\n\n| id | kind | class | smoke | standard | full |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, k := range scripted.Kinds() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", k.ID, k.Slug, k.Class, cell(all["smoke"][k.Slug]),
			cell(all["standard"][k.Slug]), cell(all["full"][k.Slug]))
	}
	for _, budget := range []string{"smoke", "standard", "full"} {
		fmt.Fprintf(&b, "\n## Confusion, budget %s\n\n| served | runs | detected | first | first two | called first |\n| "+
			"--- | --- | --- | --- | --- | --- |\n", budget)
		runs, detected, first, two := 0, 0, 0, 0
		for _, k := range scripted.Kinds() {
			c := all[budget][k.Slug]
			if c == nil {
				continue
			}
			runs, detected, first, two = runs+c.runs, detected+c.detected, first+c.first, two+c.two
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", k.Slug, c.runs, c.detected, c.first, c.two, called(c))
		}
		fmt.Fprintf(&b, "| all kinds | %d | %d | %d | %d | |\n", runs, detected, first, two)
		b.WriteString(controlsAndPairs(all[budget]))
	}
	b.WriteString("\nThe judge was last changed on the seeds of budgets smoke and standard. benign-noise and " +
		"thinking-budget are no " +
		"faults: there \"detected\" and \"first\" mean called clean, the latter with its note.\n")
	b.WriteString(engineSection(t))
	return b.String()
}

func controlsAndPairs(m map[string]*count) string {
	var b, p strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m)) {
		c := m[name]
		switch {
		case strings.HasPrefix(name, "control."):
			fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", strings.TrimPrefix(name, "control."), c.runs, c.detected, called(c))
		case strings.Contains(name, ".and."):
			fmt.Fprintf(&p, "| %s | %d | %d | %d |\n", strings.ReplaceAll(name, ".and.", " and "), c.runs, c.detected, c.both)
		}
	}
	out := ""
	if b.Len() > 0 {
		out += "\n| control | runs | clean | called |\n| --- | --- | --- | --- |\n" + b.String()
	}
	if p.Len() > 0 {
		out += "\n| two faults | runs | not clean | both named, or ambiguous with both |\n| --- | --- | --- | --- |\n" +
			p.String()
	}
	return out
}

// docs/diagnosis.md MUST be what the table and the goldens say.
func TestPage(t *testing.T) {
	golden.Page(t, page, render(t))
}
